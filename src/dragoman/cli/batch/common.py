"""The options that the commands of `dragoman batch` have in common, and the value they make."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ...batch.formats.table import FORMATS, format_named
from ...batch.options import Options
from ...batch.report.report import changes, report
from ...batch.report.summary import Summary
from ...batch.running.engine import Engine, Step, run
from ...batch.running.job import Command as Doing
from ...batch.running.job import Job
from ...batch.running.leaks import evaluation
from ...batch.running.on_ray import Ray
from ...batch.running.places import places_of
from ...batch.running.sources import STDIN
from ...batch.running.work import Stopped
from ...gateway.recordings.store import is_store
from ..inputs import name, read_dialect, read_text, read_tools
from ..interrupts import interruptible
from .reports import check_reports, earlier, write_report

Command = TypeVar("Command", bound=Callable[..., Any])


class Rows(click.Path):
    """A file or folder of rows that is there, or the address of a store of recordings."""

    def __init__(self) -> None:
        super().__init__(exists=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        given = isinstance(value, str) and (value == STDIN or is_store(value))
        return value if given else super().convert(value, param, ctx)


ROWS = Rows()


def row_options(command: Command) -> Command:
    """A command with the options that say how rows are read and judged."""
    for option in reversed((
        click.option("--format", "form", metavar="NAME",
                     help=f"Format of all rows: {', '.join(FORMATS)}. Default: by shape."),
        click.option("--columns", multiple=True, metavar="NEW=OLD", help="Column OLD of the rows is NEW (repeatable)."),
        click.option("--tools", type=click.File(encoding="utf-8"), help="Tools of the rows that declare none."),
        click.option("--doubt", type=click.Choice(["ask", "run", "text"]), default="ask", show_default=True,
                     help="Fate of text that was perhaps not meant as a call."),
        click.option("--no-recover", is_flag=True, help="Read no calls out of text."),
        click.option("--no-repair", is_flag=True, help="Mend nothing."),
        click.option("--max-row", type=click.IntRange(1), default=64, show_default=True, metavar="MB",
                     help="A longer row is set aside."),
    )):  # fmt: skip
        command = option(command)
    return command


def run_options(command: Command) -> Command:
    """A command with the options that say how a run goes, and what is kept."""
    for option in reversed((
        click.option("--workers", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one a CPU",
                     metavar="N", help="Processes that work."),
        click.option("--ray", "ray", metavar="ADDRESS", is_flag=False, flag_value="local", default=None,
                     help="Schedule the units on Ray: at ADDRESS, or here."),
        click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N rows only."),
        click.option("--sample", type=click.FloatRange(0, 1), default=1.0, metavar="SHARE",
                     help="This share of the rows, the same ones each time."),
        click.option("--seed", default=0, metavar="N", help="Another share of the same size."),
        click.option("--unit", type=click.IntRange(1), default=16, show_default=True, metavar="MB",
                     help="Size of a unit of work."),
        click.option("--template", type=click.File(encoding="utf-8"), metavar="FILE",
                     help="Chat template (or tokenizer_config.json) that each row is rendered with and read back."),
        click.option("--report", "reports", multiple=True, metavar="FILE", type=click.Path(dir_okay=False),
                     help="Write a report: .html for people, .json for programs (repeatable)."),
        click.option("--diff", type=click.Path(exists=True, dir_okay=False), metavar="OLD.json",
                     help="Say what changed since an earlier report."),
        click.option("--json", "as_json", is_flag=True, help="Print the manifest as JSON."),
    )):  # fmt: skip
        command = option(command)
    return command


def output_options(command: Command) -> Command:
    """A command with the options of what is written."""
    for option in reversed((
        click.option("-o", "--output", required=True, metavar="FILE", type=click.Path(dir_okay=False),
                     help="File of the rows that are kept: .jsonl (.jsonl.gz, .jsonl.zst), or .parquet for a table."),
        click.option("--resume", is_flag=True, help="Go on with what a run of the same command left."),
        click.option("--overwrite", is_flag=True, help="FILE, and what stands beside it, may be there already."),
        click.option("--arguments", type=click.Choice(["object", "string"]), help="Form of arguments."),
        click.option("--parallel", type=click.Choice(["list", "consecutive", "none"]), help="Form of several calls."),
        click.option("--dialect", metavar="NAME", help="Dialect of calls where the target has them in text."),
        click.option("--re-id", is_flag=True, help="Give every call an id of its own."),
        click.option("--redact", is_flag=True, help="Blot out what looks like a key."),
        click.option("--dedup", type=click.Choice(["none", "rows", "calls", "questions"]), default="none",
                     show_default=True, help="What makes two rows the same; the first one stays."),
        click.option("--without", multiple=True, metavar="EVAL", type=ROWS,
                     help="Set aside what stands in this evaluation data (repeatable)."),
        click.option("--on-error", type=click.Choice(["quarantine", "stop"]), default="quarantine", show_default=True,
                     help="Fate of the run when a row is set aside."),
    )):  # fmt: skip
        command = option(command)
    return command


def options_of(asked: Mapping[str, Any], **more: Any) -> Options:
    """The value that the options of a command make."""
    if asked.get("form"):
        format_named(asked["form"])
    if asked.get("dialect"):
        read_dialect(asked["dialect"])
    return Options(
        format=asked.get("form") or "", columns=tuple(map(_column, asked.get("columns", ()))),
        tools=read_tools(asked.get("tools")), doubt=asked.get("doubt", "ask"), max_row=asked.get("max_row", 64) << 20,
        recover=not asked.get("no_recover"), repair=not asked.get("no_repair"),
        arguments=asked.get("arguments") or "", parallel=asked.get("parallel") or "",
        dialect=asked.get("dialect") or "", re_id=bool(asked.get("re_id")), redact=bool(asked.get("redact")), **more,
    )  # fmt: skip


def job_of(command: Doing, asked: Mapping[str, Any], options: Options) -> Job:
    """The job that the options of a command make."""
    return Job(
        command=command, options=options, output=str(asked.get("output") or ""), sample=asked["sample"],
        seed=asked["seed"], dedup=asked.get("dedup", "none"), stop=asked.get("on_error") == "stop",
        exclude=evaluation(asked["without"], options) if asked.get("without") else (),
        report=bool(asked["reports"] or asked["diff"]),
        template=template_of(asked["template"]) if asked.get("template") else "",
    )  # fmt: skip


def do(inputs: Sequence[str], job: Job, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job with a bar on stderr; an interrupt says how to go on."""
    began = time.monotonic()
    places = places_of(Path(job.output)) if job.output else []
    check_reports(asked["reports"], [*map(Path, (*inputs, *asked.get("without", ()))), *places])
    old = earlier(asked["diff"]) if asked["diff"] else None
    try:
        with interruptible(), shown_progress() as on_step:
            told = run(
                inputs, job, engine=engine_of(asked), workers=asked["workers"], resume=bool(asked.get("resume")),
                overwrite=bool(asked.get("overwrite")), limit=asked["limit"], unit_bytes=asked["unit"] << 20,
                on_step=on_step,
            )  # fmt: skip
        _reported(told, job, asked, old, time.monotonic() - began)
        return told
    except KeyboardInterrupt:
        if job.output:
            click.echo(GO_ON.format(output=job.output), err=True)
        raise
    except Stopped as why:
        raise click.ClickException(f"stopped at a row that would be set aside: {why}") from why


