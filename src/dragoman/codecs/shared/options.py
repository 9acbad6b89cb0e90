"""The options of sampling, read and written by a wire's own table of names.

Knows the fields of `Sampling` and what kind of value each holds; no wire.  Contract: a table gives our name → the
wire's; what stands in it is read and written, and nothing else; an option nobody asked for is not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import JsonObject, Sampling
from .body import number_at, string_at, strings_at, whole_at

_UNSET = Sampling()
_ENDLESS = frozenset({"num_predict"})
"""Names of limits that a negative number lifts; elsewhere there is none where none is sent."""
_WHOLE = frozenset({"max_tokens", "top_k", "seed"})


def read_options(source: JsonObject, names: Mapping[str, str], path: str = "$") -> Sampling:
    """The options in `source`, which stands at `path`.  Raises `CodecError` for a value of another kind."""
    given = [(ours, theirs) for ours, theirs in names.items() if theirs in source and source[theirs] is not None]
    found: dict[str, Any] = {ours: _read(source, ours, theirs, path) for ours, theirs in given}
    return Sampling(**found) if found else _UNSET


def _read(source: JsonObject, ours: str, theirs: str, path: str) -> Any:
    if ours == "stop":
        return strings_at(source, theirs, path)
    if ours == "effort":
        return string_at(source, theirs, path) or None
    return (whole_at if ours in _WHOLE else number_at)(source, theirs, path)


def write_options(sampling: Sampling, names: Mapping[str, str]) -> dict[str, Any]:
    """The options that were asked for, by the wire's names."""
    if sampling is _UNSET:
        return {}
    asked = {theirs: getattr(sampling, ours) for ours, theirs in names.items()}
    limit = names.get("max_tokens", "")
    if limit not in _ENDLESS and (asked.get(limit) or 0) < 0:
        del asked[limit]
    return {key: _plain(value) for key, value in asked.items() if value not in (None, ())}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
