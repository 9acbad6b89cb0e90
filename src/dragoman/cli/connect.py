"""`dragoman connect`: the settings of a client program that make it use the gateway.

stdout carries the settings: what a shell can evaluate, and files and code as comments say.  With `--write` the files
are written, and stdout keeps what is left to do.
Contract: what else is in a file stays, and the file as it was is kept beside it; nothing is written unasked.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Any

import click

from ..errors import DragomanError, UsageError
from ..gateway import discover
from ..gateway.discovery import Place
from ..providers.rows import COMPATIBLE
from .client_settings import CLIENTS, Client, File, Target, located, merged, write
from .outputs import print_json, print_table

URL = "http://127.0.0.1:4242"
NO_KEY = "dragoman"
"""Sent to a gateway that asks for none; many programs refuse to start without one."""


@click.command(name="connect")
@click.argument("name", required=False)
@click.option("--url", default=URL, show_default=True, help="Address of the gateway.")
@click.option("--model", default="", help="Model to ask for. Default: the first the gateway lists.")
@click.option("--api", default="", help="API to use, of those the client has. Default: its first.")
@click.option("--key", envvar="DRAGOMAN_KEY", default=NO_KEY, help="Key of the gateway; better in DRAGOMAN_KEY.")
@click.option("--write", "writing", is_flag=True, help="Write the settings files.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917 -- click hands over every option by name
    name: str | None, url: str, model: str, api: str, key: str, writing: bool, as_json: bool
) -> None:
    """Show, or write, what makes the client NAME use the gateway; without NAME, list the clients."""
    if name is None:
        _list(as_json=as_json)
        return
    row = _row(name)
    if api and api not in row.api:
        raise UsageError(f"{name} does not speak {api!r} to a gateway; choose one of: {', '.join(row.api)}")
    root = _root(url)
    settings = row.settings(Target(root, model or _first_model(root), key), api)
    written = [_write(file) for file in settings.files] if writing else []
    if as_json:
        print_json({**_as_json(settings), "written": written})
        return
    _print(settings, files=not writing)


def _list(*, as_json: bool) -> None:
    rows = CLIENTS.values()
    if as_json:
        print_json([{**_about(row), "settings": _places(row)} for row in rows])
        return
    shown = ((row.name, row.kind.value, ", ".join(row.api), ", ".join(_places(row))) for row in rows)
    print_table(("NAME", "KIND", "API", "SETTINGS"), shown)


def _about(row: Client) -> dict[str, Any]:
    return {"name": row.name, "title": row.title, "kind": row.kind.value, "api": list(row.api)}


def _places(row: Client) -> list[str]:
    """Where the settings of a row live."""
    return [
        *(f.path.replace("{config}", "~/.config") for f in row.files),
        *row.variables,
        *(" ".join(words[:2]) for words in row.commands),
        *(["code"] if row.code and not row.variables else []),
    ]


def _row(name: str) -> Client:
    if name not in CLIENTS:
        raise UsageError(f"no client {name!r}; choose one of: {', '.join(CLIENTS)}")
    return CLIENTS[name]


def _root(url: str) -> str:
    root = url.rstrip("/").removesuffix("/v1")
    if not root.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is not an address; write it like {URL}")
    return root


def _first_model(root: str) -> str:
    """The first model the gateway lists."""
    found = discover([Place(provider=COMPATIBLE["openai_chat"], base_url=root + "/v1")])
    models = [model for server in found for model in server.models]
    if not models:
        raise DragomanError(f"no gateway at {root} says which models it has; start it, or say --model NAME")
    click.echo(f"model: {models[0]} (--model says otherwise)", err=True)
    return models[0]


def _write(file: File) -> dict[str, Any]:
    done = write(file)
    backup = f"; as it was: {done.backup}" if done.backup else ""
    click.echo(f"{'wrote' if done.changed else 'already set:'} {done.path}{backup}", err=True)
    return {"path": str(done.path), "changed": done.changed, "backup": str(done.backup) if done.backup else None}


def _as_json(row: Client) -> dict[str, Any]:
    return {
        **_about(row),
        "files": [
            {"path": str(located(f.path)), "form": f.form.value, "text": merged("", f.form, f.content)}
            for f in row.files
        ],
        "variables": dict(row.variables),
        "commands": [list(words) for words in row.commands],
        "code": row.code,
        "start": list(row.start),
        "source": row.source,
        "note": row.note,
    }


def _print(row: Client, *, files: bool) -> None:
    """Variables and commands as a shell runs them; the rest as comments, unless it is all there is."""
    shown = row.files if files else ()
    for file in shown:
        click.echo(f"# {_short(file)}\n{merged('', file.form, file.content)}")
    for line in _shell_lines(row):
        click.echo(line)
    notes = {
        "then": f"{shlex.join(row.start)} …" if row.start else "",
        "note": row.note,
        "with --write": "this is put into the files; what else they hold stays" if shown else "",
    }
    for head, text in notes.items():
        if text:
            click.echo(f"{head}: {text}", err=True)


def _shell_lines(row: Client) -> Iterator[str]:
    yield from (f"export {name}={shlex.quote(value)}" for name, value in row.variables.items())
    yield from map(shlex.join, row.commands)
    if row.code:
        yield "\n".join(f"# {line}" for line in row.code.splitlines()) if row.variables else row.code


def _short(file: File) -> str:
    path, home = str(located(file.path)), os.path.expanduser("~")
    return "~" + path.removeprefix(home) if path.startswith(home + os.sep) else path
