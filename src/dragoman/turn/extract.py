"""The tool calls of a provider's response, whatever shape they have and wherever they stand.

One answer to the question "what does the model want to run?": native calls if there are any, else what the text holds,
judged by the one parser.  This module does not know how a response came, nor what is done with the calls.

Contract: always a list, never None; ids are never empty and unique in it; one bad call never costs a good one (it is an
`Issue` of `Calls.issues`); when there were calls and none is usable, `ExtractError` carries the issues.
Sources: seed documents 000 and 001; seeds.md A2, and section (c) for what the systems behind them got wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

from ..codecs.shared.answer_shapes import api_of, failure_in
from ..codecs.shared.arguments import as_text, read_arguments
from ..codecs.shared.errors import raise_error
from ..dialects.engine.parse import parse
from ..dialects.engine.parsed import Parsed
from ..dialects.judge.judge import Judge
from ..dialects.rows.nonce import listens_for
from ..dialects.rows.table import ALL
from ..dialects.spec import Dialect, Strength
from ..errors import ExtractError, UsageError
from ..schema.definitions import tools as as_tools
from ..types import Issue, IssueKind, Report, Response, Tier, Tool, ToolCall
from .answer_places import CONTENTS, FINISHES, blocks_of, is_piece, message_in
from .native_calls import judged
from .reasoned_calls import OPENER, read_here

Tools = Iterable[Tool | Mapping[str, Any]]
Dialects = str | Dialect | Sequence[str | Dialect]

MARKED = tuple(row for row in ALL if row.strength is Strength.STRONG)
ANY = (*MARKED, *(row for row in ALL if row.strength is Strength.WEAK))
WRAPPERS = ("function", "functionCall", "function_call", "toolUse")
"""Keys under which some wires put the call itself: OpenAI and Ollama, Gemini, OpenAI's first form, Bedrock."""
NAMES = ("name", "tool_name")
ARGUMENTS = ("arguments", "input", "args", "parameters")
IDS = ("call_id", "id", "toolUseId", "tool_call_id")
REASONING = ("reasoning_content", "reasoning", "thinking")
CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call"})
TEXT_BLOCKS = ("text", "output_text", "summary_text", "reasoning_text")
FATAL = frozenset({
    IssueKind.MALFORMED,
    IssueKind.INVALID_ARGUMENTS,
    IssueKind.UNKNOWN_TOOL,
    IssueKind.TRUNCATED,
    IssueKind.DUPLICATE_KEYS,
    IssueKind.NOT_ALLOWED,
})  # fmt: skip
"""Issues about a call that was meant and cannot be run; the others (a quoted or rehearsed call) are no failure."""
TAKEN = Report(tier=Tier.NATIVE)
RAW_JSON = tuple(
    re.compile(rf"[\"'](?:{'|'.join(keys)})[\"']\s*:")
    for keys in (("name", "tool", "tool_name", "function"), ("arguments", "args", "parameters", "params", "input"))
)
"""Both must be found in a text before JSON without any markup is looked at as a call (seed 001, third tier)."""
COMMAND = re.compile(r"^[ \t]*@tool[ \t]", re.MULTILINE)
SAID = frozenset({"tool_calls", "function_call", "role", "choices", *CONTENTS, *REASONING, *FINISHES})
"""Keys by which a mapping is an answer: it says something, be it nothing."""
NO_RESPONSE = (
    "a {given} is no response; pass a mapping such as {{'text': …}}, a body parsed from JSON (of an SDK's object: its "
    "model_dump()), or a Response"
)
NO_ANSWER = (
    "there is no answer in a mapping of {keys}; pass the whole body of an API (dragoman list codecs), or what the "
    "model wrote as {{'text': …}}"
)
A_PIECE = "this is one piece of a stream; read them all with decode_stream(api, chunks), or their text with Parser"
CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "max_output_tokens"})


class Calls(list[ToolCall]):
    """The calls to run, in order; `issues` says what else was found and why it is not among them."""

    def __init__(self, calls: Iterable[ToolCall] = (), issues: Iterable[Issue] = ()) -> None:
        super().__init__(calls)
        self.issues: tuple[Issue, ...] = tuple(issues)


