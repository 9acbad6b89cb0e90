"""The next turn of a conversation is sent byte for byte as if nobody had ever asked anything, whatever changed in it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dragoman.codecs.shared.spec import WireFields
from dragoman.conversation.grown import Grown
from dragoman.conversation.history import repair
from dragoman.effects import Open
from dragoman.errors import UsageError
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.turn.capabilities import Capabilities, Refusals
from dragoman.turn.machine import turn
from dragoman.turn.plan import planned
from dragoman.turn.send import _encoded
from dragoman.turn.settled import sound_tools
from dragoman.types import Media, Message, Reasoning, Request, Sampling, Text, Tool, ToolCall, ToolChoice, ToolResult

Turns = list[Message]
ROUTES = {
    **{f"{api} {way}": Route(provider=row, base_url="http://model.test", key="k", tools=way)
       for api, row in COMPATIBLE.items() if api.partition("_")[0] != "bedrock" for way in (None, Tools.TEXT)},
    **{f"{name} {model}": Route(provider=PROVIDERS[name], base_url="http://model.test", key="k", model=model)
       for name, model in (("anthropic", "claude-sonnet-4-5"), ("mistral", "mistral-large"), ("openai", "gpt-5"),
                           ("deepseek", "deepseek-reasoner"), ("gemini", "gemini-3-pro"), ("moonshot", "kimi-k2"))
       if name in PROVIDERS},
}  # fmt: skip
WORDS = ("look", "naïve", "x\u2028y", "null", "a\nb", "\x7f", "NaN", "[ERROR] bad", '"q"', "🙂", "a longer line of words ")
ONES: tuple[Any, ...] = (1, 1.0, True, "1", None, [1], {"b": 1, "a": 2}, {"a": 2, "b": 1}, -0.0, 0.0, 2**70)
"""Values of which some are equal, and are not written alike."""


class Talk:
    """A client and its conversation, which goes on, and which it changes now and then."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.calls = 0
        self.said: Turns = [Message("system", self.text())] * self.draw.randint(0, 1)
        self.options = Request(model="m", tools=self.tools(), sampling=Sampling(max_tokens=100), stream=True)
        self.learned = Capabilities()
        for _ in range(self.draw.randint(0, 8)):
            self.said += self.round()

    def text(self) -> str:
        return "".join(self.draw.choices(WORDS, k=self.draw.randint(1, 4)))

    def tools(self) -> tuple[Tool, ...]:
        def schema() -> dict[str, Any]:
            return {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}

        return tuple(Tool(name=name, description=self.text(), parameters=schema()) for name in ("look", "ask")[: self.draw.randint(0, 2)])

    def round(self) -> Turns:
        """What is said next: nearly always in order."""
        ids = [f"call_{self.calls + n}" for n in range(self.draw.choice([0, 0, 1, 1, 2]))]
        self.calls += len(ids)
        made = [ToolCall(id=one, name="look", arguments={"at": self.text(), "n": self.draw.choice(ONES)}) for one in ids]
        answered = [ToolResult(call_id=one, name="look", content=self.text(), is_error=self.draw.random() < 0.1) for one in ids]
        words = Message("assistant", [*([Text(self.text())] if self.draw.random() < 0.7 or not made else []), *made])
        ended = [Message("tool", answered)] if answered else []
        odd = self.odd() if self.draw.random() < 0.05 else []
        asked = [Message("user", self.text())] if self.draw.random() < 0.7 or not made else []
        return [*asked, words, *ended, *odd, *([Message("user", self.text())] if self.draw.random() < 0.5 else [])]

    def odd(self) -> Turns:
        return [self.draw.choice([
            Message("system", self.text()), Message("user", " "), Message("user", self.text(), cache=True),
            Message("user", [Text("See"), Media(mime="image/png", data="aGk=")]), Message("user", [Text("a"), Text("b")]),
            Message("assistant", [Reasoning("Hm.", metadata={"signature": "s"}), Text("Well.")]),
            Message("user", [Text("x", metadata=WireFields("openai_chat", {"note": 1}))]),
            Message("tool", [ToolResult(call_id="nobody", content="x")]),
        ])]  # fmt: skip

    # ── what changes ─────────────────────────────────────────────────────────

    def go_on(self) -> None:
        self.said = self.said + self.round()

    def stay(self) -> None:
        pass

    def drop(self) -> None:
        self.said = self.said[: max(len(self.said) - self.draw.randint(1, 3), 0)] + self.round()

    def replaced(self) -> None:
        """One message in the middle says something else, or the same in other bytes."""
        at = self.draw.randrange(len(self.said))
        old = self.said[at]
        parts = [replace(part, arguments={**part.arguments, "n": self.draw.choice(ONES)}) if type(part) is ToolCall
                 else replace(part, text=self.draw.choice([part.text, self.text()])) if type(part) is Text else part
                 for part in old.parts]  # fmt: skip
        self.said = [*self.said[:at], Message(old.role, parts, cache=old.cache, metadata=old.metadata), *self.said[at + 1 :]]

    def head(self) -> None:
        first = [Message("system", self.text())] * self.draw.randint(0, 2)
        self.said = [*first, *(one for one in self.said if one.role != "system")]

    def other_tools(self) -> None:
        self.options = replace(self.options, tools=self.tools())

    def tools_in_place(self) -> None:
        for tool in self.options.tools:
            properties: Any = tool.parameters["properties"]
            properties[f"p{self.draw.randint(0, 3)}"] = {"type": "string"}

    def choice(self) -> None:
        self.options = replace(self.options, tool_choice=self.draw.choice([None, ToolChoice("auto"), ToolChoice("required"), ToolChoice("none")]))

    def sampling(self) -> None:
        number = self.draw.choice([1, 1.0, True, 0.5, None])
        self.options = replace(self.options, sampling=replace(self.options.sampling, temperature=number))

    def fields(self) -> None:
        self.options = replace(self.options, extra=self.draw.choice([{}, {"user": "u"}, {"n": 1}, {"n": True}]))

    def streamed(self) -> None:
        self.options = replace(self.options, stream=not self.options.stream, parallel=self.draw.choice([None, False]))

    def refusing(self, route: Route) -> None:
        kind = self.draw.choice([Refusals(tools=True), Refusals(demands=frozenset({"required"}))])
        self.learned.note(route, route.model or "m", kind)

    def step(self, route: Route) -> Request:
        changes: list[Callable[[], None]] = [
            self.replaced, self.head, self.other_tools, self.tools_in_place, self.choice, self.sampling, self.fields,
            self.streamed, self.drop, self.stay, lambda: self.refusing(route),
        ]  # fmt: skip
        self.go_on()
        if self.draw.random() < 0.4:
            self.draw.choice(changes)()
        return replace(self.options, messages=tuple(self.said))


