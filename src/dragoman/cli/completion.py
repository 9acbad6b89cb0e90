"""`dragoman completion bash | zsh | fish`: the script by which a shell completes the program's words.

The script holds every command, option and value, so that completing starts no program and imports nothing; it is made
from the commands themselves, once, and again after an upgrade.  Knows what the values of options are called; what a
shell's script looks like is in `completion_scripts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import click

from ..codecs import CODECS
from ..dialects import DIALECTS
from ..providers.rows import PROVIDERS
from .client_settings import CLIENTS
from .completion_scripts import SHELLS, Files, Level, Option, Values


def _models() -> Iterator[str]:
    return (f"{name}/" for name in PROVIDERS)


def _apis() -> Iterator[str]:
    return iter(dict.fromkeys(api for client in CLIENTS.values() for api in client.api))


WORDS: Mapping[str, Callable[[], Iterator[str]]] = {
    "dialect": lambda: iter(DIALECTS),
    "dialects": lambda: iter(DIALECTS),
    "convert source": lambda: iter(CODECS),
    "convert target": lambda: iter(CODECS),
    "serve upstream": lambda: iter(PROVIDERS),
    "run model": _models,
    "chat model": _models,
    "connect name": lambda: iter(CLIENTS),
    "connect api": _apis,
}
"""The values of what click takes for any text: parameter, or command and parameter → what it may be."""
ROWS = frozenset({"dialect", "dialects"})
"""Parameters that take a file as well."""


@click.command(name="completion")
@click.argument("shell", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    """Print the completion script of SHELL; its first lines say where to put it.

    Names of dialects, APIs, providers and client programs complete as well, and files where files are taken.
    """
    root = click.get_current_context().find_root()
    click.echo(SHELLS[shell](tuple(_levels(root.command, root, ()))), nl=False)


def _levels(command: click.Command, context: click.Context, path: tuple[str, ...]) -> Iterator[Level]:
    """The command at `path`, and those below it."""
    below = _commands(command, context)
    takes = [_values(each, path) for each in command.params if isinstance(each, click.Argument)]
    yield Level(
        path=path,
        commands={name: each.get_short_help_str(100) for name, each in below.items()},
        options=tuple(_options(command, context, path)),
        takes=tuple(takes),
    )
    for name, each in below.items():
        yield from _levels(each, click.Context(each, context, name), (*path, name))


def _commands(command: click.Command, context: click.Context) -> dict[str, click.Command]:
    if not isinstance(command, click.Group):
        return {}
    found = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return {name: each for name, each in found.items() if each is not None}


def _options(command: click.Command, context: click.Context, path: tuple[str, ...]) -> Iterator[Option]:
    for each in command.get_params(context):
        if isinstance(each, click.Option) and not each.hidden:
            plain = each.is_flag or each.count
            values = None if plain else _values(each, path)
            yield Option(names=(*each.opts, *each.secondary_opts), says=each.help or "", values=values)


def _values(parameter: click.Parameter, path: tuple[str, ...]) -> Values:
    """What a parameter takes, as far as it can be known."""
    name = parameter.name or ""
    words = WORDS.get(" ".join((*path, name))) or WORDS.get(name)
    if words is not None:
        return Values(words=tuple(words()), files=Files.ALL if name in ROWS else Files.NONE)
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return Values(words=tuple(map(str, kind.choices)))
    if isinstance(kind, click.Path):
        return Values(files=Files.ALL if kind.file_okay else Files.FOLDERS)
    return Values(files=Files.ALL if isinstance(kind, click.File) or name in {"mcp", "config"} else Files.NONE)
