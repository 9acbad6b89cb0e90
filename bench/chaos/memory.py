"""A model with a memory: the weak model says what a sound one would do now, a character what this one writes.

Knows the conversation it is shown and what it was asked before in it; nothing of wires or clients.
Contract: deterministic for one seed and one order of requests; a conversation that begins anew is remembered anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from dragoman import parse
from dragoman.dialects import DIALECTS
from dragoman.dialects.spec import Dialect
from dragoman.dialects.writing.render import render
from dragoman.jsontext import dumps
from dragoman.sim import prompt_reader
from dragoman.sim.model import WeakModel, WeakReply, habits
from dragoman.turn.question import MEANT
from dragoman.types import Message, Text, Tool, ToolCall

from .characters import DECOY, INSISTS, CharacterRow, Moment


@dataclass(slots=True)
class _Memory:
    """One conversation: how often each step was due, and the calls of the step before."""

    tries: Counter[str] = field(default_factory=Counter)
    step: str = ""
    calls: tuple[ToolCall, ...] = ()
    last: tuple[ToolCall, ...] = ()

    def begin(self, step: str, calls: tuple[ToolCall, ...]) -> None:
        """This step is due."""
        if step != self.step:
            self.step, self.calls, self.last = step, calls, self.calls


def _known(messages: Sequence[Message], dialect: Dialect, tools: Sequence[Tool]) -> list[Message]:
    """The conversation as the model knows it that wrote it: what it did not mean is no call, unless it was run."""
    behind = [*(message.text for message in messages[1:]), ""]
    return [
        Message(message.role, [Text(_meant(message.text, after, dialect, tools))])
        if message.role == "assistant"
        else message
        for message, after in zip(messages, behind, strict=True)
    ]


def _meant(text: str, after: str, dialect: Dialect, tools: Sequence[Tool]) -> str:
    """What it wrote, as the calls alone that `after` holds the results of; as it is, where it holds none."""
    every = parse(text, dialects=[dialect], tools=tools, doubt="run").calls
    meant = [call for call in every if DECOY not in dumps(call.arguments)]
    results = len(prompt_reader.results(after, dialect)[0])
    run = next((calls for calls in (meant, every) if results and len(calls) == results), None)
    return text if run is None else render(list(run), dialect, tools=list(tools))


class Remembering:
    """A model of this character; counts the questions about calls that it meant, and about others."""

    def __init__(self, row: CharacterRow, *, seed: int, native: bool) -> None:
        self._row, self._seed, self._native = row, seed, native
        self._sound = WeakModel(seed=seed)
        self._memories: dict[str, _Memory] = {}
        self.asked: Counter[str] = Counter()

    def reply(self, messages: Sequence[Message], *, model: str, **more: Any) -> WeakReply:
        """The reply to a conversation."""
        first = next((m.text for m in messages if m.role == "user"), "")
        task = first.partition("\n")[0]
        if first == task and all(m.role != "assistant" for m in messages):
            self._memories[task] = _Memory()
        memory = self._memories.setdefault(task, _Memory())
        prompt = "\n\n".join(m.text for m in messages if m.role == "system")
        dialect = habits(model).dialect or prompt_reader.shown_dialect(prompt) or DIALECTS["hermes"]
        tools = prompt_reader.as_tools(prompt_reader.offers(prompt))
        step = self._sound.reply(_known(messages, dialect, tools), model=model).text
        calls = prompt_reader.own_calls(step, (dialect,), tools)
        memory.begin(step, calls)
        told = messages[-1].text
        about = MEANT in told or INSISTS in told
        asked = "" if not about else "decoy" if DECOY in told else "meant"
        moment = Moment(
            calls=calls, text=step, last=memory.last, tries=memory.tries[step], asked=asked, told=told,
            trait=Random(f"{self._seed} {task}").randrange(840), dialect=dialect, tools=tools, native=self._native,
            luck=Random(f"{self._seed} {task} {step} {memory.tries[step]} {asked}"),
        )  # fmt: skip
        self.asked[asked] += MEANT in told
        memory.tries[step] += not asked
        said = self._row.act(moment)
        return WeakReply(said.text, (said.text,), said.finish)
