"""What holds for all tests of the gateway."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dragoman.gateway import mcp_tools
from tests.support import postgres
from tests.support.clocks import LONG
from tests.support.gateways import ALICE, BOB, openai_client
from tests.support.postgres import Cluster

NUMBERS = count()
"""Of databases."""


@pytest.fixture(autouse=True)
def _ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are taken when MCP servers are ready, however long that takes on a busy machine."""
    monkeypatch.setattr(mcp_tools, "READY", LONG)


@pytest.fixture
def alice(address: str) -> Iterator[Any]:
    """OpenAI's client with Alice's key, at the module's own `address`."""
    with openai_client(address, ALICE) as found:
        yield found


@pytest.fixture
def bob(address: str) -> Iterator[Any]:
    with openai_client(address, BOB) as found:
        yield found


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with postgres.cluster() as found:
        yield found


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=postgres.skip_without)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "recordings.sqlite")
    found: Cluster = request.getfixturevalue("cluster")
    return found.database(f"test_{next(NUMBERS)}")
