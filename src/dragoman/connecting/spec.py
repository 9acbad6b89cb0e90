"""What a client program needs to be told to find a gateway, as data.

A client is a row: the file, variables or command its settings live in, each a template.  Knows no particular client,
and reads and writes nothing.

Contract: a template is plain data whose strings (keys too) may hold `{url}`, `{model}` and `{key}`; `fill` replaces
these three and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..types import NOTHING


class Form(StrEnum):
    """How a settings file is written."""

    JSON = "json"
    JSONC = "jsonc"
    TOML = "toml"
    YAML = "yaml"
    DOTENV = "dotenv"


class Kind(StrEnum):
    """What kind of program a client is."""

    AGENT = "agent"
    CHAT = "chat"
    SDK = "sdk"
    FRAMEWORK = "framework"


@dataclass(frozen=True, slots=True)
class File:
    """A settings file: where it is (`~` the home, `{config}` the user's configuration folder), and what it must hold.

    Objects in `content` join those in the file; a list joins a list, where entries of one `name`, `id` or `model_id`
    are one entry.
    """

    path: str
    form: Form
    content: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One program.

    api        the codecs it can speak to the gateway, the one its settings choose first
    files      settings files;  variables  environment variables;  commands  what must be run once
    code       the same in a program's own language, for libraries that take it there
    start      how it is started, with a task and without asking back where it can be
    note       what else is worth knowing
    """

    name: str
    title: str
    kind: Kind
    api: tuple[str, ...]
    source: str
    files: tuple[File, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    commands: tuple[tuple[str, ...], ...] = ()
    code: str = ""
    start: tuple[str, ...] = ()
    note: str = ""

    def told(self, target: Target) -> Client:
        """The row with its templates filled."""
        return Client(
            name=self.name,
            title=self.title,
            kind=self.kind,
            api=self.api,
            source=self.source,
            files=tuple(File(f.path, f.form, fill(f.content, target)) for f in self.files),
            variables=fill(self.variables, target),
            commands=tuple(tuple(fill(word, target) for word in words) for words in self.commands),
            code=fill(self.code, target),
            start=tuple(fill(word, target) for word in self.start),
            note=self.note,
        )


@dataclass(frozen=True, slots=True)
class Target:
    """The gateway: its root (without `/v1` and without a slash at its end), the model to ask for, the key to send."""

    url: str
    model: str
    key: str = field(repr=False)


def fill(template: Any, target: Target) -> Any:
    """`template` with what it holds places for."""
    if isinstance(template, str):
        # One pass, so that what a value holds is never taken for a place.
        places = {"{url}": target.url, "{model}": target.model, "{key}": target.key}
        return _in_one_pass(template, places)
    if isinstance(template, Mapping):
        return {fill(key, target): fill(value, target) for key, value in template.items()}
    if isinstance(template, Sequence):
        return [fill(value, target) for value in template]
    return template


def _in_one_pass(text: str, places: Mapping[str, str]) -> str:
    done, rest = "", text
    while found := [(at, place) for place in places if (at := rest.find(place)) >= 0]:
        at, place = min(found)
        done, rest = done + rest[:at] + places[place], rest[at + len(place) :]
    return done + rest
