"""Typed tools that a server runs: which of them mean the same on several wires, and how each wire asks for one.

Knows the rows, and requests as values; nothing of who serves, and nothing of what runs one in a server's place.
Contract: `asked` names the kinds that a request asks for, `demanded` the one it demands; `native` gives the definition
of a kind on another wire, and what of its settings has no word there.
Sources: thinking.md §5; anthropic 2.12 types/web_search_tool_20250305_param.py …; openai 3.54 types/responses/
web_search_tool_param.py, tool_param.py; google-genai types.Tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...types import NOTHING, JsonObject, Request, Tool
from ..shared.body import items, mapping, string
from ..shared.spec import TYPED, WireFields
from .table import ANTHROPIC, GEMINI, RESPONSES, SPEAKS, kind_of

CHAT, _OPTIONS = "openai_chat", "web_search_options"
Write = Callable[[JsonObject], tuple[dict[str, Any], frozenset[str]]]
"""Settings in the words of `_settings` → the definition, and the settings it has no words for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedTool:
    """One kind: the pattern of its types, on whatever wire, and how it is asked for by wire."""

    kind: str
    types: str
    write: Mapping[str, Write] = NOTHING


def _plain(definition: JsonObject, *known: str) -> Write:
    """The same definition always, with those settings that have the same word there."""

    def write(settings: JsonObject) -> tuple[dict[str, Any], frozenset[str]]:
        carried = {key: settings[key] for key in known if key in settings}
        return {**definition, **carried}, frozenset(settings) - frozenset(known)

    return write


def _openai_search(settings: JsonObject) -> tuple[dict[str, Any], frozenset[str]]:
    domains = settings.get("allowed_domains")
    filters = {"filters": {"allowed_domains": domains}} if domains else {}
    said = {key: settings[key] for key in ("user_location", "search_context_size") if key in settings}
    return {"type": "web_search", **filters, **said}, frozenset(settings) - {"allowed_domains", *said}


HOSTED: tuple[HostedTool, ...] = (
    HostedTool(
        kind="web_search", types=r"(openrouter:)?web_search(_preview)?(_\d+)*|google_?[sS]earch\w*",
        write={
            ANTHROPIC: _plain({"type": "web_search_20250305", "name": "web_search"}, "allowed_domains",
                              "blocked_domains", "user_location", "max_uses"),
            RESPONSES: _openai_search,
            GEMINI: _plain({"googleSearch": {}}),
        },
    ),
    HostedTool(
        kind="web_fetch", types=r"web_fetch(_\d+)*|url_?[cC]ontext",
        write={
            ANTHROPIC: _plain({"type": "web_fetch_20250910", "name": "web_fetch"}, "allowed_domains", "blocked_domains",
                              "max_uses"),
            GEMINI: _plain({"urlContext": {}}),
        },
    ),
    HostedTool(
        kind="code_execution", types=r"code_execution(_\d+)*|code_interpreter|code_?[eE]xecution",
        write={
            ANTHROPIC: _plain({"type": "code_execution_20250825", "name": "code_execution"}),
            RESPONSES: _plain({"type": "code_interpreter", "container": {"type": "auto"}}),
            GEMINI: _plain({"codeExecution": {}}),
        },
    ),
    HostedTool(kind="file_search", types=r"file_?[sS]earch"),
    HostedTool(kind="image_generation", types=r"image_generation"),
    HostedTool(kind="mcp", types=r"mcp(_toolset)?"),
)  # fmt: skip
"""Kinds without a way to ask for them are bound to one vendor's stores; a server of one's own may stand in for them."""


def kind_named(definition: JsonObject) -> str:
    """The kind of a definition; its own type where no row knows it."""
    given = kind_of(definition)
    return next((row.kind for row in HOSTED if re.fullmatch(row.types, given)), given)


def foreign(request: Request) -> list[JsonObject]:
    """The definitions in `request` that are its wire's own affair."""
    if not isinstance(request.extra, WireFields):
        return []
    found = [mapping(one) for one in items(request.extra.get("tools")) if mapping(one)]
    options = request.extra.get(_OPTIONS) if request.extra.api == CHAT else None
    return [*found, _search(options)] if isinstance(options, Mapping) else found


