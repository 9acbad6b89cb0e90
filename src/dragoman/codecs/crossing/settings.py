"""Settings that several wires know by names of their own, as rows: whose request it is, at what tier, how wordy.

Knows the fields that no canonical value models (`Request.extra`); nothing of messages or tools.
Contract of `crossed`: what it says is in the words of the wire asked for; what it leaves is what that wire, or the peer
on it, has no words for, as it came.  A peer gets of another wire's settings only those its row names: an unknown field
is refused by some (Mistral), and a client that changes wires did not ask for that.
Sources: openai 3.54 types/chat/completion_create_params.py, types/responses/response_create_params.py; anthropic 2.12
types/message_create_params.py, metadata_param.py; google-genai 3.4 types.GenerateContentConfig; Bedrock API reference
(Converse: serviceTier); ollama docs/api.md; Cohere API reference (logprobs).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...types import NOTHING, JsonObject
from ..shared.body import mapping
from ..shared.spec import WireFields

CHAT, RESPONSES, ANTHROPIC, GEMINI = "openai_chat", "openai_responses", "anthropic_messages", "gemini"
BEDROCK, OLLAMA, COHERE, INVOKE = "bedrock_converse", "ollama_chat", "cohere_chat", "bedrock_invoke"

Fit = Callable[[Any], Any]
"""A value → what of it the wire takes; None for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    words    wire → the field that says it, its path with dots; `list[word]` for a word in a list
    values   wire → its own word → ours, where they differ; what is not in it is not said there
    fits     wire → what of a value it takes
    needs    wire → a field that must be true beside it
    moot     the value that asks for what is so anyway where the wire has no such field
    """

    name: str
    words: Mapping[str, str]
    values: Mapping[str, Mapping[Any, Any]] = NOTHING
    fits: Mapping[str, Fit] = NOTHING
    needs: Mapping[str, str] = NOTHING
    moot: Any = None


def _short(value: Any) -> Any:
    """OpenAI refuses a user of more than 64 characters (BerriAI/litellm, adapters/transformation.py: it cuts there)."""
    return value[:64] if isinstance(value, str) else None


def _true(value: Any) -> Any:
    return True if value is True else None


def _half_hour(value: Any) -> Any:
    """The one life of a cached prompt that chat takes besides the default (PromptCacheOptions of either API)."""
    return value if value == "30m" else None


def _modalities(value: Any) -> Any:
    """Gemini speaks or shows what it was made for; its voices refuse to be asked for text besides (Gemini API docs,
    speech generation), which OpenAI demands."""
    kinds = [str(one).upper() for one in value] if isinstance(value, list) else []
    return ["AUDIO"] if "AUDIO" in kinds else kinds or None


def _kinds(value: Any) -> Any:
    return [str(one).lower() for one in value] if isinstance(value, list) else None


VOICES = frozenset({"alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage",
                    "shimmer", "verse"})  # fmt: skip
"""OpenAI's voices: no other vendor has them."""


def _voice(value: Any) -> Any:
    return value if isinstance(value, str) and value not in VOICES else None


