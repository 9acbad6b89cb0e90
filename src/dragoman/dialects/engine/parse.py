"""A whole text at once: what a parser makes of it, folded.

Knows the parser, what its events come to, and the texts that need none (`usual.py`); nothing of dialects or of how
they are read.
Contract: exactly `Parser.feed(text)` and `close()`, so that whoever has the whole text need not handle events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from ...late import late_call
from ..judge.declared import declared
from . import usual
from .listening import Dialects, Tools, listening, listens_for
from .parsed import Parsed, fold

if TYPE_CHECKING:
    from ..judge.provenance import ShownText
    from .parser import Parser

_parser: Callable[..., Parser] = late_call(".parser", "Parser", __name__)
"""Loaded with the first text that needs one: it is half of all that reads dialects."""


def parse(
    text: str,
    *,
    tools: Tools = None,
    dialects: Dialects = "auto",
    prefix: str = "",
    finish_reason: str | None = None,
    shown: Iterable[str | ShownText] = (),
    strict: bool = False,
    doubt: str = "ask",
    prompted_dialect: str = "",
    confirmed: Iterable[str] = (),
    nonce: str = "",
) -> Parsed:
    """Parse a whole text: exactly `Parser.feed(text)` and `close()`, folded.

    text              what the model wrote
    tools             Tools or any provider's definitions; None: not known, any name counts; []: nothing may run
    dialects          "auto" (all), a name, a row, or several of them (`dragoman list dialects`)
    prefix            what the chat template had already opened when the model began (`<think>\\n`)
    finish_reason     why the model stopped, if known; "length" refuses a call that was cut
    shown             texts the model was shown (results, documents): a copy of a call in them is not a call
    strict            refuse what needs mending; in the JSON protocol, all but one action or one final
    doubt             what becomes of a call that was perhaps not meant: "ask" (it is in `doubtful`), "run", "text"
    prompted_dialect  the name of the row the prompt asked for; it counts as one named, among all that listen
    confirmed         ways of writing that this model has confirmed (`habit` in the evidence of a report)
    nonce             the code that the prompt asked for (`tool_prompt(…, nonce=…)`): calls without it stay text

    Raises UsageError for what is no text and for names there are not, never for what a model wrote.
    """
    known, clear = declared(tools), usual.NOWHERE
    if nonce:
        dialects = listens_for(nonce, dialects, prompted_dialect)
    if not (prefix or shown or confirmed) and isinstance(text, str):
        heard = listening(known, dialects, prompted_dialect, (), (), strict=strict, doubt=doubt, native=False)
        read = usual.read(text, heard, finish_reason or "")
        if isinstance(read, Parsed):
            return read
        clear = read
    make = partial(
        _parser, tools=known, dialects=dialects, prefix=prefix, finish_reason=finish_reason, shown=shown, strict=strict,
        doubt=doubt, prompted_dialect=prompted_dialect, confirmed=confirmed,
    )  # fmt: skip
    parser = make()
    events = parser.whole(text, clear[:2])
    if clear.marks and parser.looked > usual.FEW:  # with those that were passed there may be too many
        events = make().whole(text)
    return fold(events, text)
