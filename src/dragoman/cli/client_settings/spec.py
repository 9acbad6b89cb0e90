"""What a client program needs to be told to find a gateway, as data.

A client is a row: the file, variables or command its settings live in, each a template.  Knows no particular client,
and reads and writes nothing.

Contract: a template is plain data whose strings (keys too) may hold `{url}`, `{model}` and `{key}`; `fill` replaces
these three and nothing else.  A row's own places (`Client.words`) are replaced before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ...types import NOTHING


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
    words      codec → what its settings say for that API, by the row's own places; none: they are the same for all
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
    words: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: NOTHING)
    files: tuple[File, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    commands: tuple[tuple[str, ...], ...] = ()
    code: str = ""
    start: tuple[str, ...] = ()
    note: str = ""

    def settings(self, target: Target, api: str = "") -> Client:
        """The row with its templates filled, for the API called `api`: its first when not given."""
        api = api or self.api[0]
        own = {f"{{{place}}}": word for place, word in self.words.get(api, NOTHING).items()}

        def filled(template: Any) -> Any:
            return fill(_filled(template, own), target)

        return Client(
            name=self.name,
            title=self.title,
            kind=self.kind,
            api=(api,),
            source=self.source,
            files=tuple(File(f.path, f.form, filled(f.content)) for f in self.files),
            variables=filled(self.variables),
            commands=tuple(tuple(map(filled, words)) for words in self.commands),
            code=filled(self.code),
            start=tuple(map(filled, self.start)),
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
    return _filled(template, {"{url}": target.url, "{model}": target.model, "{key}": target.key})


def _filled(template: Any, places: Mapping[str, str]) -> Any:
    if isinstance(template, str):
        return _in_one_pass(template, places)
    if isinstance(template, Mapping):
        return {_in_one_pass(key, places): _filled(value, places) for key, value in template.items()}
    if isinstance(template, Sequence):
        return [_filled(value, places) for value in template]
    return template


def _in_one_pass(text: str, places: Mapping[str, str]) -> str:
    """`text` with every place replaced; what a value holds is never taken for a place."""
    done, rest = "", text
    while found := [(at, place) for place in places if (at := rest.find(place)) >= 0]:
        at, place = min(found)
        done, rest = done + rest[:at] + places[place], rest[at + len(place) :]
    return done + rest