def _reported(
    told: dict[str, Any], job: Job, asked: Mapping[str, Any], old: dict[str, Any] | None, seconds: float
) -> None:  # fmt: skip
    """Write the reports that are asked for, and say what changed."""
    if not job.report:
        return
    outputs = [{"name": place, "bytes": file["bytes"], "sha256": file.get("sha256", file.get("sha256_of_units", ""))}
               for place, file in told["outputs"].items()]  # fmt: skip
    inputs = [{"name": one["path"], "bytes": one["bytes"], "sha256": one["rows_sha256"]} for one in told["inputs"]]
    made = report(
        summary=Summary(told.pop("summary")), command=f"batch {job.command}", inputs=inputs, outputs=outputs,
        run={"seconds": round(seconds, 1), "workers": asked["workers"]},
    )  # fmt: skip
    if old is not None:
        made["changed"] = {"against": asked["diff"], "rows": changes(old, made)}
        for one in made["changed"]["rows"]:
            click.echo(f"{one['name']}: {one['before']} → {one['after']} {one['way']}".rstrip(), err=True)
    for path in asked["reports"]:
        write_report(path, made)


def template_of(file: IO[str]) -> str:
    """The chat template in a file: its text, or the one in a tokenizer's configuration."""
    given = read_text(file)
    if not given.lstrip().startswith("{") or given.lstrip().startswith(("{%", "{{", "{#")):
        return given
    try:
        found = json.loads(given).get("chat_template")
    except (ValueError, AttributeError) as error:
        raise click.BadParameter(f"{name(file)} is neither a template nor a tokenizer_config.json: {error}") from error
    if isinstance(found, list):  # several, by name
        found = next((one["template"] for one in found if one.get("name") in ("tool_use", "default")), None)
    if not isinstance(found, str):
        raise click.BadParameter(f"{name(file)} holds no chat_template; give chat_template.jinja itself")
    return found


GO_ON = "what was done is kept beside {output}; give the same command with --resume to go on"


def engine_of(asked: Mapping[str, Any]) -> Engine | None:
    """Who does the units, where it is not processes of this machine."""
    return Ray(asked["ray"], asked["workers"]) if asked.get("ray") else None


@contextmanager
def shown_progress() -> Iterator[Callable[[Step], None] | None]:
    """A bar with rate and time left, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TransferSpeedColumn(),
        TextColumn("{task.fields[rows]:,} rows"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rows", total=None, rows=0)

        def on_step(step: Step) -> None:
            bar.update(
                task, total=step.bytes_all, completed=step.bytes_done, rows=step.rows,
                description=f"unit {step.done} of {step.units}",
            )  # fmt: skip

        yield on_step


def _column(given: str) -> tuple[str, str]:
    new, equals, old = given.partition("=")
    if not equals or not new or not old:
        raise click.BadParameter(f"--columns takes NEW=OLD, as in messages=conversation, not {given!r}")
    return new, old
