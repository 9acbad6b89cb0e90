"""Settings out of environment variables, which count before the file.

Knows the form's sections and words; nothing of what they mean.  Contract: every plain setting of `SECTIONS` has exactly
one variable, made of its name: `[server] port` is DRAGOMAN_PORT, `[limits] body` is DRAGOMAN_LIMITS_BODY.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .json_schema import FORM

BEFORE = "DRAGOMAN_"
SECTIONS: Mapping[str, str] = {
    "server": "", "limits": "LIMITS_", "fallback": "FALLBACK_", "mcp": "MCP_", "recordings": "RECORDINGS_",
}  # fmt: skip
"""Sections whose settings have variables → what their names begin with."""
FLAGS: Mapping[str, bool] = {"true": True, "1": True, "yes": True, "on": True,
                             "false": False, "0": False, "no": False, "off": False}  # fmt: skip


def _variables() -> dict[str, tuple[str, str, str]]:
    sections = ((section, FORM["properties"][section]["properties"]) for section in SECTIONS)
    return {
        f"{BEFORE}{SECTIONS[section]}{name.upper()}": (section, name, str(shape.get("type", "string")))
        for section, shapes in sections
        for name, shape in shapes.items()
    }


VARIABLES: Mapping[str, tuple[str, str, str]] = _variables()
"""Variable → the section, the word, and the type of what it sets."""


def overlaid(data: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """`data` with what the environment sets, and path → variable of what that is."""
    merged, places = dict(data), dict[str, str]()
    for variable, (section, name, kind) in VARIABLES.items():
        written = environ.get(variable, "").strip()
        if written and isinstance(merged.get(section, {}), Mapping):
            merged[section] = {**merged.get(section, {}), name: _value(written, kind)}
            places[f"$.{section}.{name}"] = variable
    return merged, places


def _value(written: str, kind: str) -> Any:
    """What is written, as the kind that is wanted; as a text where it is none, for the form to complain about."""
    if kind == "boolean":
        return FLAGS.get(written.lower(), written)
    if kind == "array":
        return [each.strip() for each in written.split(",") if each.strip()]
    try:
        return int(written) if kind == "integer" else float(written) if kind == "number" else written
    except ValueError:
        return written
