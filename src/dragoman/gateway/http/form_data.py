"""One field of a multipart form, found and replaced while the form is on its way.

Knows RFC 7578's boundaries and parts; nothing of what a form means.  Contract: nothing is read twice but the piece in
which a delimiter may have begun; whatever stands in the form beside the field passes byte for byte.
"""

from __future__ import annotations

import re
from email.message import Message

NAME = re.compile(rb'content-disposition:[^\r\n]*[;\s]name="?([^";\r\n]*)"?', re.IGNORECASE)
HEAD_END = b"\r\n\r\n"


def boundary_of(content_type: str) -> str:
    """The boundary a content type names; "" for what is no form."""
    message = Message()
    message["content-type"] = content_type
    found = message.get_boundary("") if message.get_content_type() == "multipart/form-data" else ""
    return str(found)


class FieldFinder:
    """Looks for the field `name` in a form that comes in pieces; `begun` is what has come so far."""

    ended: bool
    begun: bytearray

    def __init__(self, boundary: str, name: str) -> None:
        self._delimiter, self._name = b"\r\n--" + boundary.encode("latin-1", "replace"), name.encode()
        self._first = self._delimiter[2:]
        self._part, self._looked = -1, 0
        self.begun = bytearray()
        self.span: tuple[int, int] | None = None
        self.ended = False

    def feed(self, data: bytes) -> bool:
        """More of the form; True once the field was found, or cannot come any more."""
        self.begun += data
        if self._part < 0 and len(self.begun) >= len(self._first):
            if not self.begun.startswith(self._first):
                self.ended = True
            self._part = self._looked = len(self._first)
        while self._part >= 0 and not (self.ended or self.span) and self._next():
            pass
        return self.ended or self.span is not None

    def _next(self) -> bool:
        """Go past one part, where it has come to its end."""
        at = self.begun.find(self._delimiter, self._looked)
        if at < 0:
            self._looked = max(self._part, len(self.begun) - len(self._delimiter))
            return False
        head = self.begun.find(HEAD_END, self._part, at + len(HEAD_END))
        found = NAME.search(self.begun, self._part, head) if head >= 0 else None
        if found is not None and found[1] == self._name:
            self.span = head + len(HEAD_END), at
            return True
        self._part = self._looked = at + len(self._delimiter)
        if self.begun[self._part : self._part + 2] == b"--":
            self.ended = True
        return True

    @property
    def value(self) -> str:
        """What the field says; "" where it was not found."""
        return self.begun[slice(*self.span)].decode("utf-8", "replace") if self.span else ""

    def replaced(self, value: str) -> bytes:
        """What has come so far, with `value` in the field."""
        if self.span is None:
            return bytes(self.begun)
        start, end = self.span
        return bytes(self.begun[:start]) + value.encode() + bytes(self.begun[end:])
