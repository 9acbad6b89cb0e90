"""Write the tables of docs/*.md that are made from rows: `python docs/tables.py` (tests check that they are current).

Each table stands between `<!-- table:NAME -->` and `<!-- /table:NAME -->`; the rest of a page is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dragoman import codecs, dialects
from dragoman.batch.codes import CODES
from dragoman.batch.formats.spec import ANY
from dragoman.batch.formats.table import ROWS as CORPORA
from dragoman.batch.scores.metrics import METRICS
from dragoman.codecs.fidelity.losses import request_losses
from dragoman.dialects.judge.rules import RULES
from dragoman.providers.families import ROWS as PROFILES
from dragoman.providers.rows import PROVIDERS
from dragoman.types import (
    Media,
    Message,
    OutputSchema,
    Reasoning,
    Request,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)

FOLDER = Path(__file__).parent


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def code(text: str) -> str:
    """Text as inline code that a table cell can hold."""
    shown = text.replace("\n", "⏎").replace("|", "\\|")
    ticks = "``" if "`" in shown else "`"
    return f"{ticks} {shown} {ticks}" if ticks == "``" else f"`{shown}`"


def _dialects() -> str:
    return table(
        ["dialect", "also", "opener", "notation", "a call", "source"],
        (
            [
                f"`{name}`",
                ", ".join(f"`{a}`" for a in row.aliases),
                str(row.strength),
                type(row.args).__name__,
                code(row.sample) if row.sample else "",
                row.source,
            ]
            for name, row in dialects.items()
        ),
    )


def _codecs() -> str:
    return table(["codec", "path", "frames"], ([f"`{c.name}`", f"`{c.path}`", str(c.frames)] for c in codecs.values()))


def _providers() -> str:
    return table(
        ["provider", "API", "address", "keys, best first", "tools", "not supported, or in its own way", "rests on"],
        (
            [
                ", ".join(f"`{name}`" for name in (row.name, *row.aliases)),
                f"`{row.codec}`",
                ", ".join(f"`{name}`" for name in row.url_env),
                ", ".join(f"`{name}`" for way in (row.auth, *row.or_auth) for name in way.env),
                str(row.tools),
                "; ".join(row.lacks),
                "; ".join(f"{one.kind}: {one.address} ({one.read})" for one in row.evidence),
            ]
            for row in PROVIDERS.values()
        ),
    )


def _profiles() -> str:
    return table(
        ["models", "dialect", "also", "reasoning", "comes back", "forced", "calls in a turn", "source"],
        (
            [
                ", ".join(map(code, [row.match] if isinstance(row.match, str) else row.match)),
                f"`{row.dialect}`" if row.dialect else "",
                ", ".join(f"`{name}`" for name in row.also),
                code(row.reasoning) if row.reasoning else "",
                str(row.replay),
                str(row.forced),
                "several" if row.parallel else "one",
                row.source,
            ]
            for row in PROFILES
        ),
    )


def ask(*messages: Message, **fields: Any) -> Request:
    """A request that says one thing beside a question."""
    return Request(model="m", messages=messages or (Message("user", "hi"),), **fields)


TOOL = Tool(name="f", parameters={"type": "object", "properties": {"x": {"type": "integer"}}})
STRICT = {**TOOL.parameters, "required": [*TOOL.parameters["properties"]]}
CALL = ToolCall(id="call_1", name="f", arguments={"x": 1})
IMAGE = Media(mime="image/png", data="iVBORw0KGgo=")


def told(result: ToolResult) -> tuple[Message, ...]:
    """A turn of tools that ends with `result`."""
    return Message("user", "hi"), Message("assistant", [CALL]), Message("tool", [result])


PROBES: Mapping[str, Request] = {
    "tools, calls and results": ask(*told(ToolResult(call_id="call_1", name="f", content="1")), tools=(TOOL,)),
    "a failure and its code": ask(
        *told(ToolResult(call_id="call_1", name="f", content="no", is_error=True, error_code="ENOENT"))
    ),
    "an image in a result": ask(*told(ToolResult(call_id="call_1", name="f", content=[Text("see"), IMAGE]))),
    "a call demanded": ask(tools=(TOOL,), tool_choice=ToolChoice("required")),
    "this call demanded": ask(tools=(TOOL,), tool_choice=ToolChoice("named", "f")),
    "no call allowed": ask(tools=(TOOL,), tool_choice=ToolChoice("none")),
    "one call at a time": ask(parallel=False),
    "strict tools": ask(tools=(replace(TOOL, strict=True, parameters=STRICT),)),
    "an output schema": ask(output_schema=OutputSchema(schema=dict(TOOL.parameters))),
    "any JSON as output": ask(output_schema=OutputSchema()),
    "an image": ask(Message("user", [Text("see"), IMAGE])),
    "a sound": ask(Message("user", [Text("hear"), Media(mime="audio/wav", data="UklGRg==")])),
    "a PDF": ask(Message("user", [Text("read"), Media(mime="application/pdf", data="JVBERi0=")])),
    "instructions in the middle": ask(Message("user", "hi"), Message("system", "be brief"), Message("user", "so?")),
    "reasoning of another API": ask(Message("user", "hi"), Message("assistant", [Reasoning("hm"), Text("ho")])),
    "prompt-cache markers": ask(Message("user", "hi", cache=True)),
    "reasoning effort `low`": ask(sampling=Sampling(effort="low")),
    "stop sequences": ask(sampling=Sampling(stop=("x",))),
    "`top_k`": ask(sampling=Sampling(top_k=5)),
    "`seed`": ask(sampling=Sampling(seed=5)),
    "penalties": ask(sampling=Sampling(presence_penalty=0.5, frequency_penalty=0.5)),
}
"""What a request may ask, one thing each."""


def _losses() -> str:
    held = (
        [label, *("–" if request_losses(request, codec) else "" for codec in codecs.values())]
        for label, request in PROBES.items()
    )
    return table(["a request with", *(f"`{name}`" for name in codecs)], held)


def _rules() -> str:
    return table(
        ["rule", "outcome", "reason", "principle", "for example"],
        ([f"`{rule.name}`", str(rule.outcome), rule.reason, rule.principle, code(rule.example)] for rule in RULES),
    )


def _metrics() -> str:
    return table(
        ["metric", "what it counts", "needs"],
        ([f"`{metric.name}`", metric.definition, metric.needs] for metric in METRICS.values()),
    )


def _corpora() -> str:
    return table(
        ["format", "written", "arguments", "several calls", "ids", "tools", "calls in text", "source"],
        (
            [
                f"`{row.name}`", "yes" if row.write is not None else "", row.demands.arguments, row.demands.parallel,
                row.demands.ids, row.demands.tools, _in_text(row.demands.dialect), row.source,
            ]
            for row in CORPORA
        ),
    )  # fmt: skip


def _in_text(dialect: str) -> str:
    return "any dialect" if dialect == ANY else code(dialect) if dialect else ""


def _codes() -> str:
    return table(
        ["code", "weight", "means", "do"],
        ([f"`{name}`", row.weight.name.lower(), row.means, row.do] for name, row in CODES.items()),
    )


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "dialects": ("dialects.md", _dialects),
    "codecs": ("codecs.md", _codecs),
    "losses": ("codecs.md", _losses),
    "providers": ("providers.md", _providers),
    "profiles": ("providers.md", _profiles),
    "rules": ("judge.md", _rules),
    "metrics": ("scores.md", _metrics),
    "corpora": ("batch.md", _corpora),
    "codes": ("batch.md", _codes),
}


def renewed(name: str) -> tuple[Path, str]:
    """A page, and what it should hold with the table `name` made anew."""
    file, make = TABLES[name]
    page = FOLDER / file
    pattern = re.compile(f"(<!-- table:{name} -->\n).*?(<!-- /table:{name} -->)", re.DOTALL)
    return page, pattern.sub(lambda m: f"{m[1]}{make()}\n{m[2]}", page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name in TABLES:
        page, text = renewed(name)
        page.write_text(text, encoding="utf-8")