def extract(
    response: Mapping[str, Any] | Response,
    capabilities: Mapping[str, Any] | None = None,
    *,
    tools: Tools | None = None,
    dialects: Dialects = "auto",
    ids: Callable[[int], str] | None = None,
    nonce: str = "",
) -> Calls:
    """The tool calls of `response`.

    response      `{"text": …, "tool_calls": […]}`, a whole body or message of any API that has a codec, or a `Response`
    capabilities  what the provider can do: `self_contained_tools` (it runs its tools itself: nothing is taken),
                  `native_tool_calls` (only a hint: native calls count wherever they are, and text is read wherever
                  there are none), `strict` (the text must keep to its protocol to the letter)
    tools         those of the request; without them any name counts
    dialects      the dialects looked for in text: "auto" (all), a name, a row, or several of them
    ids           `ids(n)` makes the id of call `n` where there is none; "call_0", "call_1" … by default
    nonce         the code that the prompt asked for (`tool_prompt(…, nonce=…)`): calls in text without it do not count

    Raises `ExtractError` when there were calls and none can be run, `ProviderError` for a body that is an error, and
    `UsageError` for what is no response.
    """
    able = capabilities or {}
    if not isinstance(able, Mapping):
        raise UsageError(f"capabilities are a mapping, not {type(able).__name__}; give what the provider can do")
    if ids is not None and not callable(ids):
        raise UsageError(f"ids makes an id of a number, and {type(ids).__name__} cannot be called; give a function")
    if nonce:
        dialects = listens_for(nonce, dialects, "")
    found = _found(response)
    known = as_tools(tools)
    if able.get("self_contained_tools"):
        return Calls()
    if found.calls:
        calls, issues = _read_calls(found, known)
    else:
        parsed = _read_text(found, known, dialects, strict=bool(able.get("strict")))
        calls, issues = parsed.calls, parsed.issues
    issues = (*found.issues, *issues)
    if not calls and _fails(issues):
        raise ExtractError(issues)
    return Calls(_numbered(calls, ids or _call_id), issues)


def _fails(issues: Iterable[Issue]) -> bool:
    return any(issue.kind in FATAL for issue in issues)


def _read_text(found: _Found, known: Sequence[Tool] | None, dialects: Dialects, *, strict: bool) -> Parsed:
    """The text's reading by the first tier that finds a call, well written or not: with markup, then without."""
    parsed = Parsed(calls=(), text=found.text, reasoning="", issues=(), parts=())
    if not found.text and found.reasoning:  # a server gave the call as reasoning (`reasoned_calls.py`)
        parsed = parse(found.reasoning, tools=known, dialects=dialects, prefix=OPENER, finish_reason=found.finish)
        return replace(parsed, issues=(*parsed.issues, *map(read_here, parsed.calls)))
    tiers = _tiers(found.text, known) if dialects == "auto" else (dialects,)
    for rows in tiers if found.text else ():
        parsed = parse(found.text, tools=known, dialects=rows, finish_reason=found.finish, strict=strict)
        if parsed.calls or _fails(parsed.issues):
            break
    return parsed


def _tiers(text: str, known: Sequence[Tool] | None) -> Iterator[Dialects]:
    """Dialects with markup; then all, if the text may hold a call without: where no tools are known, its keys tell."""
    yield MARKED
    if known:
        yield "auto"
    elif known is None and (all(p.search(text) for p in RAW_JSON) or COMMAND.search(text)):
        yield ANY


