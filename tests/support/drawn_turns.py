"""Clients drawn by number: conversations that go on, are changed and come again, over every API and way of tools.

What is drawn is small in its words, so that conversations, tools and options of several clients are often equal, or
equal and not written alike.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any, TypeAlias

from dragoman.codecs.shared.spec import WireFields
from dragoman.effects import NewId, Now, Open
from dragoman.errors import DragomanError
from dragoman.gateway.straight import straight
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.turn.capabilities import Capabilities, Refusals
from dragoman.turn.machine import turn
from dragoman.turn.tool_support import Finding, Support
from dragoman.types import (
    EMPTY_OBJECT_SCHEMA,
    Media,
    Message,
    OutputSchema,
    Reasoning,
    Request,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)


class Level(IntEnum):
    """Numbers of a kind of their own, equal to others."""

    NONE = 0
    ONE = 1


class Word(str):
    """Texts of a kind of their own, equal to others."""

    __slots__ = ()


APIS = ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat", "gemini")
NAMED = (
    ("anthropic", "claude-sonnet-4-5"), ("anthropic", "claude-opus-4-6"), ("mistral", "mistral-large"), ("openai", "gpt-5"),
    ("deepseek", "deepseek-reasoner"), ("deepseek", "deepseek-chat"), ("gemini", "gemini-3-pro"), ("gemini", "gemini-2.5-flash"),
    ("moonshot", "kimi-k2"), ("openrouter", "anthropic/claude-opus-4"), ("ollama", "llama3.1"), ("groq", "openai/gpt-oss-120b"),
)  # fmt: skip


def _routes() -> dict[str, Route]:
    made: dict[str, Route] = {}
    for api in APIS:
        there = Route(provider=COMPATIBLE[api], base_url="http://model.test", key="k")
        ways: dict[str, dict[str, Any]] = {
            "": {}, "native": {"tools": Tools.NATIVE}, "text": {"tools": Tools.TEXT}, "nonce": {"tools": Tools.TEXT, "nonce": True},
            "compact": {"tools": Tools.TEXT, "compact": True}, "streamed": {"stream": True},
            "fields": {"fields": {"user": "u", "temperature": 1}}, "named": {"model": "other"},
        }  # fmt: skip
        made |= {f"{api} {way}": replace(there, **told) for way, told in ways.items()}
    for name, model in NAMED:
        if name in PROVIDERS:
            row = PROVIDERS[name]
            made |= {f"{name} {model}{way}": Route(provider=row, base_url="http://model.test", key="k", model=model, tools=way)
                     for way in (None, Tools.TEXT)}  # fmt: skip
    return made


ROUTES = _routes()
WORDS = ("look", "naïve", "x\u2028y", "null", "a\nb", "\x7f", "NaN", '"q"', "🙂", "a longer line of words ", "x" * 9000)
ONES: tuple[Any, ...] = (
    1, 1.0, True, Level.ONE, "1", None, [1], (1,), {"b": 1, "a": 2}, {"a": 2, "b": 1}, -0.0, 0.0, 0, False, 2**70,
    {"a": 1}, {"a": True}, {"a": [1.0]}, "", Word("1"),
)  # fmt: skip
"""Values of which some are equal, and are not written alike."""
NUMBERS: tuple[Any, ...] = (1, 1.0, True, Level.ONE, 0.0, -0.0, 0, False, 0.5, None)
SWITCHES: tuple[Any, ...] = (None, False, 0, True, 1)
FINDINGS = (
    Finding(Support.READ), Finding(Support.IGNORED, 10.0, "counts"), Finding(Support.SUSPECTED, 10.0),
    Finding(Support.CLEARED, 0.0),
)  # fmt: skip


Lesson: TypeAlias = tuple[str, str, str, Any]
"""What was learnt: its kind, the name of the route and of the model that it was learnt of, and what."""


def taught(lessons: Sequence[Lesson], learned: Capabilities) -> Capabilities:
    """`learned`, which has learnt all this."""
    for kind, name, model, what in lessons:
        route = ROUTES[name]
        match kind:
            case "refused":
                learned.note(route, model, what)
            case "habit":
                learned.confirm(route, model, [what])
            case "support":
                learned.support.note(route.root(), model, what)
            case _:
                asked, answer = what
                for _ in learned.reasoning.remember(asked, answer):
                    pass
    return learned


class Talk:
    """A client and its conversation, which goes on, and which it changes now and then."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.calls = 0
        self.said: list[Message] = [Message("system", self.text())] * draw.choice([0, 1, 1, 2])
        self.listed = draw.random() < 0.1
        self.options = Request(model="m", tools=self.tools(), sampling=Sampling(max_tokens=100), stream=draw.random() < 0.5)
        for _ in range(draw.randint(0, 5)):
            self.said += self.round()

    def like(self) -> Talk:
        """Another client that goes on from here."""
        other = copy.copy(self)
        other.said = [*self.said]
        return other

    # ── values ───────────────────────────────────────────────────────────────

    def text(self) -> str:
        made = "".join(self.draw.choices(WORDS[:-1], k=self.draw.randint(1, 3)))
        return WORDS[-1] if self.draw.random() < 0.02 else Word(made) if self.draw.random() < 0.02 else made

    def schema(self) -> Any:
        if self.draw.random() < 0.1:
            return EMPTY_OBJECT_SCHEMA
        at = {"type": "string", **({"default": self.draw.choice(ONES)} if self.draw.random() < 0.3 else {})}
        return {"type": "object", "properties": {"at": at}, "required": ["at"]}

    def tools(self) -> tuple[Tool, ...]:
        names = self.draw.sample(("look", "ask", "odd.näme"), self.draw.choice([0, 1, 2, 2, 3]))
        return tuple([
            Tool(name=name, description=self.draw.choice(["", "Look.", "x"]), parameters=self.schema(),
                 strict=self.draw.choice([False] * 8 + [True, 1, 0]),  # type: ignore[arg-type]
                 metadata=self.draw.choice([{}] * 12 + [WireFields("openai_chat", {"note": 1}), {"note": 2}]))
            for name in names
        ])  # fmt: skip

    def round(self) -> list[Message]:
        """What is said next: nearly always in order."""
        ids = [f"call_{self.calls + n}" for n in range(self.draw.choice([0, 0, 1, 1, 2]))]
        self.calls += len(ids)
        made = [ToolCall(id=one, name="look", arguments={"at": self.text(), "n": self.draw.choice(ONES)}, raw=self.raw()) for one in ids]
        answered = [ToolResult(call_id=one, name="look", content=self.text(), is_error=self.draw.random() < 0.1) for one in ids]
        thought = [Reasoning(self.text(), metadata=self.draw.choice([{}, {"signature": "s"}]))] if self.draw.random() < 0.07 else []
        words = Message("assistant", [*thought, *([Text(self.text())] if self.draw.random() < 0.7 or not made else []), *made])
        ended = [Message("tool", answered)] if answered else []
        odd = self.odd() if self.draw.random() < 0.05 else []
        asked = [Message("user", self.text())] if self.draw.random() < 0.7 or not made else []
        return [*asked, words, *ended, *odd, *([Message("user", self.text())] if self.draw.random() < 0.5 else [])]

    def raw(self) -> str | None:
        return self.draw.choice([None, None, None, '{"at": "x"}', '{"at":"x"}'])

    def odd(self) -> list[Message]:
        return [self.draw.choice([
            Message("system", self.text()), Message("user", " "), Message("user", self.text(), cache=True),
            Message("user", [Text("See"), Media(mime="image/png", data="aGk=")]), Message("user", [Text("a"), Text("b")]),
            Message("user", [Text("x", metadata=WireFields("openai_chat", {"note": 1}))]),
            Message("user", [Text("x", metadata=WireFields("anthropic_messages", {"citations": []}))]),
            Message("tool", [ToolResult(call_id="nobody", content="x")]), Message("user", "look", cache=1),  # type: ignore[arg-type]
            Message("user", []), Message("assistant", [ToolCall(id="", name="look")]),
        ])]  # fmt: skip

    # ── what changes in the conversation ─────────────────────────────────────

    def stay(self) -> None:
        pass

    def drop(self) -> None:
        self.said = self.said[: max(len(self.said) - self.draw.randint(1, 3), 0)] + self.round()

    def removed(self) -> None:
        if self.said:
            del self.said[self.draw.randrange(len(self.said))]

    def swapped(self) -> None:
        if len(self.said) > 1:
            one, other = self.draw.sample(range(len(self.said)), 2)
            self.said[one], self.said[other] = self.said[other], self.said[one]

    def replaced(self) -> None:
        """One message in the middle says something else, or the same in other bytes."""
        if not self.said:
            return
        at = self.draw.randrange(len(self.said))
        old = self.said[at]
        parts = [replace(part, arguments={**part.arguments, "n": self.draw.choice(ONES)}, raw=self.raw()) if type(part) is ToolCall
                 else replace(part, text=self.draw.choice([part.text, Word(part.text), self.text()])) if type(part) is Text
                 else replace(part, is_error=self.draw.choice(SWITCHES)) if type(part) is ToolResult else part
                 for part in old.parts]  # fmt: skip
        self.said[at] = Message(old.role, parts, cache=self.draw.choice([old.cache] * 3 + [True]), metadata=old.metadata)

    def anew(self) -> None:
        """The same in other objects."""
        self.said = copy.deepcopy(self.said)

    def head(self) -> None:
        first = [Message("system", self.text())] * self.draw.randint(0, 2)
        self.said = [*first, *(one for one in self.said if one.role != "system")]

    # ── what changes in what is asked ────────────────────────────────────────

    def other_tools(self) -> None:
        self.options = replace(self.options, tools=self.tools())

    def tools_in_place(self) -> None:
        for tool in self.options.tools:
            properties: Any = tool.parameters["properties"]
            if type(properties) is not dict:
                continue
            if self.draw.random() < 0.5:
                properties[f"p{self.draw.randint(0, 2)}"] = {"type": "string", "default": self.draw.choice(ONES)}
            else:
                properties["at"] = {**properties.pop("at"), "default": self.draw.choice(ONES)}

    def equal_tools(self) -> None:
        """The same tools as others, in another order, or each almost itself."""
        made = [replace(tool, parameters=self._respelled(tool.parameters), strict=self.draw.choice([tool.strict, int(tool.strict)]))  # type: ignore[arg-type]
                for tool in self.options.tools]  # fmt: skip
        self.options = replace(self.options, tools=tuple(self.draw.sample(made, len(made))))

    def _respelled(self, schema: Any) -> Any:
        if self.draw.random() < 0.5 or schema is EMPTY_OBJECT_SCHEMA:
            return copy.deepcopy(schema)
        return dict(reversed([*copy.deepcopy(schema).items()]))

    def listed_tools(self) -> None:
        self.options = replace(self.options, tools=self.draw.choice([list, tuple])(self.options.tools))

    def choice(self) -> None:
        choices = [None, ToolChoice("auto"), ToolChoice("required"), ToolChoice("none"), ToolChoice("named", "look"),
                   ToolChoice("auto", "", ("look",)), ToolChoice("auto", "", ["look"])]  # type: ignore[arg-type]  # fmt: skip
        self.options = replace(self.options, tool_choice=self.draw.choice(choices))

    def sampling(self) -> None:
        names = ("temperature", "temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty", "max_tokens")
        changes: dict[str, Any] = {self.draw.choice(names): self.draw.choice(NUMBERS)}
        if self.draw.random() < 0.2:
            changes["stop"] = self.draw.choice([(), [], ("a",), ["a"], (Word("a"),)])
        self.options = replace(self.options, sampling=replace(self.options.sampling, **changes))

    def thinking(self) -> None:
        effort, budget = self.draw.choice([(None, None), ("high", None), ("none", None), (None, 1024), (None, 0), (None, False)])
        self.options = replace(self.options, sampling=replace(self.options.sampling, effort=effort, thinking_budget=budget))

    def fields(self) -> None:
        made = self.draw.choice([{}, {"user": "u"}, {"n": self.draw.choice(ONES)}, {"a": 1, "b": 2}, {"b": 2, "a": 1},
                                 {"thinking": {"type": "enabled", "budget_tokens": 1024}}])  # fmt: skip
        self.options = replace(self.options, extra=WireFields(self.draw.choice(APIS), made) if self.draw.random() < 0.5 else made)

    def fields_in_place(self) -> None:
        extra: Any = self.options.extra
        if type(extra) in (dict, WireFields):
            extra[self.draw.choice("nm")] = self.draw.choice(ONES)

    def output(self) -> None:
        one = {"type": "object", "properties": {"a": {"const": self.draw.choice(ONES)}}, "required": ["a"]}
        made = [None, None, OutputSchema(), OutputSchema(schema=one), OutputSchema(schema=one, name="r", strict=True)]
        self.options = replace(self.options, output_schema=self.draw.choice(made))

    def switches(self) -> None:
        self.options = replace(self.options, stream=self.draw.choice(SWITCHES[1:]), parallel=self.draw.choice(SWITCHES))

    def model(self) -> None:
        self.options = replace(self.options, model=self.draw.choice(["m", "m", "n", "claude-sonnet-4-5", "gpt-oss", Word("m")]))

    def step(self) -> Request:
        """What is asked next."""
        if self.draw.random() < 0.85:
            self.said = self.said + self.round() if self.draw.random() < 0.8 or not self.listed else self.said.__iadd__(self.round())
        while self.draw.random() < 0.35:
            self.draw.choice(CHANGES)(self)
        return replace(self.options, messages=self.said if self.listed else tuple(self.said))  # type: ignore[arg-type]


