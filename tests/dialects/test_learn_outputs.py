"""Dialects learned from what a model wrote: invented ones, real ones, our own rows left out, and what cannot be learned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dragoman.dialects import Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.learning.outputs import LearnedRow, Sample, learn_from_outputs, samples_of, vectors_of
from dragoman.dialects.learning.outputs.learner import AlreadyRead, NothingLearned
from dragoman.dialects.rows.record import from_json, from_record, to_record
from dragoman.dialects.rows.table import ALL, DIALECTS
from dragoman.dialects.spec import Dialect
from dragoman.dialects.writing.render import render
from dragoman.errors import UsageError
from dragoman.types import Tool, ToolCall
from tests.support.places import VECTORS

FILES = {path.stem: path for path in sorted((VECTORS / "learn" / "outputs").glob("*.jsonl"))}
OUT_OF_REACH = {
    "chatglm3": "the name stands before a Python call of another name",
    "mustache": "arguments are bare attributes: no row has a notation for them",
    "at_lines": "arguments are `key = value` lines: no row has a notation for them",
    "percent_lines": "the mark of a key is the beginning of the closer, and the reader takes the closer for a key",
    "sections": "the mark of a key is the beginning of the closer, and the reader takes the closer for a key",
    "prefixed_elements": "every closer holds a prefix and the key: no row has a notation for it",
}
"""What no row can say, and why: learning must refuse them, not learn half."""
KNOWN = {"glaive", "chevrons"}
UNLEARNED = {"vcp": "a line end is all that begins a key"}
"""Read by a row that is there already, and by none that could be learned."""


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILES[name].read_text(encoding="utf-8").splitlines()]


def shown(name: str) -> tuple[Sample, ...]:
    """What the learner is shown: nobody says what was meant, and the last two are kept from it."""
    return samples_of([{**row, "calls": None} for row in rows_of(name) if not row.get("fresh")])


def named(calls: Sequence[ToolCall]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(c.name, dict(c.arguments)) for c in calls]


every_file = pytest.mark.parametrize("name", [n for n in FILES if n.partition("-")[2] not in {*OUT_OF_REACH, *KNOWN, *UNLEARNED}])


@every_file
def test_the_learned_row_reads_every_output_as_it_was_meant_also_those_it_was_not_learned_from(name: str) -> None:
    row = learn_from_outputs(shown(name)).dialect
    for sample in samples_of(rows_of(name)):
        assert named(parse(sample.text, tools=sample.tools, dialects=[row]).calls) == list(sample.meant or ()), sample.text


@every_file
def test_the_learned_row_reads_in_pieces_what_it_reads_whole(name: str) -> None:
    row = learn_from_outputs(shown(name)).dialect
    sample = samples_of(rows_of(name))[0]
    parser = Parser(tools=sample.tools, dialects=[row])
    events = [event for sign in sample.text for event in parser.feed(sign)]
    pieces = fold([*events, *parser.close()])
    whole = parse(sample.text, tools=sample.tools, dialects=[row])
    assert (pieces.calls, pieces.text, pieces.issues) == (whole.calls, whole.text, whole.issues)


@every_file
def test_what_the_learned_row_writes_is_read_back(name: str) -> None:
    learned = learn_from_outputs(shown(name))
    for reads in learned.reads:
        calls = [ToolCall(id="", name=n, arguments=a) for n, a in reads.calls]
        if calls and not reads.why:
            text = render(calls, learned.dialect, tools=reads.sample.tools)
            assert named(parse(text, tools=reads.sample.tools, dialects=[learned.dialect]).calls) == named(calls)


@pytest.mark.parametrize("name", [n for n in FILES if n.partition("-")[2] in OUT_OF_REACH])
def test_what_no_row_can_say_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(NothingLearned, match="open an issue with the samples"):
        learn_from_outputs(shown(name))


@pytest.mark.parametrize("name", [n for n in FILES if n.partition("-")[2] in UNLEARNED])
def test_what_only_a_built_in_row_reads_is_told_with_its_name(name: str) -> None:
    with pytest.raises(NothingLearned, match=r"'vcp' reads calls in \d+ of the \d+ samples.*use it by that name"):
        learn_from_outputs(shown(name))


@pytest.mark.parametrize("name", [n for n in FILES if n.partition("-")[2] in KNOWN])
@pytest.mark.costly
def test_what_a_built_in_row_reads_is_not_learned_but_named(name: str) -> None:
    with pytest.raises(AlreadyRead, match="'tagged_json' reads every sample: nothing to learn; use it by that name"):
        learn_from_outputs(shown(name))


# ── our own rows, each left out once ─────────────────────────────────────────

TOOLS = (
    Tool(name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}),
    Tool(name="send_note", parameters={"type": "object", "properties": {"recipient": {"type": "string"}, "note": {"type": "string"}}}),
)  # fmt: skip
PLACES = ("Oslo", "São Paulo", "Ulm", "Main St 1", "notes.txt", "Bergen")
MEANT = [("get_weather", {"city": city, "days": n + 1}) for n, city in enumerate(PLACES)] + [
    ("send_note", {"recipient": city, "note": f"a word for {n}"}) for n, city in enumerate(PLACES)
]
TEXT_ONLY = {"cwm_text", "text_tool_tag"}  # they carry one text, so that these tools cannot be written in them


def outputs(row: Dialect) -> tuple[Sample, ...]:
    """A dozen renders, words before some, two calls in one of four; without what the row itself would not read."""
    found = []
    for n, meant in enumerate(MEANT):
        calls = [ToolCall(id="", name=name, arguments=a) for name, a in ([meant, MEANT[n - 5]] if n % 4 == 3 else [meant])]
        text = ("Let me look.\n" if n % 3 == 1 else "") + render(calls, row, tools=TOOLS)
        if named(parse(text, tools=TOOLS, dialects=[row]).calls) == named(calls):
            found.append(Sample(text, TOOLS, None, str(n)))
    return tuple(found)


@cache
def learned_back(name: str) -> LearnedRow | None:
    """What is learned of a built-in row's renders as if there were no built-in rows; None where nothing is."""
    try:
        return learn_from_outputs(outputs(DIALECTS[name]), known=())
    except NothingLearned:
        return None


