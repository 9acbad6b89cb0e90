"""The quick lane says what the judges say, or nothing; and plain prose holds nothing that the parser would find."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.batch.formats.chat import BRANCHES
from dragoman.batch.formats.columns import RENAMED
from dragoman.batch.judging.in_text import is_plain
from dragoman.batch.judging.lane import Lane
from dragoman.batch.judging.row_judge import judge
from dragoman.batch.judging.toolset import toolset
from dragoman.batch.result import RowVerdict
from dragoman.batch.row_json import BadRow, loads
from dragoman.dialects.engine.parse import parse

from .corpora import TELLERS, chat, dialogue, functions, row


def agree(line: bytes, lane: Lane) -> bool:
    """Does the lane answer, and the same as the judges?"""
    said = lane.sound(line)
    if said is None:
        return False
    found = judge(line)
    assert found.form is not None, line
    assert (found.form.name, len(found.calls)) == said, line
    assert found.verdict is (RowVerdict.OK if said[1] else RowVerdict.NONE), (line, found.findings)
    assert not found.findings, (line, found.findings)
    assert not found.repairs
    return True


def test_the_lane_and_the_judges_say_the_same_of_every_corpus() -> None:
    lane = Lane()
    taken: Counter[str] = Counter()
    for teller in TELLERS:
        taken[teller.name] += sum(agree(row(teller, seed)[1], lane) for seed in range(60))
    assert taken["openai"] >= 60
    assert taken["trl"] > 0
    assert taken["hermes"] == taken["tau"] == 0


def sound(seed: int, **more: Any) -> dict[str, Any]:
    talk = dialogue(seed)
    return {"messages": chat(talk, text=bool(seed % 3)), "tools": functions(talk), **more}


def damage(row: Any, rnd: random.Random) -> None:
    """Change something somewhere, as damaged corpora are."""
    places: list[tuple[Any, Any]] = []
    waiting = [row]
    while waiting:
        one = waiting.pop()
        for key, value in one.items() if isinstance(one, dict) else enumerate(one):
            places.append((one, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    holder, key = rnd.choice(places)
    value = holder[key]
    choices: list[Any] = [None, "", [], {}, 1, True, [value], {"a": value}, "x", str(value), 1e30, 2**70, "<tool_call>"]
    act = rnd.randrange(4)
    if act == 0:
        del holder[key]
    elif act == 1 and isinstance(holder, dict):
        holder[rnd.choice(["name", "tools", "content", "weight", "system", "role", "input", "x"])] = rnd.choice(choices)
    elif act == 2 and isinstance(value, str) and value:
        at = rnd.randrange(len(value))
        holder[key] = value[:at] + rnd.choice(["", "'", '"', "}", "\\", "\n", ": ", "function", "get_alpha_0("]) + value[at + 1 :]
    else:
        holder[key] = rnd.choice(choices)


@pytest.mark.parametrize("start", range(4))
def test_damaged_rows_get_the_judges_word_or_none(start: int) -> None:
    lane, taken = Lane(), 0
    for seed in range(start * 400, start * 400 + 400):
        rnd = random.Random(seed)
        one = copy.deepcopy(sound(seed % 40))
        for _ in range(rnd.randint(1, 2)):
            damage(one, rnd)
        text = json.dumps(one, separators=(",", ":") if seed % 2 else None, ensure_ascii=bool(seed % 5))
        taken += agree(text.encode("utf-8", "surrogatepass"), lane)
    assert taken > 5


TWICE = [
    b'{"messages":%s,"tools":%s,"x":1,"x":2}', b'{"messages":%s,"x":1,"x" :2,"tools":%s}', b'{"tools":[],"messages":%s,"tools":%s}',
    b'{"messages":[],"messages":%s,"tools":%s}', b'{"messages":%s,"y\\\\":1,"x":1,"x":2,"tools":%s}',
]  # fmt: skip


@pytest.mark.parametrize("form", TWICE)
def test_a_key_that_comes_twice_is_never_passed(form: bytes) -> None:
    one = sound(1)
    line = form % (orjson.dumps(one["messages"]), orjson.dumps(one["tools"]))
    assert Lane().sound(line) is None
    assert judge(line).codes == ("duplicate_keys",)


def test_a_key_twice_in_arguments_is_never_passed() -> None:
    for twice in ('{"city":"a","city":"b"}', '{"city" :"a","city":"b"}', '{"city":"a","c\\u0069ty":"b"}', '{"x\\\\":1,"city":"a","city":"b"}', '{"x":"\\u003a","city":"a","city":"b"}'):
        one = sound(1)
        one["messages"][2]["tool_calls"][0]["function"]["arguments"] = twice
        one["tools"][0]["function"]["parameters"] = {"type": "object"}
        one["messages"][2]["tool_calls"][0]["function"]["name"] = one["tools"][0]["function"]["name"]
        assert Lane().sound(orjson.dumps(one)) is None


@given(st.recursive(st.none() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False) | st.text(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=4), max_leaves=12), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(value: Any, spaced: bool) -> None:
    text = json.dumps(value, ensure_ascii=spaced, separators=(" , ", " : ") if spaced else (",", ":"))
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    try:
        assert loads(data) == json.loads(text)
    except BadRow as why:
        assert why.code in ("half_character", "not_finite")  # noqa: PT017


PIECES = [
    "get", "_", "weather", "alpha", " ", "\n", "\n\n", "(", ")", "a", "1", ":", ",", ".", '"', "'", "Action", "Input", "call", "to",
    "I will call", "- ", "* ", "# ", "**", "end", "}", "]", ">", ";", "/", "tool", "function", "args", "final", "json", "city", "Oslo", "%",
    "!", "?", "$", "&", "^", "+", "functions.", "Now ", "using", "name", "\t", "é", "東", "print", "import", "sudo ", "1. ", "—",
]  # fmt: skip


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_plain_prose_holds_nothing_that_the_parser_finds(text: str) -> None:
    tools = toolset([{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}, {"name": "alpha"}])
    if is_plain(text, tools):
        parsed = parse(text, tools=tools.tools)
        assert not parsed.calls
        assert not parsed.issues
        assert not parsed.doubtful


ODD: list[Any] = [
    None, "", " ", "\n", 0, 1, -1, 2**53, 2**70, 0.5, 1e300, True, False, [], {}, [None], [""], [{}], {"a": None}, {"a": {"a": 1}}, ["x:y"],
    "null", "{}", '{"city": "Oslo", "city": "Rome"}', '{"city":"a:b"}', '{"c\\u003aty":1}', "\\u003a", "a:b:c", "é", "東京", "\x00", "\x7f", "<tool_call>",
    "get_alpha_0(city='x')", "Action: get_alpha_0", "```json\n{}\n```", " abc", "İx", "ınput: 1", "abcde1234", '"', "\\",
]  # fmt: skip
PLACES: list[tuple[Any, ...]] = [
    ("messages", 0, "content"), ("messages", 0, "role"), ("messages", 1, "content"), ("messages", 1, "name"), ("messages", 2, "content"),
    ("messages", 2, "tool_calls"), ("messages", 2, "refusal"), ("messages", 2, "reasoning_content"), ("messages", 2, "tool_calls", 0, "id"),
    ("messages", 2, "tool_calls", 0, "type"), ("messages", 2, "tool_calls", 0, "index"), ("messages", 2, "tool_calls", 0, "function", "name"),
    ("messages", 2, "tool_calls", 0, "function", "arguments"), ("messages", 2, "tool_calls", 0, "function", "x"), ("messages", 3, "content"),
    ("messages", 3, "tool_call_id"), ("messages", -1, "content"), ("messages", -1, "role"), ("messages", -1, "tool_calls"), ("tools",), ("messages",),
    ("x",), ("system",), ("tools", 0), ("tools", 0, "function", "description"), ("tools", 0, "function", "parameters"), ("llm.x",), ("messages", 4),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_odd_contents_get_the_judges_word_or_none(place: tuple[Any, ...]) -> None:
    """Each in both spellings of a row, and in the other place for the tools; arguments with a member of each kind too."""
    lane = Lane()
    for odd in ODD:
        for seed in (1, 3):
            one = copy.deepcopy(sound(seed))
            holder: Any = one
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = odd
            turned = {"tools": one["tools"], **one}
            for told in (one, turned):
                for separators in ((",", ":"), (", ", ": ")):
                    agree(json.dumps(told, separators=separators, ensure_ascii=seed == 1).encode(), lane)


def test_odd_arguments_get_the_judges_word_or_none() -> None:
    lane, taken = Lane(), 0
    for seed in range(12):
        for odd in ODD:
            one = copy.deepcopy(sound(seed))
            function = one["messages"][2]["tool_calls"][0]["function"]
            text = function["arguments"]
            given = json.loads(text) if isinstance(text, str) else text
            for key in [*given, "more"]:
                made = {**given, key: odd}
                function["arguments"] = json.dumps(made) if isinstance(text, str) else made
                taken += agree(json.dumps(one).encode(), lane)
    assert taken > 50


@pytest.mark.parametrize("column", sorted({*RENAMED, *BRANCHES}))
def test_other_answers_are_left_to_the_judges(column: str) -> None:
    """A column that holds one, under any of its names, makes a preference of the row."""
    for value in ("No.", {"role": "assistant", "content": "No."}, [{"role": "assistant", "content": "No."}]):
        agree(json.dumps(sound(1, **{column: value})).encode(), Lane())