TIERS = {"auto": "auto", "default": "default", "flex": "flex", "priority": "priority", "scale": "scale"}
SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="user", words={CHAT: "user", RESPONSES: "user", ANTHROPIC: "metadata.user_id"},
        fits={CHAT: _short, RESPONSES: _short},
    ),
    Setting(name="safety_identifier", words={CHAT: "safety_identifier", RESPONSES: "safety_identifier"}),
    Setting(
        name="service_tier",
        words={CHAT: "service_tier", RESPONSES: "service_tier", ANTHROPIC: "service_tier", BEDROCK: "serviceTier.type",
               GEMINI: "serviceTier"},
        values={
            CHAT: TIERS, RESPONSES: TIERS, ANTHROPIC: {"auto": "auto", "standard_only": "default"},
            BEDROCK: {"default": "default", "flex": "flex", "priority": "priority"},
            GEMINI: {"standard": "default", "flex": "flex", "priority": "priority"},
        },
    ),
    Setting(name="verbosity", words={CHAT: "verbosity", RESPONSES: "text.verbosity"}),
    Setting(name="prompt_cache_key", words={CHAT: "prompt_cache_key", RESPONSES: "prompt_cache_key"}),
    Setting(name="prompt_cache_retention", words={CHAT: "prompt_cache_retention", RESPONSES: "prompt_cache_retention"}),
    Setting(name="prompt_cache_mode", words=dict.fromkeys((CHAT, RESPONSES), "prompt_cache_options.mode")),
    Setting(
        name="prompt_cache_ttl", words=dict.fromkeys((CHAT, RESPONSES), "prompt_cache_options.ttl"),
        fits={CHAT: _half_hour},
    ),
    Setting(name="web_search_options", words=dict.fromkeys((CHAT, RESPONSES, ANTHROPIC, GEMINI), "web_search_options")),
    Setting(name="moderation", words={CHAT: "moderation", RESPONSES: "moderation"}),
    Setting(
        name="thoughts",
        words={RESPONSES: "reasoning.summary", ANTHROPIC: "thinking.display",
               GEMINI: "generationConfig.thinkingConfig.includeThoughts"},
        values={
            RESPONSES: {"auto": True, "concise": True, "detailed": True},
            ANTHROPIC: {"summarized": True, "omitted": False}, GEMINI: {True: True, False: False},
        },
    ),
    Setting(name="store", words={CHAT: "store", RESPONSES: "store"}, fits={CHAT: _true}, moot=False),
    # "The 'metadata' parameter is only allowed when 'store' is enabled" (OpenAI's chat API)
    Setting(name="metadata", words={CHAT: "metadata", RESPONSES: "metadata"}, needs={CHAT: "store"}),
    Setting(
        name="logprobs",
        words={CHAT: "logprobs", RESPONSES: "include[message.output_text.logprobs]", OLLAMA: "logprobs",
               GEMINI: "generationConfig.responseLogprobs", COHERE: "logprobs"},
        fits=dict.fromkeys((CHAT, RESPONSES, OLLAMA, GEMINI, COHERE), _true),
    ),
    Setting(
        name="top_logprobs",
        words={CHAT: "top_logprobs", RESPONSES: "top_logprobs", OLLAMA: "top_logprobs",
               GEMINI: "generationConfig.logprobs"},
    ),
    Setting(
        name="modalities", words={CHAT: "modalities", GEMINI: "generationConfig.responseModalities"},
        fits={CHAT: _kinds, GEMINI: _modalities},
    ),
    Setting(
        name="voice",
        words={CHAT: "audio.voice", GEMINI: "generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName"},
        fits={GEMINI: _voice},
    ),
)  # fmt: skip
ALSO: Mapping[str, Mapping[str, str]] = {"safety_identifier": {ANTHROPIC: "metadata.user_id"}}
"""Setting → wire → the field that says it where no other setting does."""
SHOWING: Mapping[str, str] = {GEMINI: "generationConfig.thinkingConfig.includeThoughts"}
"""Wire → the field without which nobody is shown what a model thinks that was asked to."""
HIDDEN = ("thinking", "display", "omitted")
"""Anthropic's words for thinking that nobody is shown."""
THOUGHTS = frozenset({"thoughts"})
"""Whether thoughts are shown: taken by whoever is asked to think, refused by models that do not."""
SEARCHING = "web_search_options"
"""The search of a chat model that does nothing else, put in the words of chat by `typed/hosted.py`."""
ALL = frozenset(row.name for row in SETTINGS) - THOUGHTS - {SEARCHING}
TAKEN: Mapping[str, frozenset[str]] = {
    RESPONSES: ALL,
    ANTHROPIC: frozenset({"user", "safety_identifier"}),
    INVOKE: frozenset(),
    GEMINI: frozenset({"service_tier", "logprobs", "top_logprobs", "modalities", "voice"}),
    BEDROCK: frozenset({"service_tier"}),
    OLLAMA: frozenset({"logprobs", "top_logprobs"}),
    COHERE: frozenset({"logprobs"}),
}
"""Wire → the settings that whoever speaks it takes; those of a peer's row come to them."""


