"""`dragoman render`: tool calls → what a model of a dialect writes."""

from __future__ import annotations

from typing import IO, Any

import click

from ..dialects.writing.render import render
from ..types import ToolCall
from .inputs import name, read_dialect, read_json, read_tools


@click.command(name="render")
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@click.option(
    "--dialect", default="tool_call_fence", show_default=True, help="Dialect to write, or its row in a .json file."
)
@click.option("--tools", type=click.File(encoding="utf-8"), help="Tools of the reader; some dialects need them.")
def command(file: IO[str], dialect: str, tools: IO[str] | None) -> None:
    """Write the calls in FILE (standard input when not given) in a dialect.

    FILE holds one call `{"name": …, "arguments": {…}}`, a list of them, or what `dragoman parse --json` prints.
    """
    row = read_dialect(dialect)
    calls = [_call(value, file) for value in _calls(read_json(file))]
    click.echo(render(calls, row, tools=read_tools(tools)))


def _calls(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = value.get("calls", [value])
    return value if isinstance(value, list) else [value]


def _call(value: Any, source: IO[str]) -> ToolCall:
    if isinstance(value, dict):
        named, arguments, given = value.get("name"), value.get("arguments", {}), value.get("id")
        if isinstance(named, str) and named and isinstance(arguments, dict):
            return ToolCall(id=given if isinstance(given, str) else "", name=named, arguments=arguments)
    raise click.BadParameter(f'{name(source)}: every call must look like {{"name": "…", "arguments": {{…}}}}')