@pytest.mark.parametrize("name", [n for n in DIALECTS if n not in TEXT_ONLY])
def test_what_is_learned_of_a_built_in_row_reads_as_that_row_does(name: str) -> None:
    learned = learned_back(name)
    for reads in () if learned is None else learned.reads:
        own = named(parse(reads.sample.text, tools=TOOLS, dialects=[DIALECTS[name]]).calls)
        assert list(reads.calls) == own or reads.why


@pytest.mark.slow
def test_nearly_every_built_in_row_is_learned_back_from_what_it_writes() -> None:
    shown_enough = [name for name in DIALECTS if name not in TEXT_ONLY and len(outputs(DIALECTS[name])) > 6]
    refused = [name for name in shown_enough if learned_back(name) is None]
    assert len(shown_enough) * 10 >= len(DIALECTS) * 9
    assert len(refused) <= len(DIALECTS) // 20, refused


# ── samples that teach nothing ───────────────────────────────────────────────


def texts(*given: str, tools: Sequence[Tool] = TOOLS) -> tuple[Sample, ...]:
    return tuple(Sample(text, tuple(tools), None, f"sample {n}") for n, text in enumerate(given, 1))


def call(name: str = "get_weather", **arguments: Any) -> str:
    return f"[[{name}]]{json.dumps(arguments)}[[/]]"


