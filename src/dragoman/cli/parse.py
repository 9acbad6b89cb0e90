"""`dragoman parse`: what a model wrote → the calls in it, judged."""

from __future__ import annotations

from typing import IO, Any

import click

from ..dialects.engine.parse import parse
from ..dialects.explain.findings import verdicts
from ..dialects.judge.provenance import ShownText
from . import explain
from .inputs import read_row, read_text, read_tools
from .outputs import parsed_as_json, print_json, print_parsed


@click.command(name="parse")
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@click.option("--tools", type=click.File(encoding="utf-8"), help="Tools the model had: JSON, any provider's form.")
@click.option(
    "--dialect", "dialects", multiple=True, help="Dialect to parse, or a row's .json file (repeatable). Default: all."
)
@click.option("--finish-reason", help="Stop reason of the model; with length a call that was cut is refused.")
@click.option("--prefix", default="", help=r"Text the chat template had already opened, such as '<think>\n'.")
@click.option("--shown", type=click.File(encoding="utf-8"), multiple=True, help="Text shown to the model.")
@click.option(
    "--doubt", type=click.Choice(["ask", "run", "text"]), default="ask", show_default=True,
    help="Fate of calls that were perhaps not meant.",
)  # fmt: skip
@click.option(
    "--confirmed", multiple=True,
    help="Way of writing that this model has confirmed, as a report's evidence names it (habit; repeatable).",
)  # fmt: skip
@click.option("--nonce", default="", help="Code that the prompt asked for: calls without it stay text.")
@click.option("--strict", is_flag=True, help="Demand the dialect to the letter.")
@click.option(
    "--explain", "explained", is_flag=True,
    help="Show every candidate in its place, which rule decided, and by what evidence.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917 -- click hands over every option by name
    file: IO[str],
    tools: IO[str] | None,
    dialects: tuple[str, ...],
    finish_reason: str | None,
    prefix: str,
    shown: tuple[IO[str], ...],
    doubt: str,
    confirmed: tuple[str, ...],
    nonce: str,
    strict: bool,
    explained: bool,
    as_json: bool,
) -> None:
    """Find the tool calls in FILE (standard input when not given).

    Without --tools any name is believed where the markup is strong, or where a call is all there is; with it only those
    tools can be called.
    """
    text = read_text(file)
    asked: dict[str, Any] = {
        "tools": read_tools(tools),
        "dialects": [read_row(d) if d.endswith(".json") else d for d in dialects if d != "auto"] or "auto",
        "finish_reason": finish_reason,
        "prefix": prefix.replace("\\n", "\n"),
        "shown": [ShownText(read_text(file), name=file.name) for file in shown],
        "confirmed": confirmed,
        "nonce": nonce,
        "strict": strict,
    }
    if explained:
        findings = verdicts(text, doubt=doubt, **asked)
        print_json(explain.as_json(findings)) if as_json else explain.explain(text, findings)
        return
    parsed = parse(text, doubt=doubt, **asked)
    if as_json:
        print_json(parsed_as_json(parsed))
    else:
        print_parsed(parsed)
