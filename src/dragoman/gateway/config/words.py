"""The file of settings, the variables that count before it, and the words for logs.

The command line names them without loading a gateway.  Knows names; nothing of what they say.
"""

from __future__ import annotations

from enum import StrEnum

FILE = "dragoman.toml"
YAML = frozenset({".yaml", ".yml"})
CONFIG = "DRAGOMAN_CONFIG"
"""Names the file of settings."""
MCP = "DRAGOMAN_MCP"
"""Names a file of MCP servers, in any host's form, whose tools every model gets."""
LOG_FORMAT, LOG_LEVEL = "DRAGOMAN_LOG_FORMAT", "DRAGOMAN_LOG_LEVEL"
INSPECT = "DRAGOMAN_INSPECT"
WORKERS = "DRAGOMAN_WORKERS"
STATE, STATE_DIR, STATE_KEY = "DRAGOMAN_STATE", "DRAGOMAN_STATE_DIR", "DRAGOMAN_STATE_KEY"
NAMESPACE = "DRAGOMAN_NAMESPACE"
RECORDINGS = "DRAGOMAN_RECORDINGS_URL"
LEVELS = ("debug", "info", "warning", "error")
"""Of logs, the least first."""


class Form(StrEnum):
    """How log lines are written."""

    JSON = "json"
    TEXT = "text"
