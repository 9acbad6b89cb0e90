"""`dragoman prompt`: tools → the text that explains them to a model without tool calling."""

from __future__ import annotations

from typing import IO

import click

from ..dialects import DIALECTS
from ..dialects.writing.prompt import augment_system_prompt
from .inputs import read_text, read_tools


@click.command(name="prompt")
@click.argument("tools", type=click.File(encoding="utf-8"), default="-")
@click.option("--dialect", default="tool_call_fence", show_default=True, help="Dialect the model shall write.")
@click.option("--compact", is_flag=True, help="One line per tool: for weak models and small contexts.")
@click.option("--nonce", default="", help="Letters and digits that must stand in every fence, so that none is forged.")
@click.option("--system", type=click.File(encoding="utf-8"), help="System prompt to append to.")
def command(tools: IO[str], dialect: str, compact: bool, nonce: str, system: IO[str] | None) -> None:
    """Write the prompt for TOOLS (a JSON file of definitions; standard input when not given)."""
    existing = read_text(system) if system else None
    known = read_tools(tools) or ()
    click.echo(augment_system_prompt(existing, known, compact=compact, dialect=DIALECTS[dialect], nonce=nonce))
