"""One row judged, whatever its format: read, its calls checked and mended, its order looked at, its verdict found.

Knows formats and the judges of calls; nothing of files, units or processes.
Contract: `judge` never raises for what a row holds, and gives the same for the same bytes and options.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import UsageError
from ...records import NamedTuple
from ...types import Verdict
from ..formats.alternatives import own_answer
from ..formats.chat_row import Chat, ChatRow, call, canonical, results_apart
from ..formats.reading import parsed, read
from ..formats.spec import Format
from ..options import DEFAULTS, Options
from ..result import Finding, JudgedCall, JudgedRow, Repair, RowVerdict
from ..row import CorpusRow, row_id
from ..row_json import BadRow, text
from . import order
from .in_text import is_plain, read_text
from .native import judge_native
from .toolset import Toolset, toolset

Origin = tuple[str, int]
"""The source of a row, and its offset there."""
REFUSING = frozenset(
    {"unknown_tool", "unknown_param", "missing_required", "type_mismatch", "invalid_arguments", "malformed"}
    | {"truncated", "not_allowed", "duplicate_keys", "hallucinated_result", "wrong_shape", "orphan_result", "bad_tools"}
)
"""Findings for which a row is refused."""


class Outcome(NamedTuple):
    """What was judged of a row, in the words of the chat API: what the writers write."""

    id: str
    source: str
    offset: int
    original: bytes
    verdict: RowVerdict
    form: Format | None
    chat: ChatRow | None
    findings: tuple[Finding, ...] = ()
    repairs: tuple[Repair, ...] = ()
    calls: tuple[JudgedCall, ...] = ()
    branches: dict[str, tuple[JudgedCall, ...]] = {}  # noqa: RUF012  a default, never changed

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all findings and repairs, each once, in order."""
        return tuple(dict.fromkeys([*(f.code for f in self.findings), *(r.code for r in self.repairs)]))

    @property
    def every_call(self) -> tuple[JudgedCall, ...]:
        """The calls of the conversation and of every answer beside it."""
        return (*self.calls, *(call for some in self.branches.values() for call in some))

    @property
    def own_calls(self) -> tuple[JudgedCall, ...]:
        """The calls of the conversation and of the answer that is the row's own."""
        own = own_answer(self.chat) if self.chat is not None else ""
        return (*self.calls, *self.branches.get(own, ()))


def judge(original: bytes, options: Options = DEFAULTS, origin: Origin = ("", 0)) -> Outcome:
    """The judgment of the row that these bytes are."""
    try:
        form, chat = read(parsed(original, options), options)
        return judge_chat(form, chat, original, options, origin)
    except BadRow as why:
        finding = Finding(why.code, why.path, str(why))
        return Outcome(row_id(original), *origin, original, RowVerdict.BROKEN, None, None, (finding,))


def judged_row(outcome: Outcome) -> JudgedRow:
    """The judgment in our own types."""
    row = CorpusRow(id=outcome.id, source=outcome.source, offset=outcome.offset, original=outcome.original)
    findings = outcome.findings
    verdict = outcome.verdict
    if outcome.chat is not None and outcome.form is not None:
        place = (outcome.id, outcome.source, outcome.offset, outcome.original)
        try:
            row = canonical(outcome.chat, outcome.form.name, place)
        except BadRow as why:
            findings = (*findings, Finding(why.code, why.path, str(why)))
            verdict = RowVerdict.BROKEN if why.code != "bad_tools" else verdict
    return JudgedRow(
        row=row, verdict=verdict, findings=findings, repairs=outcome.repairs, calls=outcome.calls,
        branches=outcome.branches,
    )  # fmt: skip


def judge_row(original: bytes | str, options: Options = DEFAULTS, *, source: str = "", offset: int = 0) -> JudgedRow:
    """The judgment of the row that these bytes are, or this text, in our own types.  Raises UsageError for a value."""
    if isinstance(original, str):
        original = original.encode("utf-8", "surrogatepass")
    if not isinstance(original, bytes):
        given = type(original).__name__
        raise UsageError(f"a row is judged as the bytes that it is, not as {given}; give json.dumps(row), or its line")
    return judged_row(judge(original, options, (source, offset)))


def judge_chat(form: Format, chat: ChatRow, original: bytes, options: Options, origin: Origin) -> Outcome:
    """The judgment of a row that was read."""
    if chat.tools is None and options.tools is not None:
        tools = toolset_of(options)
        chat.tools = tools.chat
    else:
        tools = toolset(chat.tools)
    work = _Work(tools, options, form, chat.labels.get("finish_reason"))
    if options.repair:
        work.repairs += chat.repairs
    else:
        work.findings += (Finding("malformed", one.path, "the call would need repair") for one in chat.repairs)
    messages = work.messages(chat.messages, "$.messages")
    branches, calls = {}, {}
    whole = tuple(work.calls)
    for name, branch in chat.branches.items():
        work.calls = []
        branches[name] = work.messages(branch, f"$.{name}", before=chat.messages)
        calls[name] = tuple(work.calls)
    findings = [*chat.findings, *tools.findings, *work.findings, *order.findings(messages)]
    if chat.branches:
        findings = [one for one in findings if one.code != "no_answer"]
    every = [*whole, *(one for some in calls.values() for one in some)]
    if tools.tools is None and every:
        findings.append(Finding("calls_without_tools", "$", "the row calls tools and declares none"))
    if tools.padded:
        before, chat.tools = text(chat.tools), tools.chat
        work.repairs.append(Repair("null_padding", "$.tools", (0, len(before)), before, text(tools.chat)))
    chat = chat.with_messages(messages)
    chat.branches = branches
    verdict = _verdict(findings, work.repairs, every)
    return Outcome(
        row_id(original), *origin, original, verdict, form, chat, tuple(findings), tuple(work.repairs), whole, calls
    )