def _search(options: JsonObject) -> JsonObject:
    """The search that a request of OpenAI's chat API asks for in a field of its own."""
    place = mapping(options.get("user_location"))
    flat = {"user_location": {"type": place.get("type"), **mapping(place.get("approximate"))}} if place else {}
    return {"type": "web_search", **options, **flat}


def asked(request: Request) -> list[str]:
    """The kinds of tools that a server should run for this request, in order."""
    return list(dict.fromkeys(map(kind_named, foreign(request))))


def demanded(request: Request) -> str:
    """The kind of server's tool that the request demands a call of, "" for none."""
    choice = request.extra.get("tool_choice") if isinstance(request.extra, WireFields) else None
    given = mapping(choice)
    words = {string(given.get("type")), string(given.get("name"))} - {""}
    for definition in foreign(request):
        kind = kind_named(definition)
        if words & {kind_of(definition), string(definition.get("name")), kind} - {""}:
            return kind
    forced = choice in ("required", "any") or given.get("type") == "any"
    return next(iter(asked(request)), "") if forced and not request.tools else ""


def native(request: Request, codec: str) -> Iterator[tuple[str, Tool, frozenset[str]]]:
    """The server's tools of `request` as `codec` asks for them: the kind, its definition, settings without a word."""
    api = SPEAKS.get(codec, codec)
    for definition in foreign(request):
        kind = kind_named(definition)
        row = next((one for one in HOSTED if one.kind == kind and api in one.write), None)
        if row is not None:
            written, lost = row.write[api](_settings(definition))
            yield kind, Tool(name=kind, metadata=WireFields(api, {TYPED: written})), lost


def search_options(request: Request) -> tuple[dict[str, Any], frozenset[str]] | None:
    """The search that `request` asks for, of whatever wire, as chat's field for it, and settings without a word there;
    None where it asks for none."""
    definition = next((one for one in foreign(request) if kind_named(one) == "web_search"), None)
    if definition is None:
        return None
    settings = _settings(definition)
    place = {key: value for key, value in mapping(settings.get("user_location")).items() if key != "type"}
    size = settings.get("search_context_size")
    located = {"user_location": {"type": "approximate", "approximate": place}} if place else {}
    written = {**({"search_context_size": size} if size else {}), **located}
    return written, frozenset(settings) - {"user_location", "search_context_size"}


def as_options(request: Request, options: JsonObject) -> Request:
    """`request` with its search in that field alone."""
    left = without(request, frozenset({"web_search"}))
    api = left.extra.api if isinstance(left.extra, WireFields) else CHAT
    return replace(left, extra=WireFields(api, {**left.extra, _OPTIONS: options}))


def _settings(definition: JsonObject) -> dict[str, Any]:
    """What a definition says besides its type, in one set of words: Anthropic's."""
    filters = mapping(definition.get("filters"))
    left = {key: value for key, value in definition.items() if key not in _SAID and value not in (None, {}, [])}
    given = filters.get("allowed_domains")
    return {**left, **({"allowed_domains": given} if given else {})}


_SAID = frozenset({"type", "name", "filters", "container", "cache_control"}) | {
    "googleSearch", "google_search", "googleSearchRetrieval", "urlContext", "url_context", "codeExecution",
    "code_execution",
}  # fmt: skip


def without(request: Request, kinds: frozenset[str]) -> Request:
    """`request` without its wire's tools of these kinds, and without a demand for one of them."""
    if not kinds or not isinstance(request.extra, WireFields):
        return request
    left: dict[str, Any] = dict(request.extra)
    left["tools"] = [one for one in items(left.get("tools")) if one is None or kind_named(mapping(one)) not in kinds]
    if demanded(request) in kinds:
        left.pop("tool_choice", None)
    if "web_search" in kinds:
        left.pop(_OPTIONS, None)
    if not any(one is not None for one in left["tools"]):
        del left["tools"]
    return replace(request, extra=WireFields(request.extra.api, left))