REFUSED: dict[str, tuple[tuple[Sample, ...], str]] = {
    "no samples": ((), "in none of the 0 samples"),
    "other names": (texts(*[call("other", a=1)] * 9), "give the tools under the names the model was told"),
    "too few": (texts(call(city="Oslo"), call(city="Ulm")), "give about a dozen outputs with calls"),
    "words about tools": (texts(*["I will use get_weather for the city."] * 9), "fewer than 3 calls"),
    "two dialects that contradict each other": (
        texts(*[call(city=c) for c in PLACES[:4]], *[f"§§{c}§get_weather§city§§" for c in PLACES[:4]],
              *[f"<q:get_weather|city:{c}|>" for c in PLACES[:4]]),
        "give more of one kind at a time",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_samples_that_teach_nothing_are_refused_with_what_to_do(case: str) -> None:
    samples, words = REFUSED[case]
    with pytest.raises(NothingLearned) as raised:
        learn_from_outputs(samples)
    assert words in str(raised.value)


def test_a_sample_the_row_does_not_explain_is_told_with_the_reason() -> None:
    cut = '[[get_weather]]{"city": "Os'
    learned = learn_from_outputs(texts(*[call(city=c) for c in PLACES], cut))
    assert [r.why for r in learned.reads[:-1]] == [""] * len(PLACES)
    assert "an issue is raised" in learned.reads[-1].why


OTHERWISE = [
    "[[get_weather city=Oslo]]", "!!get_weather(city: Oslo)!!", "§get_weather§Oslo§", "<|get_weather|>", "get_weather{Oslo}",
    "get_weather\ncity: Oslo",
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERWISE)
def test_a_call_in_another_notation_is_no_sample_without_calls(other: str) -> None:
    """It is counted against the row, and no test says that nothing stands there."""
    learned = learn_from_outputs(texts(*[f"<do>get_weather<with city>{c}</with></do>" for c in PLACES], other))
    assert (learned.explained, bool(learned.reads[-1].why)) == (len(PLACES), True)
    assert other not in [vector["text"] for vector in vectors_of(learned, "me")]


@pytest.mark.parametrize("said", ["I need no tool.", "I will not call `get_weather`, nor get_weather().", "The city: Oslo."])
def test_a_text_that_only_speaks_of_a_tool_is_a_sample_without_calls(said: str) -> None:
    learned = learn_from_outputs(texts(*[call(city=c) for c in PLACES], said))
    assert learned.reads[-1].why == ""


def test_what_was_meant_outweighs_what_seems_to_stand_there() -> None:
    given = texts(*[call(city=c) for c in PLACES])
    other = Sample(call(city="Oslo"), TOOLS, (("get_weather", {"city": "Ulm"}),), "other")
    learned = learn_from_outputs([*given, other])
    assert "read as" in learned.reads[-1].why


def test_values_that_hold_markup_are_no_proof() -> None:
    """Two wrongs that agree: cells cut in the wrong place, and a row that cuts there too."""
    made = [f"<f>get_weather{{city:<q>{c}<q>,days:{n}}}</f>" for n, c in enumerate(PLACES)]
    learned = learn_from_outputs(texts(*made))
    assert [r.calls for r in learned.reads] == [(("get_weather", {"city": c, "days": n}),) for n, c in enumerate(PLACES)]


# ── samples, vectors, files ──────────────────────────────────────────────────

BROKEN: dict[str, tuple[Any, str]] = {
    "no list": ({"tools": []}, "samples are a list"),
    "no text": ([{"tools": [{"name": "f"}]}, {"txt": "x"}], "sample 2 holds no text"),
    "no tools": (["x"], "sample 1 names no tools"),
    "a text too long": ([{"tools": [{"name": "f"}]}, "x" * 100_001], "sample 2 is longer than 100,000 characters"),
    "odd calls": ({"tools": [{"name": "f"}], "samples": [{"text": "x", "calls": ["f"]}]}, "the calls of sample 1"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_samples_in_another_form_are_refused_by_their_number(case: str) -> None:
    value, words = BROKEN[case]
    with pytest.raises(UsageError, match=words):
        samples_of(value)


def test_samples_may_share_their_tools_or_have_their_own() -> None:
    tool = {"name": "f", "parameters": {"type": "object"}}
    for value in ({"tools": [tool], "samples": ["x", {"text": "x"}]}, [{"tools": [tool]}, "x", {"text": "x", "tools": [tool]}]):
        assert [(s.text, [t.name for t in s.tools]) for s in samples_of(value)] == [("x", ["f"])] * 2


def learned_one() -> LearnedRow:
    return learn_from_outputs(texts(*[call(city=c) for c in PLACES]), name="mine")


def test_vectors_say_what_the_row_reads() -> None:
    vectors = list(vectors_of(learned_one(), "me"))
    assert [v["id"] for v in vectors] == [f"mine-{n}" for n in range(1, 7)]
    assert vectors[0]["calls"] == [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    assert (vectors[0]["content"], vectors[0]["issues"], vectors[0]["source"]) == ("", [], "me")


@pytest.mark.parametrize("name", DIALECTS)
def test_a_row_is_the_same_after_it_was_a_file(name: str) -> None:
    again = from_json(json.dumps(to_record(DIALECTS[name])), name)
    assert (asdict(again), type(again.args)) == (asdict(DIALECTS[name]), type(DIALECTS[name].args))
    assert len(ALL) == len(DIALECTS)


PLAIN = {"name": "a", "args": {"kind": "JsonArgs"}}
WRONG_ROWS: dict[str, tuple[Any, str]] = {
    "no object": (3, "is no object"),
    "no notation": ({"name": "a"}, "lacks args"),
    "another notation": ({**PLAIN, "args": {"kind": "Toml"}}, "args of a dialect's row names no notation"),
    "a field too many": ({**PLAIN, "args": {"kind": "JsonArgs", "z": 1}}, "args.z of a dialect's row is no field there"),
    "a number for marks": ({**PLAIN, "call": {"open": 3}}, "call.open of a dialect's row is no list"),
    "a broken pattern": ({**PLAIN, "tool_re": "("}, "tool_re of a dialect's row is no regular expression"),
    "a pattern without a name": ({**PLAIN, "tool_re": ".*"}, "has no group"),
    "an unknown form": ({**PLAIN, "tool_form": "{x}"}, "is no form with"),
    "another strength": ({**PLAIN, "strength": "iron"}, "strength of a dialect's row is none of"),
}


@pytest.mark.parametrize("case", WRONG_ROWS)
def test_a_row_in_another_form_is_refused_by_its_field(case: str) -> None:
    value, words = WRONG_ROWS[case]
    with pytest.raises(UsageError) as raised:
        from_record(value)
    assert words in str(raised.value)


def test_a_row_that_is_no_json_names_its_file() -> None:
    with pytest.raises(UsageError, match=r"mine\.json is not JSON"):
        from_json("{", "mine.json")


def test_the_files_of_samples_are_there() -> None:
    assert len(FILES) > 20
    assert all(isinstance(path, Path) for path in FILES.values())


def test_a_built_in_row_that_reads_other_calls_than_are_said_to_stand_is_named() -> None:
    tool = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
    call = '<tool_call>\n{"name": "look", "arguments": {"at": "%s"}}\n</tool_call>'
    rows = [{"tools": [tool], "text": call % at, "calls": []} for at in ("sky", "sea", "Ulm", "the moon")]
    with pytest.raises(NothingLearned, match="the built-in dialect 'hermes' reads calls in 4 of the 4 samples"):
        learn_from_outputs(samples_of(rows))
