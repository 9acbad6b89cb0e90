"""`dragoman learn`: a model's chat template or tokenizer configuration → the dialect it speaks."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import click

from ..io.learning import Learned, learn
from . import learn_outputs
from .inputs import name, read_json, read_text
from .outputs import print_json
from .recordings import recorded
from .rows import lines, shown

GIVE = "--template, --tokenizer-config or --response-template; or --samples; or --recordings"


@click.command(name="learn")
@click.option("--template", type=click.File(encoding="utf-8"), help="Chat template (chat_template.jinja).")
@click.option("--tokenizer-config", type=click.File(encoding="utf-8"), help="tokenizer_config.json of the model.")
@click.option("--response-template", type=click.File(encoding="utf-8"), help="Response template, as JSON.")
@click.option("--samples", type=click.File(encoding="utf-8"), help="Outputs of the model, with the tools it had.")
@click.option("--recordings", help="Address of a gateway with --inspect, a store of recordings, or a file of vectors.")
@click.option("--key", envvar="DRAGOMAN_KEY", default="", help="Key of that gateway; better in DRAGOMAN_KEY.")
@click.option("--model", default="", help="Part of the name of the model or route whose recordings are meant.")
@click.option(
    "--into", type=click.Path(file_okay=False, path_type=Path), default=Path(), show_default="the working directory",
    help="Directory for the row and the vectors learned from outputs.",
)
@click.option("--name", "row_name", default="learned", show_default=True, help="Name of the dialect.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917 -- click hands over every option by name
    template: IO[str] | None,
    tokenizer_config: IO[str] | None,
    response_template: IO[str] | None,
    samples: IO[str] | None,
    recordings: str | None,
    key: str,
    model: str,
    into: Path,
    row_name: str,
    as_json: bool,
) -> None:
    """Learn how a model writes tool calls: from the files it is published with, or from what it wrote.

    What is printed was proved: the row reads every turn the template writes, and what the row writes is read back.
    The template is run in a process of its own that reaches nothing else.

    From a dozen outputs (--samples, --recordings) a row is proposed that explains them; how it reads each is shown,
    and row and test vectors are written.  The row's file stands wherever a dialect is named.
    """
    published = template or tokenizer_config or response_template
    if sum(map(bool, (published, samples, recordings))) != 1:
        raise click.UsageError(f"give one of {GIVE}")
    if samples or recordings:
        outputs = learn_outputs.read_samples(samples) if samples else recorded(str(recordings), key, model)
        learn_outputs.run(outputs, row_name, into, as_json=as_json)
        return
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
    for line in lines(row):
        click.echo(line)
    if learned.prefix:
        click.echo(f"{'prefix':<10} {shown(learned.prefix)}  (the prompt has written it when the model begins)")
    for note in learned.notes:
        click.echo(f"{'note':<10} {note}")
    click.echo(f"sample     {shown(row.sample)}")
