"""`dragoman check`: is a `dragoman.toml` right, and what does it come to?

Contract: nothing is asked of any server; exit code 0 for a file that can be served, 2 for one that cannot, with all
that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from ..gateway.config.json_schema import FORM
from ..gateway.config.load import Settings, import_litellm, load
from ..gateway.config.words import FILE
from ..providers.families import profile
from ..providers.route import Route
from .outputs import print_json, print_table

IDLE = "the MCP server {name!r} is attached to no model and is not started; write mcp = [{name!r}] into one"
HEAD = ("MODEL", "ASKED", "API", "TOOLS", "DIALECT", "WHERE")


@click.command(name="check")
@click.argument("file", type=click.Path(path_type=Path), default=FILE)
@click.option("--schema", is_flag=True, help="Print the file's JSON Schema, for editors.")
@click.option("--litellm", is_flag=True, help="Read FILE as a LiteLLM proxy's; print the same as a dragoman.toml.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(file: Path, schema: bool, litellm: bool, as_json: bool) -> None:
    """Check FILE (dragoman.toml when not given), and show where each model goes."""
    if schema:
        print_json(FORM)
        return
    if litellm:
        click.echo(import_litellm(file).toml, nl=False)
        return
    settings = load(file)
    rows = list(_rows(settings))
    if as_json:
        print_json([dict(zip(map(str.lower, HEAD), row, strict=True)) for row in rows])
    else:
        print_table(HEAD, rows)
    for notice in settings.notices:
        click.echo(notice, err=True)
    for name in settings.idle:
        click.echo(IDLE.format(name=name), err=True)
    click.echo(_summary(settings), err=True)


def _rows(settings: Settings) -> Iterator[tuple[str, ...]]:
    names = [*settings.config.models, *(["(any other)"] if settings.config.default is not None else [])]
    for name in names:
        for number, route in enumerate(settings.config.routes(name), 1):
            shared = settings.config.balance(name)[0] is not None
            yield _row(name, number, route, f", weight {route.weight:g}" if shared else "")


def _row(name: str, number: int, route: Route, share: str = "") -> tuple[str, ...]:
    model = route.model or ("(as asked)" if name == "(any other)" else name)
    prompted = route.prompt_dialect_for(model).name
    parsed_for = "all" if route.dialects == "auto" else ", ".join(row.name for row in route.parser_dialects(model))
    known = profile(model).dialect
    dialect = f"{prompted}; parsed for: {parsed_for}" + (f"; taught: {known}" if known and known != prompted else "")
    where = f"{number}. {route.provider.name}/{model}{share}"
    return name, where, route.provider.codec, str(route.mode), dialect, route.root()


def _summary(settings: Settings) -> str:
    config, server = settings.config, settings.server
    asked = f"{_counted(len(config.access), 'key')} known" if config.access else "no key is asked for"
    mcp = ", ".join(config.mcp.servers)
    attached = f"MCP servers attached: {mcp}; " if mcp else ""
    models = _counted(len(config.models), "model") + (", and any other" if config.default is not None else "")
    return f"right: {models}; {asked}; {attached}listens on {server.host}:{server.port}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
