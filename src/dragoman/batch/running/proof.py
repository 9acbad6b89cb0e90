"""Render and parse back: each row through the chat template it will be trained with, and read again by the engine.

What a template crashes on, encodes twice, drops or merges is found here and not after the training.  Knows the box and
the engine; nothing of how templates work.  Contract: a template, whatever it is, costs its rows and nothing else; the
same rows and template give the same findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...dialects.engine.parse import parse
from ...io.learning import box
from ..formats.alternatives import own_answer, straightened
from ..formats.chat import written_messages
from ..formats.spec import Demands
from ..judging import rendering
from ..judging.row_judge import Outcome
from ..judging.toolset import toolset
from ..options import Options
from ..result import Finding

TARGET = f"{rendering.__name__}:{rendering.render.__name__}"
AT_ONCE = 64
LIMITS = box.Limits(megabytes=512, cpu=20, seconds=60.0)
TWICE = frozenset({"json_in_string", "double_encoded"})
"""Mends that say that a template wrote JSON inside a string."""


def proven(outcomes: Sequence[Outcome], template: str, options: Options) -> list[Outcome]:
    """The outcomes, with what the template made of each as findings."""
    told = iter(_rendered([o for o in outcomes if o.chat is not None], template, options))
    made = []
    for outcome in outcomes:
        if outcome.chat is None:
            made.append(outcome)
            continue
        found = list(_findings(outcome, next(told), options))
        made.append(outcome._replace(findings=(*outcome.findings, *found)) if found else outcome)
    return made


def _rendered(outcomes: Sequence[Outcome], template: str, options: Options) -> list[dict[str, Any]]:
    if not outcomes:
        return []
    order = {"template": template, "rows": [_row(outcome, options) for outcome in outcomes]}
    try:
        told: list[dict[str, Any]] = box.run(TARGET, order, LIMITS)
    except box.Stopped as why:
        if len(outcomes) == 1:
            return [{"error": f"it was stopped: {why}"}]
        return [one for outcome in outcomes for one in _rendered([outcome], template, options)]
    return told


def _row(outcome: Outcome, options: Options) -> dict[str, Any]:
    assert outcome.chat is not None
    chat = straightened(outcome.chat)
    demands = Demands(arguments=options.arguments or "object")
    tools = toolset(chat.tools).chat if chat.tools is not None else None
    return {"messages": written_messages(chat.messages, demands), "tools": tools}


def _findings(outcome: Outcome, told: dict[str, Any], options: Options) -> Iterator[Finding]:
    if "error" in told:
        yield Finding("template_fails", "$.messages", told["error"])
        return
    if not told["tools"]:
        yield Finding("template_tools", "$.tools", "the template writes the conversation and leaves tools out")
    assert outcome.chat is not None
    chat, before = straightened(outcome.chat), len(outcome.chat.messages)
    tools = toolset(chat.tools).tools
    for number, turn in told["turns"].items():
        wanted = [_call(one) for one in chat.messages[int(number)]["tool_calls"]]
        parsed = parse(turn, tools=tools, doubt="run")
        got = [(call.name, dict(call.arguments)) for call in parsed.calls]
        beside = int(number) - before
        place = f"messages[{number}]" if beside < 0 else f"{own_answer(outcome.chat)}[{beside}]"
        where = f"$.{place}.tool_calls"
        mends = {edit.kind for call in parsed.calls if call.report for edit in call.report.edits}
        if got != wanted:
            yield Finding("template_calls", where, f"{len(wanted)} calls are read as {len(got)}: {turn[:300]!r}")
        elif mends & TWICE:
            why = f"arguments are encoded twice; try --arguments object: {turn[:300]!r}"
            yield Finding("template_calls", where, why)


def _call(one: dict[str, Any]) -> tuple[str, Any]:
    [made] = written_messages([{"role": "assistant", "tool_calls": [one]}], Demands(arguments="object"))
    function = made["tool_calls"][0]["function"]
    return function["name"], function["arguments"]
