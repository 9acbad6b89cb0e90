"""What a caller gave instead of text, or after it, and what to do about it.  Knows no parser."""

from __future__ import annotations

from ...errors import UsageError


def no_text(given: object) -> UsageError:
    """The error for what is no text, with what to do."""
    match given:
        case None:
            why = "there is no text: None was given; where the model wrote nothing, give an empty string"
        case bytes() | bytearray():
            why = 'bytes are no text; decode them first: data.decode("utf-8", "replace")'
        case _:
            why = f"a text is wanted, not {type(given).__name__}; give what the model wrote, or a response to extract()"
    return UsageError(why)


def too_late() -> UsageError:
    """The error for text that comes when the text has ended."""
    return UsageError("the parser is closed, and more text came; make a new Parser for every answer, and close it last")
