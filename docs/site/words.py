"""Reference pages from tables of the code: command line, settings, errors, headers, metrics, events, HTTP addresses."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import click

from dragoman import events
from dragoman.cli import cli, error_words
from dragoman.codecs.shared.errors import ADVICE
from dragoman.errors import ErrorKind, ProviderError
from dragoman.fallback import TREATMENTS, Rules
from dragoman.gateway.config import environment
from dragoman.gateway.config.json_schema import FORM
from dragoman.gateway.config.model import Limits
from dragoman.gateway.telemetry.headers import HEADERS
from dragoman.gateway.telemetry.metrics import COUNTED
from dragoman.loop import Bound, steps
from dragoman.tools import advice

from .markdown import code, prose, table

# ── the command line ─────────────────────────────────────────────────────────


def commands() -> str:
    """Every command with its arguments and options."""
    return "\n\n".join(["# Command line", COMMANDS, *_command(click.Context(cli, info_name="dragoman"), cli)]) + "\n"


COMMANDS = """stdout is data, stderr is everything else. Exit codes: 0 done, 1 failed, 2 called wrongly,
130 interrupted. `dragoman COMMAND --help` says the same as this page."""


def _command(context: click.Context, command: click.Command) -> Iterator[str]:
    if command is not cli:
        yield f"## `{context.command_path}`"
        yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```"
        yield prose(command.help or "")
        rows = [_option(context, parameter) for parameter in command.params if isinstance(parameter, click.Option)]
        if rows:
            yield table(["option", "meaning"], rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _command(click.Context(child, info_name=name, parent=context), child)


def _option(context: click.Context, option: click.Option) -> tuple[str, str]:
    names = " / ".join([*option.opts, *option.secondary_opts])
    kind = "" if option.is_flag or option.count else f" {option.make_metavar(context)}"
    default = option.get_default(context)
    shown = default not in (None, "", (), False) and not option.is_flag and not callable(default)
    return code(f"{names}{kind}"), f"{option.help or ''}{f' Default: `{default}`.' if shown else ''}"


# ── settings ─────────────────────────────────────────────────────────────────

SETTINGS = """What `dragoman.toml` may say. `dragoman check --schema` prints the JSON Schema that this page is made
from, for editors; `dragoman check dragoman.toml` says what is wrong in a file, with line and place.
Flags count before the environment, the environment before the file."""
DEFAULTS: Mapping[str, Any] = {"limits": Limits(), "fallback": Rules()}
VARIABLES = {(section, name): variable for variable, (section, name, _) in environment.VARIABLES.items()}
HEADINGS = {
    "keys": "[[keys]]", "providers": "[providers.NAME]", "models": "[models.NAME]", "mcpServers": "[mcpServers.NAME]",
}  # fmt: skip
OPEN = {"mcpServers": "Fields of any host's MCP configuration: [MCP](../mcp.md#what-a-configuration-may-say)."}


def settings() -> str:
    """Every setting, from the schema that the gateway prints."""
    sections = (_section(name, form) for name, form in FORM["properties"].items())
    return "\n\n".join(["# Settings", SETTINGS, *sections]) + "\n"


def fields() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Section, name and form of every setting."""
    for section, form in FORM["properties"].items():
        yield from ((section, name, each) for name, each in _properties(form).items())
        for each in _nested(form):
            yield from ((section, name, inner) for name, inner in each.items())


