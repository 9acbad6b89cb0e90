"""Dialects by their names, and what is no text: told in words, with what to do, wherever a caller may err."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import dragoman
from dragoman import Parser, Policy, ToolCall, UsageError, augment_system_prompt, extract, parse, render, tool_prompt
from dragoman.dialects import DIALECTS
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS

TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}]
CALL = ToolCall(id="c", name="look", arguments={"at": "sky"})
PLACES: dict[str, Callable[[Any], Any]] = {
    "render": lambda dialect: render([CALL], dialect),
    "tool_prompt": lambda dialect: tool_prompt(TOOLS, dialect=dialect),
    "augment_system_prompt": lambda dialect: augment_system_prompt("Be brief.", TOOLS, dialect=dialect),
    "parse": lambda dialect: parse("Hi.", tools=TOOLS, dialects=dialect),
    "Parser": lambda dialect: type(Parser(tools=TOOLS, dialects=dialect)),
    "extract": lambda dialect: extract({"text": "Hi."}, tools=TOOLS, dialects=dialect),
    "Policy": lambda dialect: Policy(dialect=dialect),
    "Route": lambda dialect: Route(provider=PROVIDERS["openai"], prompt_dialect=dialect).prompt_dialect_for("m"),
}
places = pytest.mark.parametrize("place", PLACES)


@places
def test_a_name_is_as_good_as_its_row(place: str) -> None:
    assert PLACES[place]("hermes") == PLACES[place](DIALECTS["hermes"])


@places
def test_an_unknown_name_is_told_with_those_that_are_near(place: str) -> None:
    with pytest.raises(UsageError, match="did you mean 'hermes'"):
        PLACES[place]("hermes2")


NO_TEXTS = [(None, "give an empty string"), (b"x", "decode them first"), (7, "not int"), ({"text": "x"}, "extract")]


@pytest.mark.parametrize(("given", "told"), NO_TEXTS, ids=[str(given) for given, _ in NO_TEXTS])
@pytest.mark.parametrize("read", [parse, lambda text: Parser().feed(text)], ids=["parse", "feed"])
def test_what_is_no_text_is_told_with_what_to_do(read: Callable[[Any], Any], given: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(given)


DESCRIBED = ["parse", "Parser", "extract", "render", "tool_prompt", "augment_system_prompt"]


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_help_of_a_function_says_what_every_argument_does(name: str) -> None:
    found = getattr(dragoman, name)
    words = (inspect.getdoc(found) or "").split()
    names = set(inspect.signature(found).parameters)
    assert [each for each in names if each not in {word.strip("`,;:.") for word in words}] == []
