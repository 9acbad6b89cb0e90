"""Turns drawn by number are sent byte for byte as by a process that remembers nothing, whatever came before them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from dragoman.turn.capabilities import Capabilities
from tests.support.drawn_turns import ROUTES, Drawn, sent, taught
from tests.support.fresh_memory import FreshMemory, written

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a memory is fresh in a fork")
TURNS = 10


@pytest.fixture(scope="module")
def fresh() -> Iterator[FreshMemory]:
    with FreshMemory() as memory:
        yield memory


@pytest.mark.parametrize("seed", range(24))
def test_a_turn_is_sent_as_by_a_process_that_remembers_nothing(fresh: FreshMemory, seed: int) -> None:
    drawn, learned = Drawn(seed), Capabilities()
    known = 0
    for at in range(TURNS):
        request, name = drawn.step()
        taught(drawn.lessons[known:], learned)
        known = len(drawn.lessons)
        fresh.asks(written((request, name, drawn.lessons)))
        assert (sent(request, ROUTES[name], learned), at) == (fresh.sent(), at), name