def _properties(form: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = form.get("items", form.get("additionalProperties", form)) if "properties" not in form else form
    found: Mapping[str, Any] = inner.get("properties", {}) if isinstance(inner, Mapping) else {}
    return found


def _nested(form: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Tables inside a section's lists: `mcp = [{ … }]`."""
    for each in _properties(form).values():
        for way in each.get("items", {}).get("anyOf", ()):
            if "properties" in way:
                yield way["properties"]


def _section(section: str, form: Mapping[str, Any]) -> str:
    parts = [f"## `{HEADINGS.get(section, f'[{section}]')}` {{ #{section} }}", form.get("description", "")]
    parts.append(OPEN.get(section, ""))
    if properties := _properties(form):
        parts.append(_settings(section, properties))
    parts += [f"In a table of the list:\n\n{_settings('', each)}" for each in _nested(form)]
    return "\n\n".join(filter(None, parts))


def _settings(section: str, properties: Mapping[str, Any]) -> str:
    rows = ([code(n), _kind(f), _meaning(section, n, f), _variable(section, n)] for n, f in properties.items())
    return table(["setting", "value", "meaning", "variable"], rows)


def _variable(section: str, name: str) -> str:
    return code(VARIABLES[section, name]) if (section, name) in VARIABLES else ""


def _kind(form: Mapping[str, Any]) -> str:
    if "enum" in form:
        return ", ".join(code(each) for each in form["enum"])
    if "anyOf" in form:
        return " or ".join(_kind(each) for each in form["anyOf"])
    kind = str(form.get("type", ""))
    return VALUES.get(kind, kind)


VALUES = {
    "integer": "whole number", "string": "text", "array": "list", "object": "table", "boolean": "true, false",
}  # fmt: skip


def _meaning(section: str, name: str, form: Mapping[str, Any]) -> str:
    known = DEFAULTS.get(section)
    default = getattr(known, name, None)
    return f"{form.get('description', '')}{f' Default: `{default}`.' if default is not None else ''}"


# ── errors ───────────────────────────────────────────────────────────────────

ERRORS = """Your mistakes raise at once, a model's mistakes are issues of the answer, a provider's failures are
`ProviderError`s. Every message ends with what to do; `dragoman list errors` prints these tables."""


def errors() -> str:
    """Exceptions, kinds of failures, codes of tools, issues and limits, each with what to do."""
    return "\n\n".join([
        "# Errors", ERRORS, "## Exceptions", _exceptions(),
        "## Failures of providers: `ProviderError.kind`", KINDS, _kinds(),
        "## Issues: `Issue.kind`", ISSUES, _issues(),
        "## Codes of failed tools: `ToolResult.error_code`", CODES, _codes(),
        "## Limits that end a run: `Limit.which`", _limits(),
    ]) + "\n"  # fmt: skip


KINDS = """Over HTTP the gateway answers with the status of the failure and an error in the shape of the client's own
API. *Retries*: how often the same route is asked again, before anything of its answer went out. *Rests*: how long
a route of a chain is left alone after its first such failure."""
ISSUES = """A model's mistakes never raise. Each issue stands in `Parsed.issues`, `Response.issues` and `Run.issues`."""
CODES = """What went wrong in a tool, for the model to act on: `[ERROR:ENOENT] …`, and `is_error` where the API has it.
Further codes: `ExitCode:N` of a process, `HTTP:N` of a server, and whatever a `ToolError` of yours says."""


def _exceptions() -> str:
    return table(["exception", "means", "do"], ([code(n), *row] for n, row in error_words.EXCEPTIONS.items()))


def _kinds() -> str:
    rows = (
        [code(kind), words, ADVICE[kind], str(TREATMENTS[kind].retries or ""), _rest(kind)]
        for kind, words in error_words.KINDS.items()
    )
    return table(["kind", "means", "do", "retries", "rests"], rows)


def _rest(kind: ErrorKind) -> str:
    seconds = Rules().cools(ProviderError("", kind=kind), 1)
    return f"{seconds:g} s" if seconds else ""


def _codes() -> str:
    rows = ([code(each), words, advice(each)] for each, words in error_words.CODES.items())
    return table(["code", "means", "what the model is told"], rows)


def _issues() -> str:
    return table(["kind", "means", "do"], ([code(kind), *row] for kind, row in error_words.ISSUES.items()))


def _limits() -> str:
    rows = ([code(bound), error_words.LIMITS[str(bound)].means, error_words.LIMITS[str(bound)].do] for bound in Bound)
    return table(["limit", "means", "do"], rows)


# ── headers, metrics, events ─────────────────────────────────────────────────


def headers() -> str:
    """Every header of ours."""
    rows = [[code("x-request-id"), "the client's own, else a fresh one; on every answer"]]
    rows += [[code(name), words] for name, words in HEADERS.items()]
    return "\n\n".join(["# HTTP headers", HEADED, table(["header", "value"], rows)])


HEADED = """What the gateway says of an answer beside it. A header stands only where it has something to say. The head
of a stream goes out before most of it is known: an event stream says the rest in comments before its last event
(`: x-dragoman-asked: confirmed`). [Running the gateway](../operations.md#headers-logs-metrics-and-spans) says more."""


def metrics() -> str:
    """Every metric."""
    rows = (
        [code(metric(name)), kind.lower(), ", ".join(code(each) for each in labels), text]
        for name, (kind, text, labels) in COUNTED.items()
    )
    return "\n\n".join(["# Metrics", MEASURED, table(["metric", "kind", "labels", "value"], rows)])


MEASURED = """`GET /metrics`, in the form of Prometheus. No label takes a value that a client chooses freely.
[Running the gateway](../operations.md#metrics) has the questions they answer."""


def metric(name: str) -> str:
    """A metric's name as it is scraped."""
    return f"dragoman_{name}{'_total' if COUNTED[name][0] == 'Counter' else ''}"


def happenings() -> str:
    """Events of an answer, and the steps of a run."""
    parts = ["# Events", EVENTS, "## Events of an answer", _records(typing.get_args(events.Event))]
    return "\n\n".join([*parts, "## Steps of a run", _records(typing.get_args(steps.Step))]) + "\n"


EVENTS = """`Parser.feed` gives events; `Client.stream` and `on_event` give events and steps, in the order in which they
happen. The `json` of the `CallDelta`s of one call, put together, is strict JSON, always. All are frozen records:
match them with `match step: case TextDelta(text): …`."""


def _records(classes: Any) -> str:
    parts = []
    for each in classes:
        names = [(f.name, str(f.type)) for f in dataclasses.fields(each)]
        parts.append(f"### `{each.__name__}`\n\n{prose(each.__doc__ or '')}")
        parts.append(table(["field", "type"], ([code(n), code(t)] for n, t in names)) if names else "")
    return "\n\n".join(filter(None, parts))
