"""Every client program we know how to set up, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .agents import AGENTS
from .libraries import LIBRARIES
from .spec import Client

CLIENTS: Mapping[str, Client] = MappingProxyType({row.name: row for row in (*AGENTS, *LIBRARIES)})
"""Name → row: the programs people talk to first, then what programs are built with."""
