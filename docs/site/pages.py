"""The pages that are made and not written: path in the site → title and maker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from . import api, words


class Made(NamedTuple):
    """A page of the reference: its name in the menu, and what makes its Markdown."""

    title: str
    make: Callable[[], str]


def _library() -> dict[str, Made]:
    held = api.groups()
    return {
        f"reference/{slug}.md": Made(group.title, partial(api.page_of_group, slug))
        for slug, group in api.GROUPS.items()
        if held[slug]
    }


def _modules() -> dict[str, Made]:
    return {f"reference/{name}.md": Made(name, partial(api.page_of_module, name)) for name in api.MODULES}


LIBRARY: Mapping[str, Made] = _library()
MODULES: Mapping[str, Made] = _modules()
TABLES: Mapping[str, Made] = {
    "reference/commands.md": Made("Command line", words.commands),
    "reference/settings.md": Made("Settings", words.settings),
    "reference/errors.md": Made("Errors", words.errors),
    "reference/headers.md": Made("HTTP headers", words.headers),
    "reference/metrics.md": Made("Metrics", words.metrics),
    "reference/events.md": Made("Events", words.happenings),
}
MADE: Mapping[str, Made] = {**TABLES, **LIBRARY, **MODULES}


def menu() -> list[object]:
    """The reference in the site's menu."""
    return [
        *({made.title: path} for path, made in TABLES.items()),
        {"Dialects": "dialects.md"}, {"Wire APIs": "codecs.md"}, {"Providers and families": "providers.md"},
        {"Library": [{made.title: path} for path, made in LIBRARY.items()]},
        {"Modules": [{made.title: path} for path, made in MODULES.items()]},
    ]  # fmt: skip
