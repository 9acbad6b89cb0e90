"""The report of a corpus: its counts add up however the corpus is cut, and its page shows them and runs nothing."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dragoman.batch.codes import CODES
from dragoman.batch.report import summary as summaries
from dragoman.batch.report.page import page
from dragoman.batch.report.plots import bucket
from dragoman.batch.report.report import changes, report
from dragoman.batch.report.summary import Fate, Summary
from dragoman.batch.result import Finding, JudgedCall, JudgedRow, Repair, RowVerdict
from dragoman.batch.row import CorpusRow, row_id
from dragoman.batch.scores.measure import share
from dragoman.types import Tool, Verdict

ATTACK = '</pre><script>alert(1)</script><img src=x onerror="alert(2)">'
NAMES = ["look", "lok", "seek", "Καλημέρα", ATTACK]


def call(name: str = "look", verdict: Verdict = Verdict.ACCEPTED, **more: Any) -> JudgedCall:
    arguments = None if verdict is Verdict.REFUSED else {"at": "sky"}
    return JudgedCall(message=1, id="c1", name=name, arguments=arguments, verdict=verdict, **more)


def row(
    number: int, verdict: RowVerdict = RowVerdict.OK, *calls: JudgedCall, code: str = "", text: str = ""
) -> JudgedRow:
    original = json.dumps({"n": number, "text": text}).encode()
    place = CorpusRow(
        id=row_id(original), source="a.jsonl", offset=number, format="openai", original=original,
        metadata={"model": f"m{number % 3}"}, tools=(Tool(name="look"),),
    )  # fmt: skip
    findings = (Finding(code, "$.messages[1]", text or "no such tool"),) if code else ()
    repairs = (Repair("mended_arguments", "$.m", (0, 3), text or "{a", '{"a":1}'),) if verdict == "repaired" else ()
    return JudgedRow(row=place, verdict=verdict, findings=findings, repairs=repairs, calls=calls)


def summed(rows: list[tuple[JudgedRow, Fate]]) -> Summary:
    made = Summary()
    for judged, fate in rows:
        made.add(judged, fate)
    return made


calls = st.builds(call, st.sampled_from(NAMES), st.sampled_from(Verdict), native=st.booleans(), declared=st.booleans())
judged_rows = st.builds(
    lambda number, verdict, made, code: row(number, verdict, *made, code=code),
    st.integers(0, 9), st.sampled_from(RowVerdict), st.lists(calls, max_size=3), st.sampled_from(["", *sorted(CODES)]),
)  # fmt: skip
corpora = st.lists(st.tuples(judged_rows, st.sampled_from(Fate)), max_size=15)


@given(corpora, st.integers(0, 15))
def test_pieces_of_a_corpus_add_up_to_the_whole(rows: list[tuple[JudgedRow, Fate]], at: int) -> None:
    first, rest = summed(rows[:at]), summed(rows[at:])
    first.merge(Summary(json.loads(json.dumps(rest.as_json()))))
    assert first.as_json() == summed(rows).as_json()


@given(corpora)
def test_every_row_is_kept_set_aside_or_dropped(rows: list[tuple[JudgedRow, Fate]]) -> None:
    assert summed(rows).adds_up


def test_names_beyond_the_bound_are_counted_together(monkeypatch: Any) -> None:
    monkeypatch.setattr(summaries, "MOST_NAMES", 2)
    made = summed([(row(n, RowVerdict.OK, call(f"f{n}")), Fate.KEPT) for n in range(5)])
    assert made.as_json()["tables"]["tool"] == {
        "(others)": {"accepted": 3}, "f0": {"accepted": 1}, "f1": {"accepted": 1},
    }  # fmt: skip


def test_an_undeclared_name_is_shown_with_the_nearest_declared_one() -> None:
    made = summed([(row(1, RowVerdict.REFUSED, call("lok", Verdict.REFUSED, declared=False)), Fate.SET_ASIDE)])
    assert made.as_json()["tables"]["undeclared"] == {"lok": {"look": 1}}


class Page(HTMLParser):
    """What a page holds: its tags, addresses and words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href", "action", "xlink:href"}]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words += data


def whole_report() -> dict[str, Any]:
    made = summed([
        (row(1, RowVerdict.OK, call()), Fate.KEPT),
        (row(2, RowVerdict.REPAIRED, call(native=False, dialect="hermes"), text=ATTACK), Fate.KEPT),
        (row(3, RowVerdict.REFUSED, call(ATTACK, Verdict.REFUSED), code="unknown_tool", text=ATTACK), Fate.SET_ASIDE),
    ])  # fmt: skip
    scores = {"": {"calls": [share("call_rate", 2, 3).as_json(), share("relevance", 0, 0).as_json()]}}
    files = [{"name": "a.jsonl", "bytes": 120, "sha256": "ab" * 32}]
    return report(summary=made, scores=scores, command=f"dragoman batch clean {ATTACK}", inputs=files)


def test_the_page_shows_the_counts_and_runs_nothing_of_the_rows() -> None:
    found = Page(page(whole_report()))
    assert not found.tags & {"script", "img", "iframe", "link", "object"}
    assert found.addresses == []
    assert found.handlers == []
    for words in ("rows in", "unknown_tool", "hermes", "call_rate", "66.7 %", "nothing counted", "ab" * 32, ATTACK):
        assert words in found.words, words


def test_the_page_of_an_empty_corpus_is_a_page() -> None:
    assert "rows in" in Page(page(report(summary=Summary()))).words


def test_the_same_report_makes_the_same_page() -> None:
    assert page(whole_report()) == page(json.loads(json.dumps(whole_report())))


def test_what_changed_is_told_with_its_direction() -> None:
    before = report(summary=summed([(row(1, RowVerdict.OK), Fate.KEPT)]))
    now = report(summary=summed([(row(1, RowVerdict.REFUSED), Fate.SET_ASIDE)]))
    told = {one["name"]: (one["before"], one["after"], one["way"]) for one in changes(before, now)}
    assert told == {
        "rows/kept": (1, 0, "worse"), "rows/set_aside": (0, 1, "worse"),
        "verdicts/ok": (1, 0, "worse"), "verdicts/refused": (0, 1, "worse"),
    }  # fmt: skip
    shown = Page(page(now | {"changed": {"against": "old.json", "rows": changes(before, now)}})).words
    assert "old.json" in shown


def test_a_bar_of_sizes_says_which_it_stands_for() -> None:
    assert [bucket(power) for power in (0, 1, 2, 3, 11)] == ["0", "1", "2 to 3", "4 to 7", "1,024 to 2,047"]