# ── what a response holds ────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Found:
    """Text, reasoning, native calls as they came, and why the model stopped ("length" when it was cut)."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Any, ...] = ()
    finish: str | None = None
    issues: tuple[Issue, ...] = ()


def _found(response: Mapping[str, Any] | Response) -> _Found:
    if isinstance(response, Response):
        return _of_response(response)
    if not isinstance(response, Mapping):
        raise UsageError(NO_RESPONSE.format(given=type(response).__name__))
    raise_error(response)
    message, finish = message_in(response)
    if not api_of(response) and SAID.isdisjoint(response) and (failure := failure_in(response)):
        raise failure
    silent = SAID.isdisjoint(response) and response.get("message", "") is not None
    if message is response and response and (silent or response.get("choices") == []):
        raise UsageError(NO_ANSWER.format(keys=", ".join(map(str, list(response)[:5]))))
    if is_piece(response):
        raise UsageError(A_PIECE)
    return replace(_message(message), finish="length" if isinstance(finish, str) and finish in CUT else None)


def _of_response(response: Response) -> _Found:
    return _Found(response.text, response.reasoning, response.calls, response.stop, response.issues)


def _message(message: Any) -> _Found:
    """A message: what it says as text or in typed blocks, calls among them or under `tool_calls`."""
    blocks, fields = [*blocks_of(message)], message if isinstance(message, Mapping) else {}
    return _Found("".join(map(_block_text, blocks)), _reasoning(fields, blocks), _message_calls(fields, blocks))


def _reasoning(message: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> str:
    told = [message.get(key) for key in REASONING] + [_thought(block) for block in blocks]
    return next((text for text in told if isinstance(text, str) and text), "")


def _thought(block: Mapping[str, Any]) -> Any:
    """What a block thinks: Anthropic's, Gemini's, and an item of Responses."""
    if block.get("thought") is True:
        return block.get("text")
    if block.get("type") == "reasoning":
        return "".join(map(_block_text, blocks_of({"content": block.get("summary") or block.get("content")})))
    return block.get("thinking")


def _message_calls(message: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    listed, only = message.get("tool_calls"), message.get("function_call")
    calls = [*listed] if isinstance(listed, list | tuple) else []
    calls += [b for b in blocks if b.get("type") in CALL_BLOCKS or "toolUse" in b or "functionCall" in b]
    return tuple(calls) or ((only,) if isinstance(only, Mapping) else ())


def _block_text(block: Mapping[str, Any]) -> str:
    text, said = block.get("text"), block.get("type", "text") in TEXT_BLOCKS and block.get("thought") is not True
    return text if isinstance(text, str) and said else ""


# ── native calls ─────────────────────────────────────────────────────────────


def _read_calls(found: _Found, known: Sequence[Tool] | None) -> tuple[tuple[ToolCall, ...], tuple[Issue, ...]]:
    read = list(_native(found, known))
    return tuple(r for r in read if isinstance(r, ToolCall)), tuple(r for r in read if isinstance(r, Issue))


def _native(found: _Found, known: Sequence[Tool] | None) -> Iterator[ToolCall | Issue]:
    """The calls as they came; one sent twice, id and all, counts once (servers repeat them), others all count."""
    seen: list[ToolCall] = []
    judge = None if known is None else Judge(known)
    for n, entry in enumerate(found.calls, 1):
        cut = found.finish == "length" and n == len(found.calls)
        read = _reported(entry) if isinstance(entry, ToolCall) else _read(entry, cut=cut)
        read = read if judge is None or isinstance(read, Issue) else judged(read, judge)
        if isinstance(read, Issue):
            yield read
        elif not read.id or read not in seen:
            seen.append(read)
            yield read


def _read(entry: Any, *, cut: bool) -> ToolCall | Issue:
    """One native call, or what is wrong with it."""
    flat = _flat(entry)
    name, id_ = _first(flat, NAMES), _id(entry, flat)
    if not isinstance(name, str) or not name:
        return Issue(
            kind=IssueKind.MALFORMED,
            message="a call without a tool name",
            raw=as_text(entry),
            correction="Your call names no tool. Nothing was run. Send it again with the tool's name.",
            call_id=id_,
        )
    given = _first(flat, ARGUMENTS)
    read = read_arguments(given, name=name, call_id=id_, cut=cut)
    if isinstance(read, Issue):
        return read
    arguments, report = read
    raw = given if isinstance(given, str) else None
    return ToolCall(id=id_, name=name, arguments=arguments, raw=raw, report=report or TAKEN)


def _reported(call: ToolCall) -> ToolCall:
    """What a codec read says why it was believed, as what is read here does."""
    return call if call.report is not None else replace(call, report=TAKEN)


def _flat(entry: Any) -> Mapping[str, Any]:
    """The mapping that holds name and arguments."""
    if not isinstance(entry, Mapping):
        return {}
    inner = next((entry[w] for w in WRAPPERS if isinstance(entry.get(w), Mapping)), None)
    return entry if inner is None else inner


def _first(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((entry[k] for k in keys if entry.get(k) is not None), None)


def _id(entry: Any, flat: Mapping[str, Any]) -> str:
    outer = entry if isinstance(entry, Mapping) else {}
    meta = outer.get("metadata")
    found = next(
        (v for place in (outer, flat, meta) if isinstance(place, Mapping) if (v := _first(place, IDS)) is not None), ""
    )
    return str(found) if isinstance(found, str | int) else ""


# ── ids ──────────────────────────────────────────────────────────────────────


def _call_id(n: int) -> str:
    return f"call_{n}"


def _numbered(calls: Sequence[ToolCall], make: Callable[[int], str]) -> Iterator[ToolCall]:
    """The calls with ids: given ones kept, missing and repeated ones made, none twice."""
    taken = {c.id for c in calls} | {""}
    used: set[str] = set()
    for n, call in enumerate(calls):
        id_ = call.id if call.id and call.id not in used else _fresh(make(n), taken)
        used.add(id_)
        taken.add(id_)
        yield call if id_ == call.id else replace(call, id=id_)


def _fresh(made: str, taken: set[str]) -> str:
    counted = (f"{made or 'call'}_{k}" for k in count(2))
    return next(i for i in chain([made], counted) if i not in taken)