def crossed(extra: JsonObject, api: str, more: frozenset[str] = frozenset()) -> tuple[dict[str, Any], JsonObject]:
    """The settings in `extra` in the words of `api`, for a peer that takes `more` than its wire; and what is left."""
    if not isinstance(extra, WireFields) or extra.api == api or not extra:
        return {}, extra
    said: dict[str, Any] = {}
    left: dict[str, Any] = dict(extra)
    takes = TAKEN.get(api, frozenset()) | more
    for row in SETTINGS:
        value, source = _read(row, extra)
        path = row.words.get(api) or ALSO.get(row.name, NOTHING).get(api, "")
        if value is not None and value == row.moot and (not path or row.name not in takes):
            drop_at(left, source)
        if value is None or not path or row.name not in takes or value_at(said, path) is not None:
            continue
        if (need := row.needs.get(api)) and value_at(said, need) is not True:
            continue
        word = _written(row, value, api)
        if word is None and value == row.moot:
            drop_at(left, source)
        if word is None:
            continue
        _put(said, path, word)
        if word == value or api in row.values or row.name in {"modalities", "logprobs"}:
            drop_at(left, source)
    return said, WireFields(extra.api, left, extra.origin)


def with_thoughts(said: dict[str, Any], extra: JsonObject, api: str) -> dict[str, Any]:
    """`said`, and that thoughts are shown: clients of other wires, who asked to think in `extra`, see them unasked."""
    path = SHOWING.get(api, "")
    field, key, word = HIDDEN
    its_own = extra.api == api if isinstance(extra, WireFields) else bool(extra)
    if path and not its_own and mapping(extra.get(field)).get(key) != word:
        _put(said, path, True)
    return said


CHOOSING = ("tool_choice", "toolConfig.functionCallingConfig")


def without_choice(extra: JsonObject) -> JsonObject:
    """`extra` without the fields that say which tools may be called, for whom that is said otherwise."""
    if not isinstance(extra, WireFields):
        return extra
    left: dict[str, Any] = dict(extra)
    for path in CHOOSING:
        drop_at(left, path)
    return WireFields(extra.api, left, extra.origin)


def _read(row: Setting, extra: WireFields) -> tuple[Any, str]:
    """The value of a setting, and where it stands."""
    path = row.words.get(extra.api, "")
    value = value_at(extra, path) if path else None
    values = row.values.get(extra.api)
    return (value if values is None or value is None else values.get(value)), path


def _written(row: Setting, value: Any, api: str) -> Any:
    if values := row.values.get(api):
        return next((word for word, ours in values.items() if ours == value), None)
    fit = row.fits.get(api)
    return value if fit is None else fit(value)


# ── paths ────────────────────────────────────────────────────────────────────


def _steps(path: str) -> tuple[list[str], str]:
    """The keys of a path, and the word in the list that stands there."""
    keys, _, word = path.partition("[")
    return keys.split("."), word.rstrip("]")


def value_at(body: JsonObject, path: str) -> Any:
    keys, word = _steps(path)
    *outer, last = keys
    for key in outer:
        body = mapping(body.get(key))
    value = body.get(last)
    return (True if isinstance(value, list) and word in value else None) if word else value


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    (*outer, last), word = _steps(path)
    for key in outer:
        body = body.setdefault(key, {})
    if word:
        body.setdefault(last, []).append(word)
    else:
        body[last] = value


def drop_at(body: dict[str, Any], path: str) -> None:
    """Without the field at `path`, and without what is empty then."""
    (first, *others), word = _steps(path)
    if others:
        inner = dict(mapping(body.get(first)))
        drop_at(inner, ".".join(others) + (f"[{word}]" if word else ""))
        rest: Any = inner
    else:
        rest = [one for one in body.get(first, ()) if one != word] if word else None
    if rest:
        body[first] = rest
    else:
        body.pop(first, None)


