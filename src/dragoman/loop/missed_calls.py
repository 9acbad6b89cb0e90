"""A text that was meant as a call, and that nobody took for one.

Where nothing says which dialect a model writes, forms that prove little (bare JSON, pythonic lists, tags that are a
tool's name) count only when all about them is right: an unknown name or a lost bracket makes them text.  In a loop such
a text would be taken for the answer, so what an answer ends in is read once more, as if somebody had asked for these
forms by name.  Knows dialects and tools; runs nothing.
Contract: gives issues, never calls: what is found here is asked for again, not run; text that a line before it presents
as an example, and text inside quotes, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import islice

from ..dialects.engine.parse import parse
from ..dialects.judge import hints
from ..dialects.rows.table import ALL
from ..dialects.spec import Strength
from ..types import Issue, IssueKind, Stop, Tool, ToolCall
from .call_errors import is_meant

FORMS = tuple(row for row in ALL if row.strength is not Strength.STRONG)
STARTS = re.compile(
    r"^[ \t]*(?=\{|@tool\s|```|\[|<\w|>>>|\**Action\**:|[\w.]+\[ARGS\]|[\w.-]+\n[ \t]*[{<])", re.MULTILINE
)
LIKE_A_CALL = re.compile(r"^\s*@tool\s|[{,\s][\"'“]?(?:action|tool|tool_name|name|function)[\"'”]?\s*:")
SURE = re.compile(r"[\"'“]?\b(?:action|tool|tool_name)[\"'”]?\s*:", re.IGNORECASE)
NAMED = re.compile(
    r"^[ \t]*(?:@tool\s+|\[|>>>|\**Action\**:\**\s*|<)?(?P<name>\w[\w.:/-]*)(?=\(|\[ARGS\]|>|[ \t]*\n|\s*\{|\Z)",
    re.MULTILINE,
)
"""The name that a call of one of the forms begins with, on a line of its own."""
IDENTIFIER = re.compile(r"\w+(?:[_.\-/]\w+)*")
ALIKE = 0.8
"""How much like a tool's name a word must be (difflib's ratio); `calculate2` is, a word of prose hardly ever."""
BEGUN = 40
"""Characters of a text that has hardly begun."""
BEGINNINGS = frozenset("<[{`~|｜")
"""Signs with which calls begin and sentences do not."""
HEAD = 300
"""Characters from the start of such a text in which its first name stands."""
FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)

CUT_OFF = Issue(
    kind=IssueKind.TRUNCATED,
    message="the answer was cut off in what looks like a call",
    correction="Your answer was cut off. Nothing was run. Send one call, whole and shorter.",
)
UNSURE = Issue(
    kind=IssueKind.NOT_ALLOWED,
    message="what looks like a call was not taken for one: it does not stand as one whole answer",
    correction="What looks like a call in your answer was not taken for one. Nothing was run. "
    "Send one call, exactly in the form you were shown, and nothing else in the same answer.",
)


def misread(text: str, tools: Sequence[Tool], *, cut: bool = False) -> tuple[Issue, ...]:
    """Issues of the calls that `text` seems to end in; () where it is an answer.  `cut`: at a limit."""
    start = _start(text) if tools else None
    names = [tool.name for tool in tools]
    if cut and tools and _hardly_begun(text, names):
        return (CUT_OFF,)
    inside = "" if start is None else unfenced(text[start:])
    named = nearly(IDENTIFIER.findall(inside[:HEAD]), names)
    if named or LIKE_A_CALL.search(inside):
        return _issues(inside, tools, names, named=named, cut=cut)
    return _stray(inside, tools)


def _issues(inside: str, tools: Sequence[Tool], names: Sequence[str], *, named: bool, cut: bool) -> tuple[Issue, ...]:
    parsed = parse(inside, tools=tools, dialects=FORMS, finish_reason=Stop.LENGTH if cut else None)
    broken = tuple(issue for issue in parsed.issues if is_meant(issue))
    if broken:
        return broken
    if cut and _is_sure(inside, names, named=named):
        return (CUT_OFF,)
    return (UNSURE,) if parsed.calls and not parsed.text.strip() else _unknown(inside, names) or _stray(inside, tools)


def _hardly_begun(text: str, names: Sequence[str]) -> bool:
    """Can a text that was cut be nothing but the first characters of a call?"""
    if not text or len(text) > BEGUN:
        return False
    return text[0] in BEGINNINGS or any(each.startswith(text) for each in (*names, *_openers()))


@cache
def _openers() -> tuple[str, ...]:
    return tuple(opener.lstrip() for row in ALL for span in (row.section, row.call, row.tool) for opener in span.open)


def _is_sure(inside: str, names: Sequence[str], *, named: bool) -> bool:
    """Can a text that was cut have been nothing but a call?"""
    if SURE.search(inside) or (named and LIKE_A_CALL.search(inside)):
        return True
    return nearly(_first_names(inside), names)


def unfenced(text: str) -> str:
    """The text inside the fence, where `text` is one."""
    fenced = FENCED.fullmatch(text)
    return fenced["inside"] if fenced else text


def nearly(words: Iterable[str], names: Sequence[str]) -> bool:
    """Is one of the words a tool's name, or nearly one?"""
    folded = [_fold(name) for name in names]
    return any(
        any(name in word for name in folded if len(name) > 3) or bool(get_close_matches(word, folded, 1, ALIKE))
        for word in map(_fold, words)
    )


def _start(text: str) -> int | None:
    """The start of the part that may be nothing but calls."""
    found = STARTS.search(text)
    if found is None:
        return None
    before = text[: found.start()].rstrip().rsplit("\n", 1)[-1]
    return None if hints.before(before, inline=False) else found.start()


def _unknown(inside: str, names: Sequence[str]) -> tuple[Issue, ...]:
    """The issue for a call of a tool that is not there but nearly, in a form whose tag or head is the name."""
    exact = {_fold(name) for name in names}
    for name in _first_names(inside):
        if _fold(name) not in exact and nearly([name], names):
            return (_no_tool(name),)
    return ()


def _stray(inside: str, tools: Sequence[Tool]) -> tuple[Issue, ...]:
    """The issue for calls and nothing else, one of a tool that is not there with the arguments of one that is."""
    parsed = parse(inside, dialects=FORMS) if inside else None
    if parsed is None or parsed.text.strip():
        return ()
    known = {tool.name for tool in tools}
    strays = (call.name for call in parsed.calls if call.name not in known and any(_takes(t, call) for t in tools))
    return tuple(_no_tool(name) for name in islice(strays, 1))


def _takes(tool: Tool, call: ToolCall) -> bool:
    """Has the call arguments of this tool alone, and all that it demands?"""
    properties, given = tool.parameters.get("properties"), set(call.arguments)
    if not given or not isinstance(properties, Mapping):
        return False
    return given.issubset(properties) and given.issuperset(tool.parameters.get("required") or ())


def _no_tool(name: str) -> Issue:
    why = f"there is no tool named {name[:80]!r}"
    return Issue(kind=IssueKind.UNKNOWN_TOOL, message=why, name=name, correction=f"{why}; nothing was run")


def _first_names(inside: str) -> list[str]:
    """The names that stand where calls of one of the forms have them, where one stands at the very beginning."""
    if NAMED.match(inside) is None:
        return []
    return [found["name"] for found in NAMED.finditer(inside)]


def _fold(name: str) -> str:
    return re.sub(r"[\s._\-/:]", "", name).casefold()
