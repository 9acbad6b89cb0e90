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

from dragoman.dialects import DIALECTS
from dragoman.sim import prompt_reader
from dragoman.sim.model import WeakModel, WeakReply, habits
from dragoman.turn.question import MEANT
from dragoman.types import Message, ToolCall

from .characters import DECOY, CharacterRow, Moment


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
        step = self._sound.reply(messages, model=model).text
        calls = prompt_reader.own_calls(step, dialect, tools)
        memory.begin(step, calls)
        told = messages[-1].text
        asked = "" if MEANT not in told else "decoy" if DECOY in told else "meant"
        moment = Moment(
            calls=calls, text=step, last=memory.last, tries=memory.tries[step], asked=asked, told=told,
            trait=Random(f"{self._seed} {task}").randrange(840), dialect=dialect, tools=tools, native=self._native,
            luck=Random(f"{self._seed} {task} {step} {memory.tries[step]} {asked}"),
        )  # fmt: skip
        self.asked[asked] += bool(asked)
        memory.tries[step] += not asked
        said = self._row.act(moment)
        return WeakReply(said.text, (said.text,), said.finish)
