"""Pieces of a stream that differ from the one before in one string: they go around decoding, the turn and encoding.

Where one read brought one text, and that text alone went out in one piece, twice with the same bytes around it on both
wires, the next such piece can be written at once.  Knows bytes, effects and events; nothing of an API: what stands
around a text is seen, not known.

Contract: with or without it, the client gets the same bytes.  A text goes this way only if the turn says that it passes
(`Read.passes`): nothing in it may begin a call, and nothing waits.  What went this way is told to the turn as one
piece before anything else, so that whatever looks at the answer sees all of it; what comes of that is not sent again.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from ..effects import Machine, Read
from ..events import TextDelta
from ..jsontext import quoted

MOST = 16 * 1024
"""Characters after which the turn is told what went around it: so much is held at most."""
INSIDE = re.compile(rb'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+')

Around: TypeAlias = tuple[bytes, bytes]
"""What stands before and behind the inside of a text's string."""


class Shortcut:
    """The shortcut of one stream.  `note` what goes out, `observe` before each effect, `read` in place of `Read`."""

    def __init__(self) -> None:
        self._data = b""  # what the last read brought
        self._texts: list[str] = []  # what came of it
        self._other = False  # did anything else?
        self._around: tuple[Around, Around] | None = None
        self._open = False
        self._told: list[str] = []
        self._size = 0
        self._again = ""  # the text that comes again
        self._next: bytes | Exception | None = None  # what was read meanwhile

    def note(self, event: Any) -> bool:
        """An event goes out.  True: what it says went out before."""
        text = event.text if type(event) is TextDelta and not event.doubt else ""
        if self._again and text == self._again:
            return True
        if text:
            self._texts.append(text)
        else:
            self._other = True
        return False

    def observe(self, pieces: list[bytes]) -> None:
        """All that came of the last read has gone out, in these pieces."""
        if self._again and not (self._texts or self._other or pieces):
            self._again = ""
            return
        around = None
        if len(self._texts) == 1 == len(pieces) and not self._other:
            wrote, sent = _around(self._data, self._texts[0]), _around(pieces[0], self._texts[0])
            around = (wrote, sent) if wrote is not None and sent is not None else None
        self._open = around is not None and around == self._around
        self._around, self._again, self._other = around, "", False
        self._texts.clear()

    def read(self, effect: Read) -> Machine[bytes]:
        """The reply to `effect`; yields what went around the turn meanwhile."""
        if self._next is not None:
            found, self._next = self._next, None
            if isinstance(found, Exception):
                raise found
            self._data = found
            return found
        while self._open and effect.passes is not None and effect.within is None and self._size < MOST:
            try:
                data: bytes = yield effect
            except Exception as error:
                if not self._told:
                    raise
                self._next = error
                return self._catch_up()
            texts = self._plain(data)
            if not texts or not all(map(effect.passes, texts)):
                if not self._told:
                    self._data = data
                    return data
                self._next = data
                return self._catch_up()
            yield self._written(texts)
        if self._told:
            return self._catch_up()
        self._data = yield effect
        return self._data

    def _plain(self, data: bytes) -> list[str]:
        """The texts of pieces that are like the last one; none where the data is anything else."""
        assert self._around is not None
        before, behind = self._around[0]
        if not (data.startswith(before) and data.endswith(behind)):
            return []
        insides = data[len(before) : len(data) - len(behind)].split(behind + before)
        texts = [_text(inside) for inside in insides]
        return texts if all(texts) else []

    def _written(self, texts: list[str]) -> bytes:
        assert self._around is not None
        before, behind = self._around[1]
        self._told += texts
        self._size += sum(map(len, texts))
        return b"".join(before + quoted(text)[1:-1].encode() + behind for text in texts)

    def _catch_up(self) -> bytes:
        """A piece of the provider's that says all that went around the turn."""
        assert self._around is not None
        before, behind = self._around[0]
        self._again, self._size = "".join(self._told), 0
        self._told.clear()
        return before + quoted(self._again)[1:-1].encode() + behind


def _around(data: bytes, text: str) -> Around | None:
    """What stands around the inside of the only string in `data` that says `text`."""
    for spelt in (quoted(text), json.dumps(text, ensure_ascii=False)):
        before, *after = data.split(spelt.encode("utf-8", "surrogatepass"))
        if len(after) == 1:
            return before + b'"', b'"' + after[0]
    return None


def _text(inside: bytes) -> str:
    """The text of a string's inside; "" where it is none."""
    if INSIDE.fullmatch(inside) is None:
        return ""
    try:
        text: str = json.loads(b'"' + inside + b'"') if b"\\" in inside else inside.decode()
        text.encode()
    except ValueError:
        return ""
    return text
