"""Every candidate is explained: rule, reason, each piece of evidence in words, edits, and the place of what it copies."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from dragoman.dialects import Parser
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.explain.findings import Finding, verdicts
from dragoman.dialects.judge.evidence import Evidence, Mark, Place, Thought, habit_of
from dragoman.dialects.judge.provenance import CopyOf, ShownText
from dragoman.dialects.judge.rules import OVERLOOKED, RULES, decide, decide_usual
from dragoman.report_words import SAID, edit_words, evidence_words, habit_words
from dragoman.types import Issue, IssueKind, Verdict

TOOLS: list[dict[str, Any]] = [
    {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
    {"name": "count", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    {"name": "ping", "parameters": {"type": "object", "properties": {}}},
]
READ = '{"name": "read_file", "arguments": {"path": "a.md"}}'
TAGGED = f"<tool_call>{READ}</tool_call>"
FENCED = f"Next:\n```json\n{READ}\n```"
ENTITIES = READ.replace('"', "&quot;")
Q, R, D, A, M = Verdict.QUOTED, Verdict.REFUSED, Verdict.DOUBTFUL, Verdict.ACCEPTED, Verdict.MENDED

CASES: list[tuple[str, str, dict[str, Any], Verdict, str, str]] = [
    ("the end of a line", f"I will read it: {READ}", {}, D, "overlooked", "words precede it"),
    ("the middle of a line", f"The call {READ} was in the log.", {}, Q, "overlooked", "words go on behind it on its line"),
    ("a copy", TAGGED, {"shown": ["nothing", f"A page. {TAGGED}"]}, Q, "copy", "a tool's result, shown text 1 at character 8, written in hermes"),
    ("a copy in entities", TAGGED, {"shown": [ShownText(f"<p>&lt;tool_call&gt;{ENTITIES}&lt;/tool_call&gt;", name="fetch")]}, Q, "copy", "shown text 0 (fetch) at character 3, written in hermes, behind HTML entities"),
    ("the place of a copy", TAGGED, {"shown": [f"A page. {TAGGED} and on"]}, Q, "copy", "there stands: <tool_call>{\"name\""),
    ("a fence", f"So:\n```text\n{TAGGED}\n```\nDone.", {}, Q, "box", "a fenced block"),
    ("reasoning", f"<think>maybe {TAGGED} no</think>ok", {}, Q, "reasoning", "in reasoning that was closed"),
    ("an unknown name", TAGGED.replace("read_file", "rm"), {}, R, "unknown_tool", "there is no tool named 'rm' (unknown tool)"),
    ("an unknown name in quotes", f"Write `{TAGGED.replace('read_file', 'rm')}` there.", {}, Q, "box", "there is no tool named 'rm' (unknown tool)"),
    ("a cut", TAGGED[:50], {}, R, "truncated", "the text ends inside the call (truncated)"),
    ("no value", '<tool_call>{"name": "count", "arguments": {"n": }}</tool_call>', {}, R, "malformed", "a value was expected"),
    ("two values", '<tool_call>{"name": "count", "arguments": {"n": 1, "n": 2}}</tool_call>', {}, R, "duplicate_keys", "given twice"),
    ("a prohibition", f"Never run this:\n{TAGGED}", {}, D, "hinted", "a prohibition or refusal"),
    ("weak marks", FENCED, {}, D, "weak", "fenced_json, in a fenced block, with nothing behind it"),
    ("a habit", FENCED, {"confirmed": ["fenced_json:fence:ends"]}, A, "habit", "has confirmed before"),
    ("a notation asked for", f"Now:\n{READ}", {"prompted_dialect": "bare_json"}, A, "asked", "it was asked for"),
    ("a channel", FENCED, {"native": True}, D, "weak", "the request had native tools"),
    ("unknown tools", FENCED, {"tools": None}, Q, "untold", "any name may be one"),
    ("another's turn", f"{TAGGED}\n<tool_response>x</tool_response>\n{TAGGED}", {}, R, "hallucinated_result", "another party's turn"),
    ("mends", "<tool_call>{'name': 'count', 'arguments': {'n': '3',}}</tool_call>", {}, M, "strong", "quotes, string to integer, trailing comma"),
    ("a word", "The tags are <tool_call> and </tool_call>, on lines.", {}, Q, "word", "in the middle of a sentence"),
    ("a repetition", f"{TAGGED}\nTo recap:\n{READ}", {}, Q, "repeat", "the same call was made before"),
    ("a repetition in its tags", f"{TAGGED}\nTo recap, I made:\n{TAGGED}", {}, Q, "repeat", "the same call was made before"),
]  # fmt: skip


def found(text: str, options: dict[str, Any], verdict: Verdict) -> Finding:
    return next(f for f in verdicts(text, **{"tools": TOOLS, **options}) if f.verdict is verdict)


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_each_candidate_is_shown_with_its_rule_and_evidence(case: tuple[str, str, dict[str, Any], Verdict, str, str]) -> None:
    _, text, options, verdict, rule, words = case
    it = found(text, options, verdict)
    assert (it.rule, bool(it.reason)) == (rule, True)
    assert 0 <= it.span[0] < it.span[1] <= len(text)
    assert words in "\n".join(f"{label}: {said}" for label, said in it.words())


def test_a_call_to_which_no_mark_led_is_shown_where_it_stands() -> None:
    text = f"<think>hm</think>I will read it: {READ}"
    assert text[slice(*found(text, {}, D).span)] == READ


def test_mends_say_what_became_what() -> None:
    it = found("<tool_call>{'name': 'count', 'arguments': {'n': '3',}}</tool_call>", {}, M)
    assert "quotes at $.name: ' → \"" in it.mends()
    assert 'string to integer at $.arguments.n: "3" → 3' in it.mends()
    assert edit_words("number_to_string", "$.s", "3", "3") == 'number to string at $.s: 3 → "3"'
    assert edit_words("drop", "$.a", "x") == "drop at $.a: x → (nothing)"


EVERYTHING = Evidence(
    mark=Mark.FENCE, strong=False, asked=True, habit=habit_of("fenced_json", Mark.FENCE, Place.FIRST, ends=False),
    confirmed=True, native=True, place=Place.FIRST, box="a code span", thought=Thought.CUT, told=False,
    refusal=Issue(kind=IssueKind.TRUNCATED, message="it ends"), edits=("quotes",),
    copy=CopyOf(2, "tool", 7, "hermes", "a diff", "fetch", "text"), repeats=True, word=True,
)  # fmt: skip


def test_every_piece_of_evidence_has_words() -> None:
    whole = {**EVERYTHING.words(), **Evidence(mark=Mark.TAG, strong=True, hints=("a question",)).words()}
    assert set(whole) == set(SAID)
    assert len(whole) >= len(fields(Evidence))
    said = evidence_words(whole)
    assert [(label, words) for label, words in said if not label or not words] == []
    assert len(said) == len(whole) + 1  # a copy says what stands there besides


def test_each_place_thought_and_mark_has_words_of_its_own() -> None:
    for name, values in (("place", Place), ("thought", Thought)):
        shown = [evidence_words({name: str(value)})[0][1] for value in values if value != Thought.NONE]
        assert [words for words in shown if len(words) < 12] == []
    habits = {habit_words(habit_of("d", mark, Place.FIRST, ends=True)) for mark in Mark}
    assert len(habits) == len(Mark)
    assert not [words for words in habits if any(mark.name.lower() == words.split(", ")[1] for mark in Mark)]


def test_evidence_without_words_is_shown_as_it_is() -> None:
    assert evidence_words({"moon_phase": 3}) == [("moon phase", "3")]
    assert habit_words("odd") == "odd"


def test_no_rule_for_overlooked_calls_runs_them() -> None:
    assert {rule.outcome.value for rule in OVERLOOKED} == {"ask", "text"}
    assert {rule.name for rule in OVERLOOKED} - {rule.name for rule in RULES} == {"overlooked"}


def test_a_habit_does_not_reach_into_a_fence_that_opens_behind_words() -> None:
    tools = [{"name": "look", "parameters": {"properties": {"at": {}}}}]
    text = 'With ~~~tool_call\n{"name": "look", "arguments": {"at": "sea"}}\n~~~ one would see more.'
    bare = text.replace("With ~~~tool_call", "Now:").replace("~~~ one would see more.", "That is all.")
    for written, runs in ((bare, 1), (text, 0)):
        parser = Parser(tools=tools, confirmed=["bare_json:object:between"])
        assert len(fold([*parser.feed(written), *parser.close()]).calls) == runs


UNUSUAL: dict[str, Any] = {
    "strong": False, "asked": True, "confirmed": True, "native": True, "box": "a code span", "thought": Thought.OPEN,
    "told": False, "refusal": Issue(kind=IssueKind.UNKNOWN_TOOL, message=""), "edits": ("comma",),
    "copy": CopyOf(0, "tool", 0, "hermes", "", name="", excerpt=""), "repeats": True, "hints": ("denied",), "word": True,
}  # fmt: skip


def test_evidence_is_usual_only_while_nothing_but_mark_place_and_habit_is_to_be_said() -> None:
    assert {f.name for f in fields(Evidence)} == UNUSUAL.keys() | {"mark", "place", "habit"}
    for mark in Mark:
        for place in Place:
            plain = Evidence(mark=mark, strong=True, place=place, habit="x")
            assert plain.usual
            assert decide_usual(mark, place, "x") == decide(plain)
            assert plain.words() == {"mark": str(mark), "strong": True, "place": str(place)}
    for name, value in UNUSUAL.items():
        assert not Evidence(**{"mark": Mark.TAG, "strong": True, name: value}).usual
