"""A request for a model without native tools: its tools in the prompt, past calls and results as text.

Knows requests and the row it speaks; nothing of wires, providers or what the model will answer.
Contract: no tool, call or result is left in the request for the wire to carry; text the model did not write (results,
the user's words) is neutralised, so that a copy of it is no call; deterministic, so that a server's prefix cache holds.
Where nothing is called nothing is neutralised: a client that tells tools of its own in words is let speak as it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ..codecs.shared.tools import without_tools
from ..conversation.grown import by_growth, grown
from ..dialects.rows.nonce import with_nonce
from ..dialects.spec import Dialect
from ..dialects.writing.history import render_message, render_result
from ..dialects.writing.neutralise import doubled, neutralise
from ..dialects.writing.prompt import tool_prompt
from ..memo import MESSAGES, SMALL, TOOLS, if_small, memoize
from ..records import NamedTuple, changer, dataclass, replace
from ..types import Issue, IssueKind, Media, Message, Part, Reasoning, Request, Text, Tool, ToolChoice, ToolResult
from .instructions import instructed

OURS = "ours"
"""Key of the metadata of a text that we wrote ourselves: its markup is meant to be read, so it is not broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptStyle:
    """The description of tools: the dialect of prompt and history, short or long, and the dialects neutralised.

    `nonce` is the code every call of this request must carry, "" for none.
    """

    dialect: Dialect
    guarded: tuple[Dialect, ...] = ()
    compact: bool = False
    nonce: str = ""


def to_text(request: Request, style: PromptStyle) -> Request:
    """`request` without native tools, saying the same in text."""
    return without_tools(request.with_messages(in_text(request.messages, request.tools, style, prompt(request, style))))


def in_text(
    messages: tuple[Message, ...], tools: tuple[Tool, ...], style: PromptStyle, described: str
) -> tuple[Message, ...]:
    """The conversation with its calls and results in text, and the tools as they are `described`, "" for not at all."""
    dialect = with_nonce(style.dialect, style.nonce) if style.nonce else style.dialect
    messages = (*messages,) if style.nonce else messages  # no other request has that dialect
    guarded = style.guarded if tools or _have_calls(messages) else ()
    turns = _told(messages, dialect, style.dialect, guarded, tools).turns
    return instructed(turns, described) if described else turns


def prompt(request: Request, style: PromptStyle) -> str:
    """What the model is told of the tools of `request`; "" where it may call none."""
    offered = request.tools and (request.tool_choice is None or request.tool_choice.mode != "none")
    return _prompt(request, style) if offered else ""


def left_out(request: Request) -> tuple[Issue, ...]:
    """Issues for what `to_text` cannot say: tools of the wire's own, which only its server runs or can describe."""
    foreign = [tool for tool in request.extra.get("tools") or () if isinstance(tool, Mapping)]
    kinds = ", ".join(dict.fromkeys(str(tool.get("type") or next(iter(tool), "")) for tool in foreign))
    message = f"tools of the wire's own cannot be told in text and are left out: {kinds}"
    return (Issue(kind=IssueKind.UNSUPPORTED, message=message, path="$.tools"),) if foreign else ()


def _prompt(request: Request, style: PromptStyle) -> str:
    tools, choice, parallel = request.tools, request.tool_choice, request.parallel
    if not style.nonce:
        return _remembered_prompt(tools, style.dialect, style.compact, choice, parallel)
    return tool_prompt(tools, style.dialect, compact=style.compact, nonce=style.nonce, choice=choice, parallel=parallel)


@memoize(TOOLS)
def _remembered_prompt(
    tools: tuple[Tool, ...], dialect: Dialect, compact: bool, choice: ToolChoice | None, parallel: bool | None
) -> str:
    return tool_prompt(tools, dialect, compact=compact, choice=choice, parallel=parallel)


@by_growth
def _have_calls(messages: Sequence[Message], start: int, known: bool | None) -> bool:
    """Was anything called in this conversation, or answered?"""
    return bool(known) or any(message.calls or message.results for message in messages[start:])


