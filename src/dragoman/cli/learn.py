"""`dragoman learn`: a model's chat template or tokenizer configuration → the dialect it speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

import click

from ..dialects.learning import Learned, learn
from ..dialects.spec import Dialect, Span
from .inputs import name, read_json, read_text
from .outputs import print_json


@click.command(name="learn")
@click.option("--template", type=click.File(encoding="utf-8"), help="Chat template (chat_template.jinja).")
@click.option("--tokenizer-config", type=click.File(encoding="utf-8"), help="tokenizer_config.json of the model.")
@click.option("--response-template", type=click.File(encoding="utf-8"), help="Response template, as JSON.")
@click.option("--name", "row_name", default="learned", show_default=True, help="Name of the dialect.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    template: IO[str] | None,
    tokenizer_config: IO[str] | None,
    response_template: IO[str] | None,
    row_name: str,
    as_json: bool,
) -> None:
    """Learn how a model writes tool calls from the files it is published with.

    What is printed was proved: the row reads every turn the template writes, and what the row writes is read back.
    The template is run in a sandbox; learn from models you would run.
    """
    if not (template or tokenizer_config or response_template):
        raise click.UsageError("give --template, --tokenizer-config or --response-template")
    learned = learn(
        _template(read_text(template)) if template else None,
        tokenizer_config=_object(tokenizer_config),
        response_template=_object(response_template),
        name=row_name,
    )
    if as_json:
        print_json(learned_as_json(learned))
    else:
        _print(learned)


def _template(text: str) -> str:
    """A template, also out of a `chat_template.json` that wraps it."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value["chat_template"] if isinstance(value, dict) and isinstance(value.get("chat_template"), str) else text


def _object(source: IO[str] | None) -> dict[str, Any] | None:
    if source is None:
        return None
    value = read_json(source)
    if not isinstance(value, dict):
        raise click.BadParameter(f"{name(source)} must hold a JSON object")
    return value


def learned_as_json(learned: Learned) -> dict[str, Any]:
    """What was learned as plain data; the notation says its kind."""
    row = asdict(learned.dialect)
    row["args"] = {"kind": type(learned.dialect.args).__name__, **row["args"]}
    return {**asdict(learned), "dialect": row}


def _print(learned: Learned) -> None:
    row = learned.dialect
    click.secho(f"dialect    {row.name}", bold=True)
    for label, text in _lines(row):
        click.echo(f"{label:<10} {text}")
    if learned.prefix:
        click.echo(f"{'prefix':<10} {_shown(learned.prefix)}  (the prompt has written it when the model begins)")
    for note in learned.notes:
        click.echo(f"{'note':<10} {note}")
    click.echo(f"sample     {_shown(row.sample)}")


def _lines(row: Dialect) -> Iterator[tuple[str, str]]:
    """The row, without what it does not have."""
    for label, span in (("section", row.section), ("call", row.call), ("tool", row.tool), ("body", row.body)):
        if span.open or span.close:
            yield label, _span(span)
    yield "arguments", type(row.args).__name__ + ("" if row.listing.value == "repeat" else f", in an {row.listing}")
    yield from (("reasoning", _span(span)) for span in row.reasoning)
    if row.result:
        yield "results", _shown(row.result)
    if row.strength.value == "weak":
        yield "strength", "weak: a call only alone, at the end, by a declared name"


def _span(span: Span) -> str:
    return " … ".join(_shown(side[0]) if side else "" for side in (span.open, span.close)).strip()


def _shown(text: str) -> str:
    """Text on one line."""
    return text.replace("\n", "⏎")
