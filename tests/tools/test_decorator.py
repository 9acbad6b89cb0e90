"""Functions of every kind become tools: their schema, their words, and calls with Python values."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import functools
import sys
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, assert_type

import pydantic
import pytest
import typing_extensions as te

from dragoman import Tool, ToolCall, ToolError, UsageError
from dragoman.tools import Approval, Context, Runnable, ToolSet, runnable, tool

if TYPE_CHECKING:
    from decimal import Decimal


def context(report: Callable[[str], None] = lambda text: None) -> Context:
    return Context(call=ToolCall(id="c1", name="t"), key="run/c1", report=report)


def call(what: Any, /, **arguments: Any) -> Any:
    """What a tool answers to JSON arguments that fit its schema."""
    made = runnable(what)
    assert made.faults(arguments) == []
    value = made.function(arguments, context())
    return asyncio.run(settled(value)) if isinstance(value, Awaitable) else value


async def settled(value: Awaitable[Any]) -> Any:
    return await value


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@dataclass
class Place:
    city: str
    country: str = "FR"


@tool(read_only=True, timeout=5)
def weather(place: Place, day: dt.date, unit: Unit = Unit.METRIC, *, hours: Annotated[int, "how many"] = 24) -> str:
    """Tell the weather.

    From the nearest station.

    Args:
        place: Where.
        day: When; not too far ahead.
        hours: Not shown: what stands at the annotation goes first.

    Returns:
        A sentence.
    """
    return f"{place!r} {day!r} {unit} {hours}"


def test_types_and_docstring_become_the_definition() -> None:
    assert runnable(weather).tool == Tool(
        name="weather",
        description="Tell the weather.\n\nFrom the nearest station.\n\nReturns: A sentence.",
        parameters={
            "type": "object",
            "properties": {
                "place": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "country": {"type": "string", "default": "FR"}},
                    "required": ["city"],
                    "additionalProperties": False,
                    "description": "Where.",
                },
                "day": {"type": "string", "format": "date", "description": "When; not too far ahead."},
                "unit": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
                "hours": {"type": "integer", "description": "how many", "default": 24},
            },
            "required": ["place", "day"],
            "additionalProperties": False,
        },
    )


def test_the_function_gets_values_of_its_types() -> None:
    answer = call(weather, place={"city": "Lyon"}, day="2024-05-31", unit="imperial")
    assert answer == "Place(city='Lyon', country='FR') datetime.date(2024, 5, 31) Unit.IMPERIAL 24"


def test_values_the_types_refuse_never_reach_the_function() -> None:
    arguments = {"place": {"city": "Lyon"}, "day": "2024-05-32"}
    [fault] = runnable(weather).faults(arguments)
    assert fault.path == "$.day"
    with pytest.raises(ToolError) as raised:
        runnable(weather).function(arguments, context())
    assert raised.value.code == "InvalidArgs"
    assert "$.day" in str(raised.value)
    assert runnable(weather).faults({"day": 1})[0].keyword == "required"


def test_a_marked_function_is_itself() -> None:
    def plus(a: int, b: int = 1) -> int:
        return a + b

    assert tool(plus) is plus
    assert tool(name="add")(plus) is plus
    assert plus(1) == 2


def test_type_checkers_see_no_change() -> None:
    @tool
    def one(a: int) -> str:
        return str(a)

    @tool(final=True)
    async def two(a: int, *, b: str = "") -> bytes:
        return b""

    assert_type(one(1), str)
    text: Callable[[int], str] = one
    assert_type(tool(text), Callable[[int], str])
    if TYPE_CHECKING:
        one("x")  # type: ignore[arg-type]
        assert_type(asyncio.run(two(1, b="x")), bytes)


def test_options_are_kept() -> None:
    options: dict[str, Any] = {
        "read_only": True,
        "idempotent": True,
        "timeout": 2.5,
        "approval": Approval.ALWAYS,
        "final": True,
    }

    @tool(name="other", description="Told.", strict=True, **options)
    def plain(a: int) -> int:
        """Not told."""
        return a

    found = runnable(plain)
    assert (found.tool.name, found.tool.description, found.tool.strict) == ("other", "Told.", True)
    assert {key: getattr(found, key) for key in options} == options
    assert runnable(plain, name="third", timeout=1.0).timeout == 1.0
    assert runnable(plain) == runnable(plain)
    assert runnable(found, final=False).final is False


# ── every kind of function ───────────────────────────────────────────────────


def every(a: int, /, b: Place, c: str = "c", *rest: float, d: Unit, **more: bool) -> Any:
    return a, b, c, rest, d, more


class Options(TypedDict, total=False):
    """Options.

    Attributes:
        depth: How deep.
    """

    depth: te.Required[int]
    wide: bool


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    @tool(read_only=True)
    def price(self, item: str) -> str:
        """Ask for a price."""
        return f"{self.name}: {item}"

    @tool
    @classmethod
    def branches(cls, near: Place) -> str:
        return f"{cls.__name__} {near.city}"

    @tool
    @staticmethod
    def hours(day: Literal["mon", "sun"]) -> str:
        return day

    def private(self) -> None: ...


class Repeat:
    """Repeats a word."""

    def __call__(self, word: str, times: int = 2) -> str:
        return word * times


def test_every_kind_of_parameter_is_given_its_way() -> None:
    given = {"a": 1, "b": {"city": "Rome"}, "d": "metric", "rest": [1, 2.5], "loud": True}
    assert call(every, **given) == (1, Place("Rome"), "c", (1.0, 2.5), Unit.METRIC, {"loud": True})
    assert call(every, a=1, b={"city": "Rome"}, d="metric") == (1, Place("Rome"), "c", (), Unit.METRIC, {})
    schema = runnable(every).tool.parameters
    assert schema["required"] == ["a", "b", "d"]
    assert schema["properties"]["rest"] == {"type": "array", "items": {"type": "number"}}
    assert schema["additionalProperties"] == {"type": "boolean"}
    assert runnable(every).faults({**given, "loud": 3})[0].path == "$.loud"


def test_unpacked_keyword_arguments_are_parameters() -> None:
    def search(query: str, **options: te.Unpack[Options]) -> Any:
        return query, options

    schema = runnable(search).tool.parameters
    assert schema["required"] == ["query", "depth"]
    assert schema["properties"]["depth"]["description"] == "How deep."
    assert call(search, query="a", depth=1) == ("a", {"depth": 1})


def test_methods_are_tools_of_their_object() -> None:
    shop = Shop("Harrods")
    tools = ToolSet.of(shop)
    assert list(tools) == ["price", "branches", "hours"]
    assert tools["price"].read_only
    assert call(tools["price"], item="tea") == "Harrods: tea"
    assert call(shop.price, item="tea") == "Harrods: tea"
    assert call(tools["branches"], near={"city": "Bath"}) == "Shop Bath"
    assert call(tools["hours"], day="sun") == "sun"
    assert call(Shop.hours, day="sun") == "sun"
    with pytest.raises(UsageError, match="method of an object"):
        runnable(Shop.price)


def test_objects_that_can_be_called_are_tools() -> None:
    assert runnable(Repeat()).tool.name == "repeat"
    assert runnable(Repeat()).tool.description == "Repeats a word."
    assert call(Repeat(), word="a", times=3) == "aaa"


def test_what_a_partial_fixes_is_not_told() -> None:
    def post(text: str, channel: str, token: str) -> str:
        """Post a text."""
        return f"{text} {channel} {token}"

    fixed = functools.partial(post, token="s3cr3t")
    assert list(runnable(fixed).tool.parameters["properties"]) == ["text", "channel"]
    assert "s3cr3t" not in repr(runnable(fixed).tool)
    assert runnable(fixed).tool.description == "Post a text."
    assert call(fixed, text="a", channel="b") == "a b s3cr3t"
    assert call(functools.partial(post, "x"), channel="b", token="c") == "x b c"
    assert runnable(functools.partial(weather, hours=3)).timeout == 5


def test_a_wrapped_function_is_described_by_what_it_wraps() -> None:
    def logged(function: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> str:
            return "logged " + function(*args, **kwargs)

        return inner

    assert call(logged(weather), place={"city": "A"}, day="2024-05-31").startswith("logged Place")


def test_classes_are_tools_that_make_their_objects() -> None:
    assert call(Place, city="Rome") == Place("Rome")


def test_a_tool_of_a_module_is_found_in_it() -> None:
    module = types.ModuleType("things")
    vars(module).update(weather=weather, helper=call, price=Shop("a").price)
    assert list(ToolSet.of(module)) == ["weather", "price"]
    assert "weather" in ToolSet.of(sys.modules[__name__])


def test_async_functions_and_generators_come_to_one_value() -> None:
    reported: list[str] = []

    async def later(a: int) -> int:
        await asyncio.sleep(0)
        return a + 1

    def lines(n: int) -> Iterator[str]:
        yield from (f"line {i}\n" for i in range(n))

    def steps() -> Any:
        yield "working"
        return {"done": True}

    async def numbers() -> AsyncIterator[int]:
        for i in range(3):
            yield i

    async def generator() -> Any:
        return lines(1)

    assert call(later, a=1) == 2
    assert call(lines, n=2) == "line 0\nline 1\n"
    assert call(numbers) == [0, 1, 2]
    assert call(generator) == "line 0\n"
    assert runnable(steps).function({}, context(reported.append)) == {"done": True}
    assert reported == ["working"]


# ── parameters ───────────────────────────────────────────────────────────────


def test_a_context_is_given_and_not_told() -> None:
    @tool
    def effect(a: int, context: Context, other: Context | None = None) -> str:
        context.report("begun")
        assert other is context
        return f"{a} {context.key} {context.call.id}"

    assert list(runnable(effect).tool.parameters["properties"]) == ["a"]
    assert call(effect, a=1) == "1 run/c1 c1"
    assert runnable(effect).faults({"a": 1, "context": {}}) != []


def test_types_in_the_docstring_and_of_defaults_will_do() -> None:
    def old(a, b=3, c=None):  # type: ignore[no-untyped-def]
        """Old code.

        :param str a: A.
        :param c: C.
        :type c: list of str
        """
        return a, b, c

    assert runnable(old).tool.parameters["properties"] == {
        "a": {"type": "string", "description": "A."},
        "b": {"type": "integer", "default": 3},
        "c": {"type": "array", "items": {"type": "string"}, "description": "C.", "default": None},
    }


def test_pydantics_field_as_a_default_says_type_limit_and_default() -> None:
    def find(query: str = pydantic.Field(description="What."), limit: int = pydantic.Field(5, ge=1)) -> Any:
        return query, limit

    schema = runnable(find).tool.parameters
    assert schema["properties"] == {
        "query": {"type": "string", "description": "What."},
        "limit": {"type": "integer", "minimum": 1, "default": 5},
    }
    assert schema["required"] == ["query"]
    assert call(find, query="a") == ("a", 5)


def test_long_secret_and_odd_defaults_are_not_shown() -> None:
    def f(a: str = "x" * 900, b: str = "sk-abcdefghijklmnop", c: Any = object()) -> None: ...  # noqa: B008

    assert [list(p) for p in runnable(f).tool.parameters["properties"].values()] == [["type"], ["type"], []]


def test_arguments_are_the_tools_own_to_change() -> None:
    given = {"items": [1, 2], "raw": {"a": [1]}}

    def spoil(items: list[int], raw: dict[str, Any]) -> None:
        items.append(3)
        raw["a"].append(2)

    call(spoil, **given)
    assert given == {"items": [1, 2], "raw": {"a": [1]}}


def test_paths_are_paths() -> None:
    def read(path: Path) -> str:
        return path.suffix

    assert call(read, path="/a/b.txt") == ".txt"


# ── a schema of one's own ────────────────────────────────────────────────────

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}


def test_a_given_schema_is_told_as_it_is() -> None:
    @tool(parameters=SCHEMA)
    def scale(x, y=2):  # type: ignore[no-untyped-def]
        """Scale."""
        return x * y

    assert runnable(scale).tool == Tool(name="scale", description="Scale.", parameters=SCHEMA)
    assert call(scale, x=3) == 6
    assert runnable(scale).faults({"x": "a"}) != []


def test_a_definition_and_a_function_make_a_tool() -> None:
    definition = Tool(name="raw", description="Raw.", parameters=SCHEMA)
    seen: list[Any] = []

    def take(arguments: dict[str, Any], context: Context) -> str:
        seen.append(context)
        arguments["new"] = 1
        return str(sorted(arguments))

    given = {"x": 1}
    assert runnable((definition, take)).tool is definition
    assert runnable((definition, take)).function(given, context()) == "['new', 'x']"
    assert given == {"x": 1}
    assert isinstance(seen[0], Context)
    wire: dict[str, Any] = {
        "type": "function",
        "function": {"name": "raw", "description": "Raw.", "parameters": SCHEMA},
    }
    assert runnable((wire, take)).tool == definition
    assert call((definition, lambda **arguments: arguments), x=1, y=2) == {"x": 1, "y": 2}


def test_a_context_is_given_beside_types_nobody_knows() -> None:
    def take(arguments: Decimal, context: Context) -> str:
        return context.key

    assert runnable((Tool(name="t", parameters=SCHEMA), take)).function({"x": 1}, context()) == "run/c1"


# ── mistakes ─────────────────────────────────────────────────────────────────


def no_type(a): ...  # type: ignore[no-untyped-def]
def no_json(a: int, b: complex) -> None: ...
def no_name(a: Decimal) -> None: ...
def odd(a: "int +") -> None: ...  # type: ignore[valid-type]  # noqa: F722


MISTAKES: list[tuple[Any, list[str]]] = [
    (no_type, ["no_type", "'a'", "a: str"]),
    (no_json, ["no_json", "'b'", "complex", "parameters="]),
    (no_name, ["no_name", "'a'", "Decimal", "TYPE_CHECKING"]),
    (odd, ["odd", "'a'", "write a type"]),
    (lambda a: a, ["name="]),
    (vars, ["vars", "parameters="]),
    (3, ["int", "give a function", "ToolSet.of"]),
    ((Tool(name="t"), 3), ["'t'", "a function"]),
    ((Tool(name="t", parameters={"type": "nothing"}), print), ["'t'", "type"]),
    ((Tool(name="t", parameters=SCHEMA), lambda x: x), ["'y'", "parameter"]),
    ((Tool(name="t", parameters=SCHEMA), lambda x, y, z: x), ["'y', 'z'", "require"]),
]


@pytest.mark.parametrize(("what", "words"), MISTAKES, ids=[str(row[1][0]) for row in MISTAKES])
def test_a_mistake_is_told_with_what_to_do(what: Any, words: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        runnable(what)
    assert [word for word in words if word not in str(raised.value)] == []


def test_mistakes_show_where_the_function_is_marked() -> None:
    with pytest.raises(UsageError, match="'b'"):
        tool(no_json)
    with pytest.raises(UsageError, match="no option 'readonly'"):
        tool(readonly=True)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="complex"):

        class Bad:
            @tool
            def method(self, a: complex) -> None: ...

    with pytest.raises(UsageError, match="cannot be marked"):
        tool(parameters={"type": "object", "properties": {"x": {}}, "required": ["x"]})(abs)


def test_mistakes_about_runnables_are_told() -> None:
    made = Runnable(tool=Tool(name="hand"), function=lambda arguments, context: None)
    with pytest.raises(UsageError, match="seconds above 0"):
        runnable(made, timeout=0)
    with pytest.raises(UsageError, match=r"\(Tool, function\)"):
        runnable(made, parameters=SCHEMA)
    with pytest.raises(UsageError, match="runnable"):
        tool(3)  # type: ignore[call-overload]


def test_a_runnable_may_be_written_by_hand() -> None:
    made = Runnable(tool=Tool(name="hand"), function=lambda arguments, context: dict(arguments))
    assert runnable(made) is made
    assert made.faults({"a": 1}) == []
