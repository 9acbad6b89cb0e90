"""Settings joined with what a file already holds.

Text in, text out: comments, order and layout of what is there stay where the form allows it.  Knows the forms, not
the clients, and no files.

Contract: what comes out reads as `join(before, template)`; where that cannot be had it raises `UsageError`, and nothing
that was in the file is ever lost silently.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import UsageError
from . import dotenv_text, json_text, toml_text, yaml_text
from .spec import Form

IDENTITIES = ("name", "id", "model_id")
"""The fields that say that two entries of a list are one."""


@dataclass(frozen=True, slots=True)
class _Writing:
    """One form: text → data (raising ValueError for what is not of the form), and text + template → text."""

    read: Callable[[str], Any]
    edit: Callable[[str, Any], str]


_WRITINGS: Mapping[Form, _Writing] = {
    Form.JSON: _Writing(json_text.read, json_text.edit),
    Form.JSONC: _Writing(json_text.read, json_text.edit),
    Form.TOML: _Writing(tomllib.loads, toml_text.edit),
    Form.YAML: _Writing(yaml_text.read, yaml_text.edit),
    Form.DOTENV: _Writing(dotenv_text.read, dotenv_text.edit),
}


def read(text: str, form: Form) -> Any:
    """The settings a text holds; an empty text holds none.  Raises UsageError for what is not of the form."""
    try:
        return _WRITINGS[form].read(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        message = re.sub(r"\s+", " ", str(error))[:200]
        raise UsageError(f"the file is not {form.upper()}: {message}; mend it, or move it away") from None


def merged(text: str, form: Form, template: Any) -> str:
    """`text` with the settings of `template` in it; the same text where it has them."""
    before = read(text, form)
    wanted = join(before, template)
    if wanted == before or not wanted:
        return text
    done = _WRITINGS[form].edit(text, wanted)
    if not _reads_as(done, form, wanted):
        raise UsageError(
            "the file is laid out in a way that is not changed here; add by hand what is shown without --write"
        )
    return done


def _reads_as(text: str, form: Form, wanted: Any) -> bool:
    try:
        return bool(read(text, form) == wanted)
    except UsageError:
        return False


def join(before: Any, template: Any) -> Any:
    """What both say; where they differ, `template`.  Entries of lists are one where their name is."""
    if isinstance(before, Mapping) and isinstance(template, Mapping):
        return {**before, **{key: join(before.get(key), value) for key, value in template.items()}}
    if isinstance(before, list) and isinstance(template, Sequence) and not isinstance(template, str):
        joined = list(before)
        for entry in template:
            _enter(joined, entry)
        return joined
    return template


def _enter(joined: list[Any], entry: Any) -> None:
    for place, other in enumerate(joined):
        if _one(other, entry):
            joined[place] = join(other, entry)
            return
    joined.append(entry)


def _one(entry: Any, other: Any) -> bool:
    if not (isinstance(entry, Mapping) and isinstance(other, Mapping)):
        return bool(entry == other)
    key = next((key for key in IDENTITIES if key in other), "")
    return bool(key) and entry.get(key) == other[key]
