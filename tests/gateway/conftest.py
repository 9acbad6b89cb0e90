"""What holds for all tests of the gateway."""

from __future__ import annotations

import pytest

from dragoman.gateway import mcp_tools
from tests.support.clocks import LONG


@pytest.fixture(autouse=True)
def _ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are taken when MCP servers are ready, however long that takes on a busy machine."""
    monkeypatch.setattr(mcp_tools, "READY", LONG)
