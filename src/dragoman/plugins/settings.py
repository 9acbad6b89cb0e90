"""What whoever runs a model server may choose of how its answers are read: environment variables, read once.

Knows names and words; nothing of servers.  Contract: an unset variable means the default; a wrong word is a
`UsageError` that names the variable, when the server starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dragoman.dialects.rows.table import resolve
from dragoman.errors import UsageError

DIALECT = "DRAGOMAN_DIALECT"
DOUBT = "DRAGOMAN_DOUBT"
INVALID = "DRAGOMAN_INVALID_ARGUMENTS"
STREAM = "DRAGOMAN_STREAM_ARGUMENTS"


@dataclass(frozen=True, slots=True)
class Settings:
    """How answers are read.

    dialect           the row that the model's chat template asks for; "": not said.  All rows listen in any case
    run_doubtful      run what was perhaps not meant as a call; otherwise it stays text, for nobody can be asked here
    pass_invalid      give a call whose arguments do not fit its schema to the client, who can tell the model so
    stream_arguments  send a call's arguments as they come; otherwise each call goes out whole, at the end
    """

    dialect: str = ""
    run_doubtful: bool = False
    pass_invalid: bool = True
    stream_arguments: bool = False

    @property
    def doubt(self) -> str:
        """The word for it that the parser knows."""
        return "run" if self.run_doubtful else "text"


def settings(environ: Mapping[str, str]) -> Settings:
    """The settings that `environ` holds.  Raises UsageError for a word that is none."""
    dialect = environ.get(DIALECT, "")
    if dialect:
        resolve(dialect)
    return Settings(
        dialect=dialect,
        run_doubtful=_choice(environ, DOUBT, "text", "run"),
        pass_invalid=not _choice(environ, INVALID, "pass", "refuse"),
        stream_arguments=_choice(environ, STREAM, "0", "1"),
    )


def _choice(environ: Mapping[str, str], name: str, usual: str, other: str) -> bool:
    """Is `other` chosen?"""
    word = environ.get(name) or usual
    if word not in (usual, other):
        raise UsageError(f"{name} is {word!r}; set it to {usual!r} (the default) or {other!r}")
    return word == other
