"""`dragoman doctor`: what can this deployment really do, and what would help it?

Contract: findings go to stdout as they come; exit code 0 where tools work one way or the other, 1 where they do not
or nobody answers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import click

from ..doctor import Grade, ProbeResult, examine, reach, settings_for
from ..doctor.context_length import SIZES
from ..effects import drive, run
from ..errors import UsageError
from ..gateway.config.words import NAMESPACE, STATE, STATE_DIR
from ..gateway.discovery import Place, discover
from ..io.environment import route_to
from ..io.sync import Pool
from ..providers.route import Route
from ..providers.rows import COMPATIBLE, PROVIDERS, Provider
from .doctor_state import State
from .outputs import print_json

ADDRESS = re.compile(r"^localhost\b|[.:]")
NO_MODEL = ProbeResult(
    probe="model",
    grade=Grade.BAD,
    message="",
    remedy="load one there, or name one with --model",
    facts={"unreachable": True},
)
COLOURS = {Grade.GOOD: "green", Grade.POOR: "yellow", Grade.BAD: "red", Grade.UNKNOWN: "white"}


@click.command(name="doctor")
@click.argument("target", metavar="URL|MODEL")
@click.option("--model", default="", help="Model to examine, where TARGET is an address. Default: its first.")
@click.option("--api", type=click.Choice(list(COMPATIBLE)), help="Its API. Default: found by asking.")
@click.option("--key", envvar="DRAGOMAN_UPSTREAM_KEY", default="", help="Its key; better in DRAGOMAN_UPSTREAM_KEY.")
@click.option("--context", type=int, default=32_000, show_default=True, help="Probe the context up to so many tokens.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the settings that follow to this file.")
@click.option(
    "--state",
    envvar=[STATE_DIR, STATE],
    help="State of a gateway, a directory or redis://HOST:6379/0: show what its conversations taught.",
)
@click.option("--namespace", envvar=NAMESPACE, default="", help="Of the gateway, where its state is at an address.")
@click.option("--forget", "forgets", is_flag=True, help="Forget what --state holds of this model, and examine nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917 -- click hands over every option by name
    target: str,
    model: str,
    api: str | None,
    key: str,
    context: int,
    write: Path | None,
    state: str | None,
    namespace: str,
    forgets: bool,
    as_json: bool,
) -> int:
    """Probe a deployment: an address (http://127.0.0.1:8080) or a model (ollama/qwen3:8b).

    Native tools, streaming, parallel calls, forced choice, the dialect it speaks, constrained answers, and the context
    that is really in use.
    """
    if forgets and not state:
        raise UsageError("--forget needs --state, where the gateway that is to forget keeps what it learnt")
    route, name = _target(target, model, api, key)
    report = _Report(as_json=as_json)
    with Pool() as pool:
        reached = run(reach(route, named=bool(name)), pool.performer())
        route, name = reached.route, name or next(iter(reached.models), "")
        report.add(reached.finding)
        if not name and not report.unreachable:
            report.add(replace(NO_MODEL, message=f"{target} lists no model"))
        if state and name:
            for finding in State(state, namespace).findings(route, name, forgets=forgets, told=_tell):
                report.add(finding)
        if forgets:
            report.end(name, "", None)
            return 0
        if not report.unreachable:
            sizes = [size for size in SIZES if size <= context]
            for finding in drive(examine(route, name, sizes), pool.performer()):
                report.add(finding)
    settings = "" if report.unreachable else settings_for(route, name, report.findings)
    report.end(name, settings, write)
    return int(report.bad)


def _tell(what: str) -> None:
    click.echo(f"{what}; a running gateway sees it in a second", err=True)


class _Report:
    """The findings so far, shown as they come, unless all of them are printed as JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self.findings: list[ProbeResult] = []
        self._as_json = as_json

    def add(self, finding: ProbeResult) -> None:
        """One more finding."""
        self.findings.append(finding)
        if not self._as_json:
            _show(finding)

    @property
    def unreachable(self) -> bool:
        """Can no model be asked there?"""
        return any(finding.facts.get("unreachable") for finding in self.findings)

    @property
    def bad(self) -> bool:
        """Has it no tools in any way?"""
        return self.unreachable or all(f.grade is Grade.BAD for f in self.findings if "tools" in f.probe)

    def end(self, model: str, settings: str, write: Path | None) -> None:
        """Print what follows from them, or write it."""
        if self._as_json:
            print_json({"model": model, "findings": [f.as_json() for f in self.findings], "settings": settings})
        elif settings and not write:
            click.echo(f"\nThe settings that follow (dragoman.toml):\n\n{settings}", nl=False)
        if write and settings:
            write.write_text(settings, encoding="utf-8")
            click.echo(f"wrote {write}; serve it: dragoman serve --config {write}", err=True)


def _target(target: str, model: str, api: str | None, key: str) -> tuple[Route, str]:
    """The route to examine, and the model, "" for the first that is listed."""
    provider, name = PROVIDERS.split(target)
    if provider is not None and "://" not in target:
        return route_to(provider, key=key), name
    if "://" not in target and not ADDRESS.search(target):
        raise UsageError(f"{target!r} names no provider and is no address; give provider/model, or http://HOST:PORT/v1")
    row = COMPATIBLE[api] if api else _speaks(target)
    return Route(provider=row, base_url=target, key=key), model


def _speaks(target: str) -> Provider:
    """The row of the server at an address, by which of its lists it answers; OpenAI's where it answers none."""
    rows = (COMPATIBLE["ollama_chat"], COMPATIBLE["openai_chat"])
    found = discover([Place(provider=row, base_url=Route(provider=row, base_url=target).root()) for row in rows])
    return found[0].provider if found else rows[1]


def _show(finding: ProbeResult) -> None:
    click.secho(f"{finding.grade:<8}", fg=COLOURS[finding.grade], nl=False)
    click.echo(f"{finding.probe}: {finding.message}")
    if finding.remedy:
        click.echo(f"        → {finding.remedy}")
