"""The scores of tool calling, each with its exact definition: what is counted of one answer, and what the sum comes to.

A metric counts answers one at a time into a tally of words, tallies add up in any order, and the sum gives the
measures: so a corpus is scored in pieces, on as many machines as there are, to the same digits.
Knows samples; nothing of files, formats or how calls are read.
Contract: counting never raises on content; a tally is the same however the corpus was cut.  Definitions follow
`DEFINITIONS`, which the manual prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import comb
from typing import TypeAlias, get_args

from ...records import dataclass
from ..result import JudgedCall
from .interval import of_f1, of_mean
from .measure import Measure, share
from .possible import Strictness, fits
from .sample import Reply, Sample

Tally: TypeAlias = Counter[str]
Count: TypeAlias = Callable[[Sample, "Sample | None"], Iterator[str]]
Sum: TypeAlias = Callable[[Mapping[str, int]], Sequence[Measure]]

CLASSES: tuple[Reply, ...] = tuple(reply for reply in get_args(Reply) if reply)
FULL_REWARD = 1e-6
"""A trial is won whose reward is this near to 1 (tau-bench)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A score: the words counted of a sample (and its baseline, where there is one), and the measures of their sum.

    `needs` says what a sample must have for it ("" for nothing, else gold, baseline or task).
    """

    name: str
    definition: str
    count: Count
    sum: Sum
    needs: str = ""


def counted(metric: Metric, sample: Sample, baseline: Sample | None = None) -> Iterator[str]:
    """What a metric counts of one sample: nothing but `excluded` of an answer that no model gave."""
    if sample.failed or (baseline is not None and baseline.failed):
        return iter(("excluded",))
    return metric.count(sample, baseline)


# ── does it call at all ──────────────────────────────────────────────────────


def _rate(sample: Sample, _: Sample | None) -> Iterator[str]:
    yield "answers"
    decoded = any(call.arguments is not None for call in sample.calls)
    if sample.running:
        yield "called"
    if sample.calls:
        yield "meant"
        yield from ["decoded"] if all(call.arguments is not None for call in sample.calls) else []
    match sample.gold.expects:
        case "none":
            yield from ("unneeded", *([] if decoded else ["silent"]))
        case "calls":
            yield from ("needed", *(["spoken"] if decoded else []))


def _rates(told: Mapping[str, int]) -> Sequence[Measure]:
    left = told.get("excluded", 0)
    return (
        share("call_rate", told.get("called", 0), told.get("answers", 0), left),
        share("parse_rate", told.get("decoded", 0), told.get("meant", 0), left),
        share("irrelevance", told.get("silent", 0), told.get("unneeded", 0), left),
        share("relevance", told.get("spoken", 0), told.get("needed", 0), left),
    )


def _trigger_of(sample: Sample, baseline: Sample | None) -> Iterator[str]:
    wanted = bool(baseline.running) if baseline is not None else sample.gold.expects == "calls"
    if baseline is None and not sample.gold.expects:
        yield "excluded"
        return
    yield {(True, True): "tp", (True, False): "fp", (False, True): "fn", (False, False): "tn"}[
        bool(sample.running), wanted
    ]


def _triggers(told: Mapping[str, int]) -> Sequence[Measure]:
    return _f_scores("trigger", told)


def _f_scores(name: str, told: Mapping[str, int]) -> Sequence[Measure]:
    right, false, missed = (told.get(key, 0) for key in ("tp", "fp", "fn"))
    left = told.get("excluded", 0)
    weight = 2 * right + false + missed
    f1 = Measure(
        f"{name}_f1", 2 * right / weight if weight else None, 2 * right, weight,
        of_f1(right, false + missed) if weight else None, left,
    )  # fmt: skip
    return (
        share(f"{name}_precision", right, right + false, left),
        share(f"{name}_recall", right, right + missed, left),
        f1,
    )


# ── are its calls sound ──────────────────────────────────────────────────────


def _soundness(sample: Sample, _: Sample | None) -> Iterator[str]:
    for call in sample.calls:
        yield "calls"
        yield from (word for word, holds in _soundness_of(call).items() if holds)
    if sample.calls:
        yield "answers"
        yield from ["before_answers"] if all(call.valid_before for call in sample.calls) else []
        yield from ["after_answers"] if all(call.valid_after for call in sample.calls) else []


def _soundness_of(call: JudgedCall) -> Mapping[str, bool]:
    return {
        "before_json": call.json_before, "after_json": call.arguments is not None,
        "before_valid": call.valid_before, "after_valid": call.valid_after,
    }  # fmt: skip


def _sound(told: Mapping[str, int]) -> Sequence[Measure]:
    calls, answers, left = told.get("calls", 0), told.get("answers", 0), told.get("excluded", 0)
    return [
        share(f"{name}_{when}_repair", told.get(f"{when}_{key}", 0), of, left)
        for name, key, of in (
            ("argument_json", "json", calls),
            ("schema_validity", "valid", calls),
            ("answer_validity", "answers", answers),
        )
        for when in ("before", "after")
    ]  # fmt: skip


def _names(sample: Sample, _: Sample | None) -> Iterator[str]:
    if sample.tools is None:
        yield "excluded"
        return
    for call in sample.calls:
        invents = sample.invents(call)
        yield "calls"
        yield from ["unknown"] if call.name not in sample.declared else []
        yield from ["told"] if invents is not None else []
        yield from ["invented"] if invents else []


def _hallucinations(told: Mapping[str, int]) -> Sequence[Measure]:
    left = told.get("excluded", 0)
    return (
        share("hallucinated_tool", told.get("unknown", 0), told.get("calls", 0), left),
        share("hallucinated_parameter", told.get("invented", 0), told.get("told", 0), left),
    )


# ── are they the right ones ──────────────────────────────────────────────────


def _matching(strictness: Strictness) -> Count:
    def count(sample: Sample, _: Sample | None) -> Iterator[str]:
        expected = sample.gold.calls
        if expected is None:
            yield "excluded"
            return
        right = fits(sample.running, expected, sample.parameters(), strictness)
        yield "answers"
        yield f"{expected.category or 'all'}/answers"
        yield from ["right", f"{expected.category or 'all'}/right"] if right else []

    return count


def _matches(name: str) -> Sum:
    def total(told: Mapping[str, int]) -> Sequence[Measure]:
        left = told.get("excluded", 0)
        groups = sorted({key.rpartition("/")[0] for key in told if "/" in key} - {"all"})
        return [share(name, told.get("right", 0), told.get("answers", 0), left)] + [
            share(f"{name}/{group}", told.get(f"{group}/right", 0), told[f"{group}/answers"]) for group in groups
        ]

    return total


def _replies(sample: Sample, _: Sample | None) -> Iterator[str]:
    if not sample.gold.reply:
        yield "excluded"
        return
    yield f"{sample.gold.reply}>{sample.reply}"
    if not sample.tools:
        yield from ("no tools", *(["called without tools"] if sample.calls else []))


def _macro_f1(told: Mapping[str, int]) -> Sequence[Measure]:
    left = told.get("excluded", 0)
    classes = [_confusion(told, reply) for reply in CLASSES]
    seen = [_f_scores(reply, found) for reply, found in zip(CLASSES, classes, strict=True) if found["tp"] + found["fn"]]
    values = [scores[2].value or 0.0 for scores in seen]
    mean = sum(values) / len(values) if values else None
    return [
        Measure("macro_f1", mean, sum(values), len(values), None, left),
        *(scores[2] for scores in seen),
        share("calls_without_tools", told.get("called without tools", 0), told.get("no tools", 0), left),
    ]


def _confusion(told: Mapping[str, int], reply: Reply) -> Tally:
    found = Counter[str]()
    for gold, _, said in (key.partition(">") for key in told if ">" in key):
        count = told[f"{gold}>{said}"]
        found["tp"] += count if gold == said == reply else 0
        found["fp"] += count if said == reply != gold else 0
        found["fn"] += count if gold == reply != said else 0
    return found


# ── one vendor against another ───────────────────────────────────────────────


def _vendor(sample: Sample, baseline: Sample | None) -> Iterator[str]:
    if baseline is None:
        yield "excluded"
        return
    called = sample.finish == "tool_calls"
    wanted = baseline.finish == "tool_calls"
    yield {(True, True): "tp", (True, False): "fp", (False, True): "fn", (False, False): "tn"}[called, wanted]
    if called:
        yield "called"
        valid = bool(sample.calls) and all(call.valid_before for call in sample.calls)
        yield from ["valid"] if valid else []


def _vendors(told: Mapping[str, int]) -> Sequence[Measure]:
    return *_f_scores("tool_call", told), share("schema_accuracy", told.get("valid", 0), told.get("called", 0))


# ── does it do so every time ─────────────────────────────────────────────────


def _trials(sample: Sample, _: Sample | None) -> Iterator[str]:
    if not sample.task or sample.reward is None:
        yield "excluded"
        return
    yield f"n/{sample.task}"
    if abs(sample.reward - 1) <= FULL_REWARD:
        yield f"c/{sample.task}"


def _pass_hat(told: Mapping[str, int]) -> Sequence[Measure]:
    tasks = [(told.get(f"c/{key[2:]}", 0), told[key]) for key in sorted(told) if key.startswith("n/")]
    fewest = min((trials for _, trials in tasks), default=0)
    left = told.get("excluded", 0)
    return [
        _mean(f"{name}{k}", [of(won, trials, k) for won, trials in tasks], left)
        for k in range(1, fewest + 1)
        for name, of in (("pass^", _always), ("pass@", _ever))
    ]


def _mean(name: str, values: Sequence[float], left: int) -> Measure:
    return Measure(name, sum(values) / len(values), round(sum(values), 6), len(values), of_mean(values), left)


def _always(won: int, trials: int, k: int) -> float:
    """How likely k trials, drawn of these without replacement, are all won."""
    return comb(won, k) / comb(trials, k)


def _ever(won: int, trials: int, k: int) -> float:
    """How likely one of k trials is won."""
    return 1 - comb(trials - won, k) / comb(trials, k)


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "calls",
            "call_rate: answers with a call that runs / answers.  parse_rate: answers all of whose written calls have a"
            " JSON object for arguments, after repair / answers in which the judge saw a call written.  irrelevance:"
            " answers without a decodable call / answers to questions that need none (gold).  relevance: answers with a"
            " decodable call / answers to questions that need one (gold).",
            _rate, _rates,
        ),
        Metric(
            "trigger",
            "Precision, recall and F1 of calling at all: positive is an answer with a call that runs, true where the"
            " gold needs calls or, with a baseline, where the baseline's answer to the same question calls.",
            _trigger_of, _triggers, "gold or baseline",
        ),
        Metric(
            "schema",
            "argument_json: calls whose arguments are a JSON object / calls.  schema_validity: calls of a declared tool"
            " whose arguments fit its schema / calls.  answer_validity: answers all of whose calls are so / answers"
            " with calls.  Each before repair (as written) and after it.",
            _soundness, _sound,
        ),
        Metric(
            "names",
            "hallucinated_tool: calls of a name that is not declared / calls.  hallucinated_parameter: calls with a key"
            " that is not declared / readable calls of declared tools whose additionalProperties is not true."
            "  Answers to questions of which nobody said what tools there were are excluded.",
            _names, _hallucinations,
        ),
        Metric(
            "bfcl",
            "The leaderboard's AST match: as many calls as expected, in any order; the name equal (dots may be written"
            " as `_`), every required parameter there, no key beyond schema and answer, each value among the possible"
            " ones and of the declared type or a possible answer's (an integer passes for a number); strings without"
            " case, blanks and `,./-_*^`.  All answers, then by category.",
            _matching(Strictness.EXACT), _matches("bfcl_ast"), "gold",
        ),
        Metric(
            "answers",
            "As bfcl, but a value's type is not compared where the value is equal (5.0 for 5).",
            _matching(Strictness.LOOSE), _matches("answers"), "gold",
        ),
        Metric(
            "when2call",
            "Mean F1 over the classes direct, tool_call, request_for_info and cannot_answer that the gold has; an"
            " answer with a call that runs is tool_call.  calls_without_tools: answers with a written call / answers to"
            " questions for which no tool was offered.",
            _replies, _macro_f1, "gold",
        ),
        Metric(
            "k2vv",
            "Kimi K2's vendor verifier: positive is an answer that finished with `tool_calls`; precision, recall and F1"
            " against the official answers (baseline).  schema_accuracy: answers that finished with `tool_calls` and"
            " all of whose calls fit their schemas as written / answers that finished so.",
            _vendor, _vendors, "baseline",
        ),
        Metric(
            "pass^k",
            "Mean over tasks of C(c, k) / C(n, k) with c of n trials won (reward within 1e-6 of 1), for k up to the"
            " fewest trials of a task; pass@k: of 1 - C(n-c, k) / C(n, k).  Trials that a broken machine ended are"
            " excluded.",
            _trials, _pass_hat, "task",
        ),
    )
}  # fmt: skip
"""Every score by name."""
