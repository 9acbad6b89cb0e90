"""The made pages of the reference leave nothing out: names, settings, headers, metrics, errors, options, events."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import click
import pytest

import dragoman
from docs.site import api, pages, words
from dragoman import events
from dragoman.cli import cli, error_words
from dragoman.errors import DragomanError, ErrorCode, ErrorKind
from dragoman.gateway.config.json_schema import FORM
from dragoman.gateway.telemetry.headers import HEADERS
from dragoman.gateway.telemetry.metrics import COUNTED
from dragoman.loop import Bound, steps
from dragoman.types import IssueKind
from tests.support import places

SOURCES = {path: path.read_text(encoding="utf-8") for path in (places.ROOT / "src").rglob("*.py")}


def page(name: str) -> str:
    return pages.MADE[f"reference/{name}.md"].make()


# ── names ────────────────────────────────────────────────────────────────────


def entries(made: str) -> dict[str, str]:
    """Anchor → what stands below it, up to the next heading."""
    found = re.findall(r"^#{2,3} `[^`\n]+` \{ #([\w.]+) \}\n(.*?)(?=^#{1,3} |\Z)", made, re.MULTILINE | re.DOTALL)
    return {anchor: text.strip() for anchor, text in found}


LIBRARY = {anchor: text for made in pages.LIBRARY.values() for anchor, text in entries(made.make()).items()}


@pytest.mark.parametrize("name", dragoman.__all__)
def test_every_public_name_is_explained(name: str) -> None:
    text = LIBRARY[api.anchor(f"dragoman.{name}")]
    value = getattr(dragoman, name)
    plain = inspect.isclass(value) and (
        issubclass(value, str) or ("__init__" not in vars(value) and issubclass(value, Exception))
    )
    signed = inspect.isroutine(value) or (inspect.isclass(value) and not plain)
    assert ("```python" in text) is signed
    assert re.sub(r"```.*?```", "", text, flags=re.DOTALL).strip(), "no words"


def public_methods(value: type) -> Iterator[str]:
    for base in value.__mro__:
        if base.__module__.startswith("dragoman.") and base.__name__ != "Displayed":
            yield from (name for name, each in vars(base).items() if name[0] != "_" and inspect.isfunction(each))


@pytest.mark.parametrize("name", [n for n in dragoman.__all__ if inspect.isclass(getattr(dragoman, n))])
def test_every_public_method_is_explained(name: str) -> None:
    value = getattr(dragoman, name)
    assert [m for m in public_methods(value) if not LIBRARY.get(f"dragoman.{name}.{m}")] == []


@pytest.mark.parametrize("module", api.MODULES)
def test_every_public_module_lists_what_it_exports(module: str) -> None:
    made = entries(page(module))
    assert {name.removeprefix(f"{module}.").split(".")[0] for name in made} == set(api.exported(import_module(module)))


# ── settings and commands ────────────────────────────────────────────────────


def words_of(form: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every word of a schema that stands for a setting, however deep."""
    for name, inner in form.get("properties", {}).items():
        yield name, inner
        yield from words_of(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(form.get(key), Mapping):
            yield from words_of(form[key])
    for way in form.get("anyOf", ()):
        yield from words_of(way)


def test_every_setting_is_explained() -> None:
    made = page("settings")
    sections = FORM["properties"]
    assert [name for name in sections if f"{{ #{name} }}" not in made] == []
    inner = [each for form in sections.values() for each in words_of(form)]
    assert [name for name, _ in inner if f"| `{name}` |" not in made] == []
    assert [name for name, form in inner if not form.get("description")] == []


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from (name for each in command.params if isinstance(each, click.Option) for name in each.opts)
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield f"## `dragoman {name}`" if command is cli else f"{name}`"
        yield from options(inner, context)


def test_every_command_and_option_is_there() -> None:
    made = page("commands")
    assert [name for name in options(cli, click.Context(cli)) if name not in made and name != "--version"] == []


# ── headers and metrics ──────────────────────────────────────────────────────


def test_every_header_the_source_names_is_explained() -> None:
    named = {name for text in SOURCES.values() for name in re.findall(r"\bx-dragoman-[a-z-]*[a-z]\b", text)}
    made = page("headers")
    assert named == set(HEADERS)
    assert [name for name in (*HEADERS, "x-request-id") if f"| `{name}` |" not in made] == []
    written = (places.ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert [name for name in HEADERS if name not in written and name.removeprefix("x-dragoman") not in written] == []


def test_every_metric_is_explained() -> None:
    made = page("metrics")
    assert [name for name in COUNTED if f"| `{words.metric(name)}` |" not in made] == []


# ── errors and events ────────────────────────────────────────────────────────


def exceptions() -> Iterator[str]:
    """Exceptions of ours that a caller may meet: all but those of the gateway, which become answers.

    Plugins are importable in their server alone, and raise what is made elsewhere.
    """
    for path, source in SOURCES.items():
        module = ".".join(path.relative_to(places.ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        if module.startswith(("dragoman.gateway", "dragoman.__main__", "dragoman.plugins")) or "Error" not in source:
            continue
        made = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
        for name in made:
            value = getattr(import_module(module), name, None)
            if inspect.isclass(value) and issubclass(value, DragomanError) and not name.startswith("_"):
                yield name


def test_every_exception_says_what_to_do() -> None:
    assert set(exceptions()) == set(error_words.EXCEPTIONS)


@pytest.mark.parametrize(
    ("kinds", "rows"),
    [
        (ErrorKind, error_words.KINDS), (ErrorCode, error_words.CODES),
        (IssueKind, error_words.ISSUES), (Bound, error_words.LIMITS),
    ],
)  # fmt: skip
def test_every_kind_of_error_has_its_row(kinds: Any, rows: Mapping[str, Any]) -> None:
    assert {str(kind) for kind in kinds} == {str(kind) for kind in rows}
    made = page("errors")
    assert [kind for kind in kinds if f"| `{kind}` |" not in made] == []


def test_every_event_and_step_is_there() -> None:
    made = page("events")
    classes = [*typing.get_args(events.Event), *typing.get_args(steps.Step)]
    assert [each.__name__ for each in classes if f"### `{each.__name__}`" not in made] == []
