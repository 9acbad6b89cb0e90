"""YAML changed in place at its top: new keys are added, plain lines replaced; deeper changes write the file anew.

Contract: a file that is written anew loses its comments; who calls this keeps a copy of it (`writing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml


def read(text: str) -> Any:
    """The value.  Raises ValueError, which says where and shows nothing of the text: it may hold keys."""
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ValueError(f"{error.problem}{line}") from None
    except yaml.YAMLError:
        raise ValueError("it holds characters YAML does not allow") from None


def edit(text: str, wanted: Any) -> str:
    """`text` as `wanted` says."""
    before = read(text) if text.strip() else None
    if not isinstance(before, Mapping) or not isinstance(wanted, Mapping):
        return _written(wanted)
    done = text
    for key, value in wanted.items():
        if key not in before:
            done = done.rstrip("\n") + "\n" + _written({key: value})
        elif before[key] != value:
            done = _replaced(done, key, value)
    return done if _reads_as(done, wanted) else _written(wanted)


def _replaced(text: str, key: Any, value: Any) -> str:
    line = re.compile(rf"^{re.escape(str(key))}[ \t]*:[ \t]+\S[^\n]*$", re.MULTILINE)
    written = _written({key: value}).rstrip("\n")
    return line.sub(lambda _: written, text, count=1)


def _reads_as(text: str, wanted: Any) -> bool:
    try:
        return bool(read(text) == wanted)
    except ValueError:
        return False


def _written(value: Any) -> str:
    text = str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))
    # PyYAML writes some line separators in a way it does not read back, unless it is held to ASCII.
    return text if _reads_as(text, value) else str(yaml.safe_dump(value, sort_keys=False))
