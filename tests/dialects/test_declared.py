"""Tool sets: prepared once however often they are given, found by name whatever their number, never out of date."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from dragoman import Parser, parse
from dragoman.dialects.judge.declared import Declared, declared
from dragoman.types import Tool


def definition(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {"a": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def many(count: int, tag: str) -> list[dict[str, Any]]:
    return [definition(f"tool_{tag}_{n}") for n in range(count)]


def best_of(times: int, work: Callable[[int], object]) -> float:
    """Seconds of this thread on the processor, which others of a busy machine do not add to."""

    def taken(n: int) -> float:
        began = time.thread_time()
        work(n)
        return time.thread_time() - began

    return min(taken(n) for n in range(times))


@pytest.mark.parametrize(("count", "seconds"), [(10, 0.001), (200, 0.005), (10_000, 0.1)])
def test_a_parser_for_new_tools_costs_little(count: int, seconds: float) -> None:
    sets = [many(count, f"{count}_{n}") for n in range(4)]
    Parser(tools=many(1, "first"))
    assert best_of(4, lambda n: Parser(tools=sets[n])) < seconds


def test_the_same_dictionaries_are_read_once() -> None:
    tools = many(3, "once")
    assert declared(tools) is declared(tools)
    assert declared(tools) is declared(list(tools))


def test_a_dictionary_changed_in_place_is_read_again() -> None:
    tools = [definition("read")]
    assert [c.name for c in parse("<read>\n<a>x</a></read>", tools=tools, dialects="cline").calls] == ["read"]
    tools[0]["function"]["name"] = "load"
    assert [c.name for c in parse("<load>\n<a>x</a></load>", tools=tools, dialects="cline").calls] == ["load"]


def test_a_schema_put_in_place_of_another_counts() -> None:
    tools = [definition("read")]
    text = '<tool_call>{"name": "read", "arguments": {"n": "5"}}</tool_call>'
    parse(text, tools=tools)
    tools[0]["function"]["parameters"] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert parse(text, tools=tools).calls[0].arguments == {"n": 5}


def test_names_are_found_by_their_beginning() -> None:
    names = Declared({n: Tool(name=n) for n in ("get_weather", "get_time", "Send")})
    begins = ("", "get", "get_t", "send", "functions.", "functions.get_w", "func", "default_api.S")
    assert all(map(names.may_begin, begins))
    assert not any(map(names.may_begin, ("got", "get_weathers", "functions.x")))


@pytest.mark.parametrize("written", ["get_weather", "get\\_weather", "functions.get_weather", "default_api:get_weather"])
def test_a_name_is_found_under_its_notation(written: str) -> None:
    assert Declared({"get_weather": Tool(name="get_weather")}).meant(written) == "get_weather"
