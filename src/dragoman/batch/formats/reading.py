"""The bytes of a row → the row, whatever its format.

Knows the table of formats; nothing of files or verdicts.  Contract: `BadRow` is all that is ever raised.
"""

from __future__ import annotations

import re
from typing import Any

from ..options import Options
from ..row_json import BadRow, is_json, loads
from .chat_row import ChatRow
from .columns import with_known_columns
from .spec import Format
from .table import FORMATS, format_of
from .toolbox import declared_elsewhere

_MEMBER = re.compile(rb'"[^"]*"\s*:')
"""How a line begins that is one member of an object."""


def parsed(original: bytes, options: Options) -> dict[str, Any]:
    """The object that the bytes of a row hold, its columns renamed.  Raises `BadRow`."""
    if len(original) > options.max_row:
        raise BadRow("too_long", f"it has {len(original)} bytes, --max-row is {options.max_row}")
    try:
        obj = loads(original)
    except BadRow as why:
        raise BadRow(why.code, f"{why}{_hint(original)}", why.path) if why.code == "not_json" else why from None
    if not isinstance(obj, dict):
        raise BadRow("not_an_object", f"a row must be a JSON object, not {type(obj).__name__}", "$")
    if options.columns:
        names = {old: new for new, old in options.columns}
        taken = next((new for old, new in names.items() if old in obj and new in obj and new not in names), "")
        if taken:  # one of the two would be lost
            raise BadRow("unreadable", f"a column {taken} is there already; give that one another name too", f"$.{taken}")
        obj = {names.get(key, key): value for key, value in obj.items()}
    return obj


def _hint(original: bytes) -> str:
    """What is wrong with the whole file where a line is no JSON in one of the ways in which files are set out."""
    line = original.strip()
    if line[:1] in (b"{", b"[") and len(line) > 1 and line.endswith(b",") and is_json(line[:-1]):
        return "; but for the comma at its end it is: put the rows in [ ], or take the commas away"
    if line in (b"{", b"}", b"},", b"[", b"]") or _MEMBER.match(line):
        return "; a row has one line to itself: write each on one (jq -c . FILE)"
    return ""


def read(obj: dict[str, Any], options: Options) -> tuple[Format, ChatRow]:
    """The format of a row, and what it holds.  Raises `BadRow`."""
    obj = with_known_columns(obj)
    form = FORMATS[options.format] if options.format else format_of(obj)
    try:
        row = form.read(obj)
        if row.tools is None:
            row.tools = declared_elsewhere(obj, row.messages)
        return form, row
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        why = f"it looks like {form.name} and is not: {type(error).__name__} {error}"
        raise BadRow("unreadable", why, "$") from error
