"""How far the true value may lie from a measured one: intervals at 95 %, without a library and without chance.

Knows counts; nothing of what was counted.
Contract: every bound lies between 0 and 1 and round what was measured; without anything measured it is everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, erfc, sqrt
from typing import TypeAlias

Z = 1.959963984540054
"""Standard deviations to either side that hold 95 % of a normal distribution."""
Interval: TypeAlias = tuple[float, float]


def wilson(count: int, of: int) -> Interval:
    """The interval of a share (Wilson's score interval)."""
    if not of:
        return 0.0, 1.0
    share, square = count / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = Z * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return min(share, max(0.0, middle - reach)), max(share, min(1.0, middle + reach))


def of_f1(true_positive: int, wrong: int) -> Interval:
    """The interval of an F1 with so many true positives beside false positives and negatives together.

    F1 is 2J / (1 + J) of J = TP / (TP + FP + FN), which is a plain share: its interval, carried over, is F1's.
    """
    low, high = wilson(true_positive, true_positive + wrong)
    return 2 * low / (1 + low), 2 * high / (1 + high)


def of_mean(values: Sequence[float]) -> Interval:
    """The interval of a mean of values between 0 and 1, one for each task (normal approximation)."""
    count = len(values)
    if count < 2:
        return 0.0, 1.0
    mean = sum(values) / count
    reach = Z * sqrt(sum((value - mean) ** 2 for value in values) / (count - 1) / count)
    return max(0.0, mean - reach), min(1.0, mean + reach)


def sign_test(better: int, worse: int) -> float:
    """How likely at least so uneven a split of changes is where a change is as likely either way (two-sided, exact)."""
    changes, fewer = better + worse, min(better, worse)
    if better == worse:
        return 1.0
    # beyond that, the normal approximation with its correction for whole counts says the same to four digits
    if changes > 2000:
        return erfc((abs(better - worse) - 1) / sqrt(2 * changes))
    ways: int = sum(comb(changes, n) for n in range(fewer + 1))
    return min(1.0, 2 * ways / (1 << changes))