def sent(request: Request, route: Route, learned: Capabilities) -> bytes | str:
    """The body that a turn sends."""
    machine = turn(request, route, learned)
    try:
        effect: Any = next(machine)
        while not isinstance(effect, Open):
            effect = machine.send(None)
    except UsageError as error:
        return repr(error)
    finally:
        machine.close()
    return effect.body


def cold(request: Request, route: Route, learned: Capabilities) -> bytes | str:
    """The same by the stages and the codec alone, of values that nobody has seen."""
    messages = repair([Message(one.role, one.parts, cache=one.cache, metadata=one.metadata) for one in request.messages]).messages
    assert type(messages) is not Grown  # of which something would be known
    asked = replace(request, model=route.model or request.model, messages=messages, tools=sound_tools(list(request.tools))[0])
    refused = learned.refused(route, asked.model)
    text = route.mode is Tools.TEXT or (route.mode is Tools.BOTH and refused.tools)
    try:
        return _encoded(planned(asked, route, text=text, refused=refused))
    except UsageError as error:
        return repr(error)


@pytest.mark.parametrize("name", ROUTES)
def test_a_turn_is_sent_as_if_nothing_were_known(name: str) -> None:
    for seed in range(6):
        talk = Talk(seed)
        for _ in range(12):
            request = talk.step(ROUTES[name])
            assert sent(request, ROUTES[name], talk.learned) == cold(request, ROUTES[name], talk.learned), (seed, request)


def test_two_conversations_that_share_a_beginning_go_on_each_by_itself() -> None:
    for name, route in ROUTES.items():
        one = Talk(1)
        other = Talk(1)
        other.said, other.options, other.learned = one.said, one.options, one.learned
        other.draw.seed(2)
        for talk in (one, other, one, other, other, one):
            talk.go_on()
            request = replace(talk.options, messages=tuple(talk.said))
            assert sent(request, route, talk.learned) == cold(request, route, talk.learned), name


@pytest.mark.parametrize("other", [1.0, True])
def test_options_that_are_equal_and_are_not_written_alike_are_sent_as_they_are(other: Any) -> None:
    route, learned = ROUTES["openai_chat None"], Capabilities()
    for number in (1, 1, 1, other, 1):
        request = Request(model="m", messages=(Message("user", "Hi"),), sampling=Sampling(temperature=number))
        assert sent(request, route, learned) == cold(request, route, learned)


@pytest.mark.parametrize(("name", "field", "word"), [
    ("openai_responses None", "strict", b'"strict":0'), ("openai_chat text", "parallel", b"at most one tool"),
])  # fmt: skip
def test_zero_is_not_known_again_as_false(name: str, field: str, word: bytes) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string"}}}
    written = []
    for off in (False, False, False, 0, 0, 0):
        tool = Tool(name="look", parameters=schema, strict=off if field == "strict" else False)  # type: ignore[arg-type]
        parallel: Any = off if field == "parallel" else None
        request = Request(model="m", messages=(Message("user", "Hi"),), tools=(tool,), parallel=parallel)
        written.append(sent(request, ROUTES[name], Capabilities()))
    first, *_, last = [word in body for body in written]
    assert [word in body for body in written] == [first] * 3 + [last] * 3
    assert first != last
