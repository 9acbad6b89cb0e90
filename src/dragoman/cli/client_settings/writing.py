"""Settings files, written: what else is in them stays, and the file as it was is kept beside it.

Contract: a file is replaced whole or not at all; one that has the settings already is not touched; nobody else can
read what is written, for it may hold a key.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from .merging import merged
from .spec import File

BACKUP = ".before-dragoman"
CONFIG = "{config}"
"""In a path: $XDG_CONFIG_HOME, or ~/.config."""


@dataclass(frozen=True, slots=True)
class Written:
    """A settings file that holds what it must; `backup` is how it was before, `changed` whether it was touched."""

    path: Path
    changed: bool
    backup: Path | None = None


def located(path: str, environ: Mapping[str, str] | None = None) -> Path:
    """Where a settings file is on this machine."""
    variables = os.environ if environ is None else environ
    home = Path(variables.get("HOME") or Path.home())
    config = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
    if path.startswith(CONFIG):
        return config / path.removeprefix(CONFIG).lstrip("/")
    return home / path.removeprefix("~/")


def write(file: File, environ: Mapping[str, str] | None = None) -> Written:
    """Put the settings into their file.  Raises UsageError for a file that cannot be joined."""
    path = located(file.path, environ)
    before = _read(path)
    try:
        after = merged(before or "", file.form, file.content)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    if after == before:
        return Written(path, changed=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    backup = None if before is None else _keep(path, before)
    _replace(path, after)
    return Written(path, changed=True, backup=backup)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; mend it, or move it away") from None


def _keep(path: Path, text: str) -> Path:
    """A copy under a name that is free; no earlier copy is overwritten."""
    number = 0
    while True:
        backup = path.with_name(path.name + BACKUP + (f".{number}" if number else ""))
        try:
            handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return backup


def _replace(path: Path, text: str) -> None:
    # A link stays a link: people keep their settings in another folder.
    real = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as new:
            new.write(text)
        Path(name).replace(real)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