CHANGES: Sequence[Callable[[Talk], None]] = (
    Talk.stay, Talk.drop, Talk.removed, Talk.swapped, Talk.replaced, Talk.anew, Talk.head, Talk.other_tools, Talk.tools_in_place,
    Talk.equal_tools, Talk.listed_tools, Talk.choice, Talk.sampling, Talk.sampling, Talk.thinking, Talk.fields, Talk.fields_in_place,
    Talk.output, Talk.switches, Talk.model,
)  # fmt: skip


class Drawn:
    """Turns of up to three clients, drawn by number, on one or two routes; what is learnt on the way holds for all."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.talks = [Talk(draw)]
        self.routes = draw.sample([*ROUTES], draw.choice([1, 1, 1, 2]))
        self.lessons: list[Lesson] = []

    def step(self) -> tuple[Request, str]:
        """What is asked next, and on which route."""
        draw = self.draw
        if len(self.talks) < 3 and draw.random() < 0.1:
            self.talks.append(draw.choice(self.talks).like())
        talk, name = draw.choice(self.talks), draw.choice(self.routes)
        if draw.random() < 0.06:
            self.learn(talk, name)
        return talk.step(), name

    def learn(self, talk: Talk, name: str) -> None:
        """Something is learnt of the model."""
        draw, model = self.draw, ROUTES[name].model or talk.options.model
        refusals = [Refusals(tools=True), Refusals(demands=frozenset({"required"})), Refusals(constraint=True)]
        called = [at for at, one in enumerate(talk.said) if one.calls]
        lessons: list[tuple[str, Any]] = [
            ("refused", draw.choice(refusals)), ("habit", draw.choice(["tagged", "fence"])), ("support", draw.choice(FINDINGS)),
        ]  # fmt: skip
        if called:
            thought, at = Reasoning("Hm.", metadata={"signature": "z"}), draw.choice(called)
            lessons.append(("reasoning", (talk.said[:at], Message("assistant", [thought, *talk.said[at].parts]))))
        kind, what = draw.choice(lessons)
        self.lessons.append((kind, name, model, what))


def sent(request: Request, route: Route, learned: Capabilities) -> Any:
    """What goes out: address, headers and body; the error where nothing does."""
    machine: Any = turn(request, route, learned) if request.stream else straight(request, route, learned, lambda: None)
    reply: Any = None
    try:
        while True:
            effect = machine.send(reply)
            if isinstance(effect, Open):
                return effect.url, sorted(effect.headers.items()), effect.body
            reply = "abcdefghij" if isinstance(effect, NewId) else 5.0 if isinstance(effect, Now) else None
    except StopIteration as done:
        return type(done.value).__name__
    except (DragomanError, TypeError, AttributeError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        machine.close()
