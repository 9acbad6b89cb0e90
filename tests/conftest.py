"""What holds for all tests: how much of them runs, and that properties are searched without a clock.

Everything runs unless `--sample` is given: then a test with many cases runs a few of them (`support/sampling.py`), a law
tries a fifth of its examples, and tests marked `slow` are left out.  What is left out is the same each time, and counted
at the end.  Examples are derandomized, so that a run says something about a change; `--hypothesis-profile searching`
looks for new ones, and `--examples 50` for fifty times as many.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import sampling
from tests.support.places import TESTS

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("searching", UNHURRIED)
settings.register_profile("unhurried", UNHURRIED, derandomize=True)
settings.load_profile("unhurried")

os.environ.setdefault("SSL_CERT_DIR", str(TESTS))
"""Nobody is trusted: reading whom this machine trusts would take more time than the request of a test, each time a client is made."""

LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", action="store_true", help=f"at most {sampling.CASES} cases of each test, {sampling.COSTLY} where they are costly, nothing slow")
    parser.addoption("--examples", type=float, metavar="TIMES", help="how many times the examples a law asks for it tries")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = 0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Make the tests without looking for garbage, and look for none among them afterwards: they last as long as the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    yield
    if metafunc.config.option.sample:
        metafunc.config.stash[LEFT_OUT] += sampling.thin(metafunc)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.sample:
        chosen = sampling.sample(items)
        left_out = [item for item in items if item not in chosen]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item in chosen]
        config.stash[LEFT_OUT] += len(left_out)
    times: float = config.option.examples or (sampling.SHARE if config.option.sample else 1)
    if times != 1:
        sampling.try_examples(items, times)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:  # a process of several: all leave out the same
        output["left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash[LEFT_OUT]:
        terminalreporter.write_line(f"a sample: {left_out} cases were left out; scripts/test --all runs every one")
