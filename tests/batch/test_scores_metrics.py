"""Scores: each counted by hand on a few answers, the same however the corpus is cut, and with honest intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.batch.result import JudgedCall
from dragoman.batch.scores.compare import (
    Difference,
    changes,
    compared,
    differences,
    regressions,
)
from dragoman.batch.scores.interval import of_f1, of_mean, sign_test, wilson
from dragoman.batch.scores.measure import Measure
from dragoman.batch.scores.metrics import METRICS, Metric, Tally, counted
from dragoman.batch.scores.possible import Expectation
from dragoman.batch.scores.sample import Gold, Sample
from dragoman.types import Tool, Verdict

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]})
ANY = Tool(name="any", parameters={"type": "object", "additionalProperties": True})


def written(name: str, arguments: Any, verdict: Verdict = Verdict.ACCEPTED, **more: Any) -> JudgedCall:
    return JudgedCall(message=1, id="c", name=name, arguments=arguments, verdict=verdict, **more)


NEVER = {"valid_before": False, "valid_after": False}
GOOD = written("look", {"at": "sky"})
MENDED = written("look", {"at": "sky"}, Verdict.MENDED, json_before=False, valid_before=False)
UNREADABLE = written("look", None, Verdict.REFUSED, json_before=False, **NEVER)
UNKNOWN = written("seek", {"at": "sky"}, Verdict.REFUSED, declared=False, **NEVER)
WRONG_TYPE = written("look", {"at": "5"}, Verdict.MENDED, valid_before=False)
INVENTED = written("look", {"at": "sky", "zoom": 2})
OPEN = written("any", {"zoom": 2})
CALLS, NONE = Gold("calls"), Gold("none")


def sample(*calls: JudgedCall, gold: Gold | None = None, id: str = "1", **more: Any) -> Sample:  # noqa: A002
    return Sample(id, calls, (LOOK, ANY), gold, **more)


def tally(metric: Metric, rows: Iterable[Sample], others: Iterable[Sample | None] = repeat(None)) -> Tally:
    return Counter(word for pair in zip(rows, others, strict=False) for word in counted(metric, *pair))


def scored(metric: str, *samples: Sample, baseline: Sequence[Sample] = ()) -> dict[str, Measure]:
    told = tally(METRICS[metric], samples, baseline or repeat(None))
    return {measure.name: measure for measure in METRICS[metric].sum(told)}


COUNTED: list[tuple[str, list[Sample], dict[str, tuple[float, float]]]] = [
    (
        "calls",
        [sample(GOOD), sample(), sample(UNREADABLE), sample(gold=NONE), sample(GOOD, gold=NONE), sample(gold=CALLS)],
        {"call_rate": (2, 6), "parse_rate": (2, 3), "irrelevance": (1, 2), "relevance": (0, 1)},
    ),
    (
        "trigger",
        [sample(GOOD, gold=CALLS), sample(gold=CALLS), sample(GOOD, gold=NONE), sample(gold=NONE), sample(GOOD)],
        {"trigger_precision": (1, 2), "trigger_recall": (1, 2), "trigger_f1": (2, 4)},
    ),
    (
        "schema",
        [sample(GOOD, MENDED), sample(WRONG_TYPE), sample(UNKNOWN), sample()],
        {
            "argument_json_before_repair": (3, 4), "argument_json_after_repair": (4, 4),
            "schema_validity_before_repair": (1, 4), "schema_validity_after_repair": (3, 4),
            "answer_validity_before_repair": (0, 3), "answer_validity_after_repair": (2, 3),
        },
    ),
    (
        "names",
        [sample(GOOD, UNKNOWN, INVENTED), sample(OPEN, UNREADABLE)],
        {"hallucinated_tool": (1, 5), "hallucinated_parameter": (1, 2)},
    ),
    (
        "when2call",
        [
            sample(GOOD, gold=Gold(reply="tool_call")),
            sample(gold=Gold(reply="tool_call"), reply="request_for_info"),
            sample(gold=Gold(reply="request_for_info"), reply="request_for_info"),
            Sample("x", (GOOD,), (), Gold(reply="cannot_answer")),
        ],
        {"tool_call_f1": (2, 4), "request_for_info_f1": (2, 3), "cannot_answer_f1": (0, 1), "calls_without_tools": (1, 1)},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "samples", "wanted"), COUNTED, ids=[row[0] for row in COUNTED])
def test_a_score_counts_what_its_definition_says(
    metric: str, samples: list[Sample], wanted: dict[str, tuple[float, float]]
) -> None:
    found = scored(metric, *samples)
    assert {name: (found[name].numerator, found[name].denominator) for name in wanted} == wanted


def test_macro_f1_is_the_mean_over_the_classes_that_the_gold_has() -> None:
    rows = [sample(GOOD, gold=Gold(reply="tool_call")), sample(GOOD, gold=Gold(reply="direct"))]
    assert scored("when2call", *rows)["macro_f1"].value == pytest.approx((2 / 3 + 0) / 2)


def test_a_call_finish_that_the_official_answer_lacks_is_a_false_positive_for_a_vendor() -> None:
    ours = [sample(GOOD, finish="tool_calls"), sample(WRONG_TYPE, finish="tool_calls"), sample(finish="stop")]
    theirs = [sample(GOOD, finish="tool_calls"), sample(finish="stop"), sample(GOOD, finish="tool_calls")]
    found = scored("k2vv", *ours, baseline=theirs)
    assert (found["tool_call_f1"].numerator, found["tool_call_f1"].denominator) == (2, 4)
    assert found["schema_accuracy"].value == 0.5


def test_pass_hat_k_is_the_chance_that_k_drawn_trials_are_all_won() -> None:
    trials = [sample(task="a", reward=float(won)) for won in (1, 1, 0, 1)] + [
        sample(task="b", reward=won) for won in (1.0, 0.5, 0.0)
    ]
    found = scored("pass^k", *trials)
    assert found["pass^1"].value == pytest.approx((3 / 4 + 1 / 3) / 2)
    assert found["pass^2"].value == pytest.approx((3 / 6 + 0) / 2)
    assert found["pass@2"].value == pytest.approx((1 - 0 + 1 - 1 / 3) / 2)
    assert "pass^4" not in found


def test_answers_of_a_broken_machine_are_counted_nowhere_but_as_excluded() -> None:
    found = scored("calls", sample(GOOD), sample(failed=True))
    assert (found["call_rate"].denominator, found["call_rate"].excluded) == (1, 1)


def test_a_measure_of_nothing_has_no_value() -> None:
    for metric in METRICS:
        assert all(measure.value is None for measure in scored(metric).values())


def test_the_ast_match_is_told_for_all_and_by_category() -> None:
    expected = Expectation(({"look": {"at": ["sky"]}},), "simple")
    found = scored(
        "bfcl",
        sample(GOOD, gold=Gold("calls", expected)),
        sample(gold=Gold("calls", expected)),
        sample(gold=Gold("none", Expectation((), "irrelevance"))),
    )
    assert {name: (m.numerator, m.denominator) for name, m in found.items()} == {
        "bfcl_ast": (2, 3),
        "bfcl_ast/irrelevance": (1, 1),
        "bfcl_ast/simple": (1, 2),
    }


written_calls = st.sampled_from([GOOD, MENDED, UNREADABLE, UNKNOWN, WRONG_TYPE, INVENTED, OPEN])
golds = st.sampled_from([CALLS, NONE, Gold(reply="tool_call"), Gold(reply="direct"), Gold()])
samples = st.builds(lambda calls, gold: sample(*calls, gold=gold), st.lists(written_calls, max_size=3), golds)


@given(st.lists(samples, max_size=12), st.integers(0, 12), st.sampled_from(sorted(METRICS)))
def test_a_corpus_scores_the_same_however_it_is_cut(rows: list[Sample], at: int, name: str) -> None:
    metric = METRICS[name]
    pieces = tally(metric, rows[at:]) + tally(metric, rows[:at])
    assert metric.sum(tally(metric, rows)) == metric.sum(pieces)


# ── intervals and comparisons ────────────────────────────────────────────────


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_share(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


def test_intervals_are_those_of_the_textbooks() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10)[0] == 0
    assert wilson(0, 10)[1] == pytest.approx(0.2775, abs=1e-4)
    assert of_f1(1, 1)[0] < 2 / 3 < of_f1(1, 1)[1]
    assert of_mean([1.0, 0.0, 1.0, 0.0]) == pytest.approx((0.0, 1.0), abs=0.07)


def test_a_change_may_be_chance_or_not() -> None:
    assert sign_test(5, 5) == 1
    assert sign_test(10, 0) == pytest.approx(2 / 1024)
    assert sign_test(1100, 1000) == pytest.approx(sign_test(1000, 1100))
    assert sign_test(1050, 951) == pytest.approx(0.0285, abs=2e-3)


def test_two_sets_are_compared_answer_by_answer() -> None:
    now, then = [sample(GOOD, gold=CALLS), sample(gold=CALLS)], [sample(gold=CALLS), sample(GOOD, gold=CALLS)]
    told = Counter(word for pair in zip(now, then, strict=True) for word in compared(*pair))
    assert [(c.name, c.better, c.worse, c.same) for c in changes(told)] == [("triggers", 1, 1, 0)]


def test_a_regression_is_a_fall_beyond_the_tolerance_or_a_rise_where_less_is_better() -> None:
    assert regressions([Difference("bfcl_ast/bfcl", 0.8, 0.78)], 0.01)
    assert not regressions([Difference("bfcl_ast/bfcl", 0.8, 0.78)], 0.03)
    assert regressions([Difference("hallucinated_tool/names", 0.01, 0.05)], 0.01)
    assert not regressions([Difference("call_rate/calls", 0.9, 0.1)], 0.0)


def test_runs_are_compared_by_the_measures_both_have() -> None:
    before = {"scores": {"": {"calls": [scored("calls", sample(GOOD))["call_rate"].as_json()]}}}
    after = {"scores": {"": {"calls": [scored("calls", sample())["call_rate"].as_json()], "names": []}}}
    assert differences(before, after) == [Difference("call_rate/calls", 1.0, 0.0)]
