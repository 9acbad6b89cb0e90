"""A weak model that errs in every way it knows, in text, at real tools: it finishes, and nothing runs that was not meant."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from bench.chaos.characters import CHARACTERS
from bench.chaos.memory import Remembering
from bench.chaos.tasks import Desk, tasks
from dragoman.effects import Open, run
from dragoman.loop import Policy, Run, loop
from dragoman.providers.spec import Tools
from dragoman.sim import FaultKind, WeakModel
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.tools import Runnable, ToolSet, runnable
from dragoman.turn.machine import turn
from dragoman.types import JsonObject, Message, Request
from tests.support.scenes import ScriptedReply, Shop, route
from tests.support.upstreams import answered

FILES = {"january.txt": "rent 700.50\nfood 212.35\n", "february.txt": "rent 700.50\nfood 187.90\n"}
TASK = "Read january.txt and february.txt, add up the amounts, and write the total to total.txt."
SUM = "700.50 + 212.35 + 700.50 + 187.90"
MEANT = {
    ("read_file", "january.txt"),
    ("read_file", "february.txt"),
    ("calculate", SUM),
    ("write_file", "total.txt"),
}


def tools(shop: Shop) -> ToolSet:
    def schema(*names: str) -> JsonObject:
        return {"type": "object", "properties": {n: {"type": "string"} for n in names}, "required": list(names)}

    return ToolSet(
        shop.make("read_file", schema("path"), lambda a: FILES[a["path"]], read_only=True),
        shop.make("calculate", schema("expression"), lambda a: "1801.25", read_only=True),
        shop.make("write_file", schema("path", "content"), lambda a: "written"),
    )


def script(model: WeakModel) -> Any:
    def answer(sent: Open) -> Answer:
        body = json.loads(sent.body)
        reply = model.reply([Message(m["role"], m["content"] or "") for m in body["messages"]])
        return answered("openai_chat", ScriptedReply(reply.chunks, stop=reply.finish), body)

    return answer


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("speak", ["tool_call_fence", "hermes", "json_protocol", "react"])
@pytest.mark.costly
def test_a_model_that_errs_finishes_its_task(speak: str, rate: float) -> None:
    for seed in range(8):
        shop, memory = Shop(), ScriptedPeer(script(WeakModel(rates=dict.fromkeys(FaultKind, rate), seed=seed)))
        to = route(tools=Tools.TEXT, prompt_dialect=speak)
        request = Request(model="weak", messages=(Message("user", TASK),), stream=True)
        kit = tools(shop)
        got = run(loop(request, lambda request, to=to: turn(request, to), kit, Policy()), memory.sync_performer())  # type: ignore[misc]
        assert got.done
        ran = Counter((name, next(iter(given.values()))) for name, given in shop.ran)
        assert set(ran) == MEANT
        assert ran["write_file", "total.txt"] == 1
        assert "1801.25" in got.text


HELPABLE = ("repeats a mistake", "loops until told", "mixes dialects", "answers nothing at first", "promises")
HOPELESS = ("ignores corrections", "loops", "answers nothing")


def remembered(name: str, seed: int) -> tuple[Run, Desk]:
    """A run of a model with a memory at one task, and what its tools did."""
    row = next(row for row in CHARACTERS if row.name == name)
    desk, model = Desk(tasks(seed + 1, 1)[seed]), Remembering(row, seed=seed, native=False)
    made = desk.tools()

    def bound(name: str) -> Runnable:
        return replace(runnable(made[name]), function=lambda arguments, context: made[name](**arguments))

    def answer(sent: Open) -> Answer:
        body = json.loads(sent.body)
        reply = model.reply([Message(m["role"], m["content"] or "") for m in body["messages"]], model="weak")
        return answered("openai_chat", ScriptedReply(reply.chunks, stop=reply.finish), body)

    to, kit = route(tools=Tools.TEXT, prompt_dialect="hermes"), ToolSet(*map(bound, made))
    request = Request(model="weak", messages=(Message("user", tasks(seed + 1, 1)[seed].prompt),), stream=True)
    memory = ScriptedPeer(answer).sync_performer()
    return run(loop(request, lambda request: turn(request, to), kit, Policy()), memory), desk


@pytest.mark.parametrize("name", [*HELPABLE, *HOPELESS])
@pytest.mark.costly
def test_a_model_with_a_memory_runs_nothing_unmeant_and_its_end_is_told(name: str) -> None:
    for seed in range(4):
        got, desk = remembered(name, seed)
        assert desk.unmeant == 0
        assert got.why or got.text.strip()
        assert desk.finished == (name in HELPABLE)
