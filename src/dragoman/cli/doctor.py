"""`dragoman doctor`: what can this deployment really do, and what would help it?

Contract: findings go to stdout as they come; exit code 0 where tools work one way or the other, 1 where they do not.
"""

from __future__ import annotations

from pathlib import Path

import click

from ..doctor import Finding, Grade, examine, prescription
from ..doctor.probes import SIZES
from ..effects import drive, run
from ..errors import DragomanError
from ..gateway.models import list_models
from ..io.environment import route_to
from ..io.sync import Pool
from ..providers import COMPATIBLE, PROVIDERS
from ..route import Route
from .printing import print_json

COLOURS = {Grade.GOOD: "green", Grade.POOR: "yellow", Grade.BAD: "red", Grade.UNKNOWN: "white"}


@click.command(name="doctor")
@click.argument("target", metavar="URL|MODEL")
@click.option("--model", default="", help="The model to examine, where TARGET is an address; its first when not given.")
@click.option("--api", type=click.Choice(list(COMPATIBLE)), default="openai_chat", show_default=True)
@click.option("--key", envvar="DRAGOMAN_UPSTREAM_KEY", default="", help="Its key; better in DRAGOMAN_UPSTREAM_KEY.")
@click.option("--context", type=int, default=32_000, show_default=True, help="Probe the context up to so many tokens.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the settings that follow to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917 -- click hands over every option by name
    target: str, model: str, api: str, key: str, context: int, write: Path | None, as_json: bool
) -> int:
    """Probe a deployment: an address (http://127.0.0.1:8080) or a model (ollama/qwen3:8b).

    Native tools, streaming, parallel calls, forced choice, the dialect it speaks, constrained answers, and the context
    that is really in use.
    """
    with Pool() as pool:
        route, name = _target(target, model, api, key, pool)
        findings: list[Finding] = []
        for finding in drive(examine(route, name, [size for size in SIZES if size <= context]), pool.world()):
            findings.append(finding)
            if not as_json:
                _show(finding)
    settings = prescription(route, name, findings)
    if as_json:
        print_json({"model": name, "findings": [f.as_json() for f in findings], "settings": settings})
    elif not write:
        click.echo(f"\nThe settings that follow (dragoman.toml):\n\n{settings}", nl=False)
    if write:
        write.write_text(settings, encoding="utf-8")
        click.echo(f"wrote {write}", err=True)
    return int(all(f.grade is Grade.BAD for f in findings if "tools" in f.probe))


def _target(target: str, model: str, api: str, key: str, pool: Pool) -> tuple[Route, str]:
    provider, name = PROVIDERS.split(target)
    if provider is not None and "://" not in target:
        return route_to(provider, key=key), name
    route = Route(provider=COMPATIBLE[api], base_url=target, key=key)
    if model:
        return route, model
    listed = run(list_models(route), pool.world())
    if not listed:
        raise DragomanError(f"{target} lists no model; name one with --model")
    return route, listed[0]


def _show(finding: Finding) -> None:
    click.secho(f"{finding.grade:<8}", fg=COLOURS[finding.grade], nl=False)
    click.echo(f"{finding.probe}: {finding.said}")
    if finding.remedy:
        click.echo(f"        → {finding.remedy}")
