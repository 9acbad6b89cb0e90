"""What a format of corpora is: a record of pure functions and of what its readers demand.

Knows `ChatRow`; no format by name.  Contract: `fits` looks at keys and first values only and never raises; `read`
raises `BadRow` for a row that breaks the format's rules; `write` raises `BadRow` (`unwritable`) where the format cannot
hold a row at all, and leaves out what it cannot hold of it, which `losses.py` finds by reading back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..options import Options
from .chat_row import ChatRow

ANY = "any"
"""The dialect of formats that hold what models wrote, each in its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What a format's readers demand.

    `arguments`  "object" or "string": the form of arguments
    `parallel`   several calls of one turn: in one "list", as "consecutive" messages, or "none" at all
    `ids`        "any", "nine" (nine letters or digits, Mistral), "none" (the format has no place for ids)
    `turns`      "free", or "alternate": user and assistant by turns, the first one the user's
    `tools`      the column of tools: a "list", a JSON "string", in the system "text", or "none"
    `dialect`    the dialect of calls where they stand in text, `ANY` where each model speaks its own, "" elsewhere
    `answers`    beside the conversation: "none", a "pair" of a chosen and a rejected one, or "any"
    `train`      the key of a message that says whether it is learnt from, "" for none
    """

    arguments: Literal["object", "string"] = "string"
    parallel: Literal["list", "consecutive", "none"] = "list"
    ids: Literal["any", "nine", "none"] = "any"
    turns: Literal["free", "alternate"] = "free"
    tools: Literal["list", "string", "text", "none"] = "list"
    dialect: str = ""
    answers: Literal["none", "pair", "any"] = "none"
    train: str = ""

    def asked(self, options: Options) -> Demands:
        """The demands, with what the caller asks instead."""
        made = self
        if options.arguments:
            made = replace(made, arguments=options.arguments)
        if options.parallel:
            made = replace(made, parallel=options.parallel)
        if options.dialect and self.dialect:
            made = replace(made, dialect=options.dialect)
        return made


Fits = Callable[[Mapping[str, Any]], bool]
Read = Callable[[dict[str, Any]], ChatRow]
Write = Callable[[ChatRow, Demands], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format.

    `fits`    is a row of this shape?
    `read`    a row of it → `ChatRow`
    `write`   the other way round; None where nobody trains on it
    `sample`  one row of it, as JSON
    `source`  where the shape is documented
    """

    name: str
    fits: Fits
    read: Read
    write: Write | None = None
    demands: Demands = Demands()
    sample: str = ""
    source: str = ""
