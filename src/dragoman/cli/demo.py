"""`dragoman demo`: an unmodified client, the gateway, and a model that has no tools, all real, all on loopback.

The client (`demo_client.py`) sends OpenAI tools and gets OpenAI tool calls; its tools (`demo_tools.py`) really run.
The model
(`dragoman.sim`) is scripted, refuses native tools and writes calls as text, with mistakes that can be mended.  What is
shown as judged is read a second time from the model's words, by the parser the gateway uses; the demonstration fails
if the client was told anything else.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import httpx2
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from ..codecs import encode_definitions
from ..dialects import DIALECTS
from ..dialects.engine.parse import parse
from ..dialects.engine.parsed import Parsed
from ..gateway import GatewayConfig, create_app
from ..providers.route import Route
from ..providers.rows import COMPATIBLE
from ..sim import Journal, WeakModel, running, serving
from ..sim.faults import HARMLESS
from .demo_client import ModelAnswer, Piece, Ran, work
from .demo_tools import TOOLS, Workshop
from .outputs import parsed_as_json, print_json, verdict_line

FILES: Mapping[str, str] = MappingProxyType(
    {
        "january.txt": "rent         700.50\ngroceries    212.35\nelectricity   48.10\n",
        "february.txt": "rent         700.50\ngroceries    187.90\n",
    }
)
TASK = "Read january.txt and february.txt, add up the amounts, and write the total to total.txt."
TOTAL = ("total.txt", "1849.35\n")
PATIENCE = 30.0
"""Seconds the client waits for the gateway."""


@dataclass(slots=True)
class Turn:
    """One turn: what the model wrote, what was judged of it, what the client was told, what ran."""

    written: str
    judged: Parsed
    answer: ModelAnswer
    pieces: int
    ran: list[Ran] = field(default_factory=list)

    @property
    def told_right(self) -> bool:
        """Was the client told exactly the calls that were judged?"""
        calls = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in self.answer.calls]
        return calls == [(call.name, dict(call.arguments)) for call in self.judged.calls]


@click.command(name="demo")
@click.option(
    "--dialect", default="tool_call_fence", show_default=True, help="Dialect of the prompt."
)
@click.option(
    "--errors",
    type=click.FloatRange(0, 1),
    default=0.4,
    show_default=True,
    help="Rate of each kind of mistake that can be mended.",
)
@click.option("--seed", type=int, default=7, show_default=True, help="Seed of the model's luck: which mistakes, where.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON when it is over, instead of showing it as it happens."
)
def command(dialect: str, errors: float, seed: int, as_json: bool) -> int:
    """Run a real task through the gateway with a model that has no tools.

    The exit code is 0 when the file the model was asked for is there and right.
    """
    model = WeakModel(rates=dict.fromkeys(HARMLESS, errors), seed=seed)
    turns: list[Turn] = []
    console = Console(quiet=as_json, highlight=False)
    with tempfile.TemporaryDirectory(prefix="dragoman-demo-") as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        _show_start(console, folder)
        for turn in _play(model, dialect, Workshop(Path(folder))):
            turns.append(turn)
            _show(console, turn, len(turns))
        written = _read(Path(folder, TOTAL[0]))
    success = written == TOTAL[1] and all(turn.told_right for turn in turns)
    if as_json:
        print_json({"success": success, "task": TASK, "written": written, "turns": [_as_json(turn) for turn in turns]})
    _show_end(console, turns, written, success)
    return 0 if success else 1


def _play(model: WeakModel, dialect: str, workshop: Workshop) -> Iterator[Turn]:
    """The turns, each as soon as its tools have run."""
    journal, shown = Journal(), [TASK]
    with _gateway(model, dialect, journal) as url, httpx2.Client(timeout=PATIENCE, trust_env=False) as client:
        tools = encode_definitions(TOOLS, "openai_chat")
        turn, pieces = None, 0
        for step in work(client, url, model="weak", task=TASK, tools=tools, run=workshop.run):
            match step:
                case Piece():
                    pieces += 1
                case ModelAnswer():
                    if turn is not None:
                        yield turn
                    reply = journal.exchanges[-1].reply
                    judged = parse(
                        reply.text, tools=TOOLS, finish_reason=reply.finish, shown=shown, prompted_dialect=dialect
                    )
                    turn, pieces = Turn(reply.text, judged, step, pieces), 0
                case Ran() if turn is not None:
                    turn.ran.append(step)
                    shown.append(step.result)
        if turn is not None:
            yield turn


@contextmanager
def _gateway(model: WeakModel, dialect: str, journal: Journal) -> Iterator[str]:
    """The weak model, and the gateway in front of it; gives the gateway's address."""
    with running(model, journal=journal) as upstream:
        route = Route(provider=COMPATIBLE["openai_chat"], base_url=f"{upstream}/v1", prompt_dialect=DIALECTS[dialect])
        with serving(create_app(GatewayConfig(default=route))) as url:
            yield url


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


# ── showing it ───────────────────────────────────────────────────────────────


def _show_start(console: Console, folder: str) -> None:
    console.print(f"[bold]The task[/]  {TASK}")
    console.print(f"[dim]in {folder}, with the tools {', '.join(tool.name for tool in TOOLS)}; the model has none[/]")


def _show(console: Console, turn: Turn, number: int) -> None:
    console.print(f"\n[bold]Turn {number}[/]")
    console.print(Panel(escape(turn.written.strip()), title="the model wrote", title_align="left", border_style="dim"))
    for call in turn.judged.calls:
        console.print(f"  [green]judged[/]  {call.name}: {escape(verdict_line(call))}")
    for issue in turn.judged.issues:
        console.print(f"  [yellow]noticed[/] {issue.kind}: {escape(issue.message)}")
    for ran in turn.ran:
        arguments = ", ".join(f"{key}={value!r}" for key, value in ran.arguments.items())
        console.print(f"  [cyan]ran[/]     {ran.name}({escape(arguments)}) → {escape(repr(ran.result))}")
    if not turn.answer.calls:
        console.print(f"  [bold]answer[/]  {escape(turn.answer.text.strip())}  [dim]({turn.pieces} pieces streamed)[/]")


def _show_end(console: Console, turns: list[Turn], written: str, success: bool) -> None:
    calls = [call for turn in turns for call in turn.judged.calls]
    mended = sum(bool(call.report and call.report.edits) for call in calls)
    name, wanted = TOTAL
    if success:
        console.print(
            f"\n[green]Done.[/] {name} holds {written.strip()}; {len(calls)} calls ran, {mended} of them mended."
        )
    else:
        console.print(f"\n[red]Failed.[/] {name} holds {written!r}, and should hold {wanted!r}.")


def _as_json(turn: Turn) -> Mapping[str, Any]:
    answer = turn.answer
    return {
        "written": turn.written,
        "judged": parsed_as_json(turn.judged),
        "answer": {"text": answer.text, "tool_calls": list(answer.calls), "finish_reason": answer.finish},
        "ran": [{"name": r.name, "arguments": dict(r.arguments), "result": r.result} for r in turn.ran],
    }
