"""A text as a string of strict JSON.

Knows JSON's escapes; nothing of reading.  Contract: a character that no text in UTF-8 can hold becomes U+FFFD.
"""

from __future__ import annotations

from json.encoder import encode_basestring

from .notation import SURROGATE


def quoted(text: str) -> str:
    """`text` as a JSON string with its quotes."""
    return f'"{text}"' if text.isidentifier() else f'"{escaped(text)}"'


def escaped(text: str) -> str:
    """`text` as the inside of a JSON string."""
    if SURROGATE.search(text):
        text = SURROGATE.sub("\ufffd", text)
    return encode_basestring(text)[1:-1]