class Told(NamedTuple):
    """Turns in text, and how many calls they tell."""

    turns: tuple[Message, ...]
    calls: int


@by_growth
def _told(  # noqa: PLR0917
    messages: Sequence[Message], start: int, known: Told | None, dialect: Dialect, plain: Dialect,
    guarded: tuple[Dialect, ...], tools: tuple[Tool, ...],
) -> Told:
    """The conversation in `dialect`; results go by the `plain` one, which asks for no code."""
    before, calls = known or ((), 0)
    made: list[Message] = []
    protocol = dialect.is_protocol
    for message in messages[start:]:
        more = len(message.calls)
        if more or (protocol and message.role == "assistant"):
            made.append(_with_calls(message, dialect, tools, calls))
            calls += more
        elif message.role in {"user", "tool"}:
            made.append(_as_user(message, plain, guarded))
        else:
            made.append(message)
    if before and made and before[-1].role == made[0].role == "user":
        return Told(tuple(_merged((*before, *made))), calls)
    return Told(grown(before or None, _merged(made)), calls)


def _size(message: Message) -> int:
    return sum(len(part.text) if isinstance(part, Text | Reasoning) else SMALL + 1 for part in message.parts)


@memoize(MESSAGES, if_small(_size))
def _with_calls(message: Message, dialect: Dialect, tools: tuple[Tool, ...], start: int) -> Message:
    """A message of the model, its calls as text; `start` counts the calls before it."""
    rendered = render_message(message, dialect, tools=tools, start=start)
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    return message.with_parts((*thoughts, Text(rendered)))


@memoize(MESSAGES, if_small(_size))
def _as_user(message: Message, dialect: Dialect, guarded: tuple[Dialect, ...]) -> Message:
    """A message the model did not write, as a user turn."""
    return Message("user", _harmless(message, dialect, guarded), cache=message.cache, metadata=message.metadata)


def _harmless(message: Message, dialect: Dialect, guarded: tuple[Dialect, ...]) -> Iterator[Part]:
    """The parts of a message the model did not write, as parts of a user turn."""
    for part in message.parts:
        match part:
            case Text() if part.metadata.get(OURS):
                yield part
            case Text(text):
                yield Text(_neutral(text, guarded), metadata=part.metadata)
            case ToolResult():
                yield Text(render_result(_quiet(part, guarded), dialect))
                yield from (p for p in part.content if isinstance(p, Media))
            case _:
                yield part


def _neutral(text: str, guarded: tuple[Dialect, ...]) -> str:
    """`text` neutralised, or as it is; what undoes that in the answer undoes either."""
    return neutralise(text, guarded) if guarded else doubled(text)


def _quiet(result: ToolResult, guarded: tuple[Dialect, ...]) -> ToolResult:
    quiet = [
        Text(neutralise(p.text, guarded), metadata=p.metadata) if isinstance(p, Text) else p for p in result.content
    ]
    return changer(ToolResult, "content")(result, tuple(quiet))


def _merged(turns: Iterable[Message]) -> Iterator[Message]:
    """Results and the user's words that follow them become one turn: many chat templates demand that turns alternate.

    Inside a turn the pieces of text are joined by blank lines: wires glue them together without.
    """
    for role, group in groupby(turns, key=lambda turn: turn.role):
        if role == "user":
            yield _one(list(group))
        else:
            yield from group


def _one(turns: Sequence[Message]) -> Message:
    """These turns of the user as one."""
    parts = turns[0].parts if len(turns) == 1 else tuple(part for turn in turns for part in turn.parts)
    if len(turns) == 1 and len(parts) == 1:
        return turns[0]
    merged = tuple(
        part for kind, group in groupby(parts, key=type) for part in (_spaced(group) if kind is Text else group)
    )
    return Message("user", merged, cache=any(turn.cache for turn in turns), metadata=turns[-1].metadata)


def _spaced(texts: Iterable[Part]) -> Iterator[Part]:
    """Texts as one, with blank lines between; the metadata is that of the first."""
    first, *more = [part for part in texts if isinstance(part, Text)]
    yield replace(first, text="\n\n".join([first.text, *(part.text for part in more)])) if more else first