_GIVEN: dict[int, Toolset] = {}


def toolset_of(options: Options) -> Toolset:
    """The toolset of the tools that the options give."""
    found = _GIVEN.get(id(options.tools))
    if found is None or found.tools != options.tools:
        found = _GIVEN[id(options.tools)] = Toolset(options.tools)
    return found


def _verdict(findings: Iterable[Finding], repairs: Sequence[Repair], calls: Sequence[JudgedCall]) -> RowVerdict:
    if any(one.code in REFUSING for one in findings) or any(one.verdict is Verdict.REFUSED for one in calls):
        return RowVerdict.REFUSED
    if repairs:
        return RowVerdict.REPAIRED
    return RowVerdict.OK if calls else RowVerdict.NONE


class _Work:
    """The messages of one row on their way through the judges."""

    def __init__(self, tools: Toolset, options: Options, form: Format, finish: Any) -> None:
        self._tools, self._options = tools, options
        self._dialect = form.demands.dialect
        self._finish = finish if isinstance(finish, str) else None
        self.findings: list[Finding] = []
        self.repairs: list[Repair] = []
        self.calls: list[JudgedCall] = []
        self._count = 0

    def messages(self, given: Sequence[Chat], path: str, before: Sequence[Chat] = ()) -> list[Chat]:
        """The messages, mended."""
        shown = [told for m in before if (told := _result(m))]
        made: list[Chat] = []
        waiting: list[str] = []
        for i, message in enumerate(given):
            if message.get("role") == "assistant":
                last = i == len(given) - 1
                finish = self._finish if last else None
                message = self._assistant(message, len(made), f"{path}[{i}]", shown, finish)
                calls = message.get("tool_calls")
                listed = calls if isinstance(calls, list) else ()
                waiting = [one["id"] for one in listed if isinstance(one, dict) and "id" in one]
            elif message.get("role") == "tool":
                told = _result(message)
                shown += [told] if told else []
                if "tool_call_id" not in message and waiting:  # its call stood in a text
                    alone = i + 1 == len(given) or given[i + 1].get("role") != "tool"
                    apart = results_apart(told, len(waiting)) if alone else [told]
                    for content in apart if len(apart) > 1 else ():
                        made.append({**message, "content": content, "tool_call_id": waiting.pop(0)})
                    if len(apart) > 1:
                        continue
                    message = {**message, "tool_call_id": waiting.pop(0)}
            made.append(message)
        return made

    def _assistant(self, message: Chat, i: int, path: str, shown: Sequence[str], finish: str | None) -> Chat:
        calls = message.get("tool_calls")
        if calls:
            return self._native(message, calls, i, path)
        content = message.get("content")
        if not isinstance(content, str) or not content or not self._options.recover or is_plain(content, self._tools):
            return message
        spoken = read_text(
            content, i, f"{path}.content", self._tools, self._options, dialect=self._dialect, shown=shown, finish=finish
        )
        self.findings += spoken.findings
        if spoken.calls and not self._options.repair and spoken.repairs:
            self.findings.append(Finding("malformed", f"{path}.content", "a call in the text would need repair"))
            return message
        self.calls += spoken.judged
        self.repairs += spoken.repairs
        return self._taken(message, spoken.text, spoken.reasoning, spoken.calls) if spoken.calls else message

    def _taken(self, message: Chat, text: str, reasoning: str, calls: Iterable[Any]) -> Chat:
        made: Chat = {**message, "content": text or None}
        if reasoning:
            made.setdefault("reasoning_content", reasoning)
        made["tool_calls"] = []
        for one in calls:
            made["tool_calls"].append(call(one.name, dict(one.arguments), f"call_{self._count}"))
            self._count += 1
        return made

    def _native(self, message: Chat, calls: Any, i: int, path: str) -> Chat:
        if not isinstance(calls, list):
            self.findings.append(Finding("wrong_shape", f"{path}.tool_calls", "tool_calls must be a list"))
            return message
        made = []
        for j, one in enumerate(calls):
            where = f"{path}.tool_calls[{j}]"
            judged = judge_native(
                one if isinstance(one, dict) else {}, i, where, self._tools, repair=self._options.repair
            )
            self.calls.append(judged.call)
            self.findings += judged.findings
            self.repairs += judged.repairs
            self._count += 1
            made.append(_rewritten(one, judged.call) if judged.repairs else one)
        return {**message, "tool_calls": made} if made != calls else message


def _rewritten(given: Chat, judged: JudgedCall) -> Chat:
    function = {**given["function"], "name": judged.name, "arguments": judged.arguments}
    return {**given, "function": function}


def _result(message: Chat) -> str:
    content = message.get("content")
    return content if message.get("role") == "tool" and isinstance(content, str) else ""
