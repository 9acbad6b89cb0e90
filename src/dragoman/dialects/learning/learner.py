"""A dialect out of a model's own files: a chat template, or the `response_template` of a tokenizer's configuration.

What is learned is proved before it is given: the row reads back every turn the template writes (calls, text,
reasoning), and what the row writes is read back too.  A model published tomorrow needs no release of ours.
This module knows the proof; how turns are written and compared is beside it.  Templates run in a sandbox, yet they
are programs: `io/learning.py` runs all of this in a process of its own, with limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...types import ToolCall
from ..engine.common_marks import THINK
from ..engine.parse import parse
from ..engine.parsed import Parsed
from ..reading.table import READERS
from ..rows.table import ALL, Dialects
from ..spec import Dialect
from ..writing.render import Unrenderable, render
from .chat import ChatTemplate, NoCalls
from .compare import distinct, propose
from .marks import first, prefix
from .response import ResponseTemplate, refined
from .samples import DEEP, EMPTY, EMPTY_NEXT, NEXT, NULL, ONE, QUOTED, SHOWN, TOOLS, TWO, TYPED
from .voice import TEXT, CannotWrite, LearnError, NotUnderstood, Voice

SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")
THINKS = "with enable_thinking the prompt opens reasoning (prefix {!r})"
NO_CALLS = "the template does not write the calls of past turns"
PREFERRED = ("tool_use", "default")
"""Which of several named templates is meant (transformers takes `tool_use` when there are tools)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a model's files say about its way of speaking.

    `prefix` is what the prompt has opened already when the model begins, for `Parser(prefix=…)`; it is reasoning where
    `prompt_opens_reasoning`.  `notes` are for people.
    """

    dialect: Dialect
    prompt_opens_reasoning: bool = False
    prefix: str = ""
    notes: tuple[str, ...] = ()


def learn(
    template: str | None = None,
    *,
    tokenizer_config: Mapping[str, Any] | None = None,
    response_template: Mapping[str, Any] | None = None,
    name: str = "learned",
) -> Learned:
    """The dialect of a chat template, of a tokenizer's configuration, or of a `response_template`.

    A `response_template` (given, or in the configuration) says the format outright and is preferred; a chat template
    beside it says what the prompt opens.  Raises `LearnError` saying what was not understood.
    """
    config = dict(tokenizer_config or {})
    record = response_template if response_template is not None else config.get("response_template")
    source = template if template is not None else _template_of(config)
    if record is None and source is None:
        raise LearnError("there is neither a chat template nor a response template to learn from")
    if record is None:
        return _from_chat(_chat(str(source), config), name)
    try:
        return _from_response(record, _silent(source, config), name)
    except LearnError as why:
        if source is None:
            raise
        learned = _from_chat(_chat(source, config), name)
        return replace(learned, notes=(f"the response template was of no use ({why.what})", *learned.notes))


def _from_chat(voice: ChatTemplate, name: str) -> Learned:
    row, notes = _proved(voice, name)
    return _learned(row, voice.opening, [*notes, *_other_prompts(voice, row)])


def _from_response(record: Mapping[str, Any], chat: ChatTemplate | None, name: str) -> Learned:
    """A response template; the chat template, where there is one, says what the prompt opens and is read back too."""
    row, notes = _first_proved([ResponseTemplate(record), ResponseTemplate(record, chained=True)], name)
    if chat is None:
        return _learned(row, ResponseTemplate(record).opening, notes)
    try:
        notes += _prove(chat, row)
    except (CannotWrite, Mismatch) as why:
        notes.append(f"the chat template writes what the response template does not read: {why}")
    return _learned(row, chat.opening, [*notes, *_other_prompts(chat, row)])


def _first_proved(voices: Sequence[ResponseTemplate], name: str) -> tuple[Dialect, list[str]]:
    """The row of the first reading of a response template that holds."""
    failed: list[LearnError] = []
    for voice in voices:
        try:
            row, notes = _proved(voice, name)
            return refined(row, voice), notes
        except LearnError as why:
            failed.append(why)
    raise failed[0]


def _silent(source: str | None, config: Mapping[str, Any]) -> ChatTemplate | None:
    """The chat template beside a response template: it may be of no use."""
    try:
        return None if source is None else _chat(source, config)
    except LearnError:
        return None


def _template_of(config: Mapping[str, Any]) -> str | None:
    """The template of a configuration: one, or several by name."""
    found = config.get("chat_template")
    if isinstance(found, list):
        found = {t.get("name"): t.get("template") for t in found if isinstance(t, Mapping)}
    if isinstance(found, Mapping):
        found = next((found[name] for name in (*PREFERRED, *found) if name in found), None)
    return found if isinstance(found, str) else None


def _chat(source: str, config: Mapping[str, Any]) -> ChatTemplate:
    tokens = {key: _token(config.get(key)) for key in SPECIAL}
    try:
        return ChatTemplate(source, SHOWN, tokens, [ONE])
    except NoCalls as why:
        reasons = f" ({'; '.join(why.reasons[:2])})" if why.reasons else ""
        raise LearnError(f"{NO_CALLS}{reasons}{_shown_in(why.prompt)}") from None
    except CannotWrite as why:
        raise LearnError(f"the template fails on a user's question alone ({why})") from None


def _shown_in(prompt: str) -> str:
    """Which built-in dialects the prompt shows the markers of, in words."""
    shown = [d.name for d in ALL if any(len(m.strip()) > 5 and m.strip() in prompt for m in _openers(d))]
    return f"; its prompt shows the markers of {', '.join(map(repr, shown[:4]))}" if shown else ""


def _openers(row: Dialect) -> tuple[str, ...]:
    return row.section.open or row.call.open or row.tool.open


def _token(value: Any) -> str:
    """A special token, which configurations write as text or as an object."""
    return str(value.get("content", "")) if isinstance(value, Mapping) else str(value or "")


# ── proof ────────────────────────────────────────────────────────────────────


class Mismatch(Exception):
    """A row that does not read back what it should."""


def _proved(voice: Voice, name: str) -> tuple[Dialect, list[str]]:
    """The proposed row if it holds, else a built-in row that does."""
    try:
        row, notes = propose(voice, name)
        return row, [*notes, *_prove(voice, row), *_alike(row)]
    except (NotUnderstood, CannotWrite, Mismatch) as why:
        known = _recognised(voice)
        if known is None:
            raise LearnError(str(why)) from None
        row, notes = known
        told = f"comparing fell short ({why}), but the built-in dialect {row.name!r} reads every turn"
        return replace(row, name=name, aliases=()), [told, *notes]


def _recognised(voice: Voice) -> tuple[Dialect, list[str]] | None:
    """A built-in row that reads every turn of this voice."""
    for row in ALL:
        try:
            return row, _prove(voice, row)
        except (CannotWrite, NotUnderstood, Mismatch):
            continue
    return None


def _prove(voice: Voice, row: Dialect) -> list[str]:
    """Every turn is read back, and every call the row writes.  Raises `Mismatch`; gives what should be known."""
    if type(row.args) not in READERS:
        raise Mismatch(f"nothing reads {type(row.args).__name__} yet")
    for case in MUST:
        if _is_written(voice, case):
            _prove_turn(voice, row, case.calls, "")
        elif case is MUST[0]:
            raise Mismatch("a call's name is not written")
        _prove_writing(row, case.calls)
    _prove_turn(voice, row, (), TEXT)
    return [f"{case.what} {WRITTEN_OTHERWISE}" for case in SHOULD if not _holds(voice, row, case)]


@dataclass(frozen=True, slots=True)
class Case:
    """A turn to be read back; `what` it stands for, `text` beside the calls."""

    calls: tuple[ToolCall, ...]
    what: str = ""
    text: str = ""


MUST = (
    Case((ONE,)), Case((TWO,)), Case((TYPED,)), Case((EMPTY,)), Case((ONE, NEXT)), Case((ONE, EMPTY_NEXT)),
)
SHOULD = (
    Case((ONE,), "a call after text", TEXT),
    Case((DEEP,), "a list or an object in an argument"),
    Case((NULL,), "null"),
    Case((QUOTED,), "text with quotes, line ends and tags"),
)
WRITTEN_OTHERWISE = "is written by the template in a way that is not read back exactly"


def _is_written(voice: Voice, case: Case) -> bool:
    """Does the voice write all of these calls?  Some templates take one in a turn, and refuse or forget the rest."""
    calls = case.calls
    try:
        turn = voice.turn(calls, case.text)
    except CannotWrite:
        return False
    return all(c.name in turn for c in calls) and turn.count(ONE.name) >= sum(c.name == ONE.name for c in calls)


def _holds(voice: Voice, row: Dialect, case: Case) -> bool:
    try:
        if _is_written(voice, case):
            _prove_turn(voice, row, case.calls, case.text)
    except Mismatch:
        return False
    return True


def _prove_turn(voice: Voice, row: Dialect, calls: Sequence[ToolCall], text: str) -> None:
    written = voice.turn(calls, text)
    own = _own(voice, written, row)
    parsed = parse(own, tools=TOOLS, dialects=[row])
    _same_calls(parsed, calls, own)
    if _words(parsed, voice, row) != (text if text in written else ""):
        raise Mismatch(f"around the calls of {_short(own)} text is left over: {parsed.text.strip()[:200]!r}")


def _words(parsed: Parsed, voice: Voice, row: Dialect) -> str:
    """What was said, without the headers of a turn that is written as several messages."""
    said = parsed.text + parsed.reasoning
    for header in (voice.role.strip(), voice.trailer.strip(), *row.quiet):
        said = said.replace(header, "") if header else said
    return said.strip()


def _own(voice: Voice, turn: str, row: Dialect) -> str:
    """The turn's own text: after the role's header, before what ends every turn."""
    role = voice.role
    for opener in (*(r.open[0] for r in row.reasoning), *row.section.open[:1], *row.call.open[:1]):
        at = role.find(opener.strip()) if opener.strip() else -1
        role = role[:at] if at >= 0 else role
    text = turn[len(prefix(role, turn)) :]
    return text[: len(text) - len(voice.trailer)] if voice.trailer and text.endswith(voice.trailer) else text


def _prove_writing(row: Dialect, calls: Sequence[ToolCall]) -> None:
    try:
        text = render(calls, row, tools=TOOLS)
    except Unrenderable as why:
        raise Mismatch(str(why)) from None
    _same_calls(parse(text, tools=TOOLS, dialects=[row]), calls, text)


def _same_calls(parsed: Parsed, calls: Sequence[ToolCall], text: str) -> None:
    got = [(c.name, dict(c.arguments)) for c in parsed.calls]
    if got != [(c.name, dict(c.arguments)) for c in calls]:
        told = "; ".join(i.message for i in parsed.issues) or f"read {got}"
        raise Mismatch(f"{_short(text)} was not read back ({told})")


def _short(text: str) -> str:
    return repr(text.strip()[:300])


def _alike(row: Dialect) -> list[str]:
    """Which built-in row writes the same."""
    mine = _writes(row)
    same = [d.name for d in ALL if _writes(d) == mine]
    return [f"calls are written as in the built-in dialect {same[0]!r}"] if same else []


def _writes(row: Dialect) -> str:
    try:
        return render([ONE, NEXT], row, tools=TOOLS)
    except Unrenderable:
        return ""


# ── the prompt ───────────────────────────────────────────────────────────────


def _learned(row: Dialect, opening: str, notes: Sequence[str]) -> Learned:
    """What was learned, with what the prompt's `opening` of the turn has opened in it."""
    thought = _ends_with(opening, _thoughts(row))
    called = _ends_with(opening, [first(row.section.open or row.call.open)])
    return Learned(
        dialect=row, prompt_opens_reasoning=bool(thought), prefix=thought or called, notes=distinct(notes)
    )


def _other_prompts(voice: ChatTemplate, row: Dialect) -> list[str]:
    """What is different when thinking is asked for."""
    opened = _ends_with(voice.thinks(), _thoughts(row))
    return [THINKS.format(opened)] if opened and not _ends_with(voice.opening, _thoughts(row)) else []


def _thoughts(row: Dialect) -> list[str]:
    """What opens reasoning."""
    return [*(r.open[0] for r in row.reasoning), *THINK]


def _ends_with(text: str, openers: Sequence[str]) -> str:
    """Which of these `text` ends with, "" for none."""
    return next((o.strip() for o in openers if o.strip() and text.rstrip().endswith(o.strip())), "")


class LearningDialects(Dialects):
    """What `dragoman.dialects` is to a type checker: the rows by name, and a way to learn another."""

    learn = staticmethod(learn)


dialects: LearningDialects = LearningDialects(ALL)
