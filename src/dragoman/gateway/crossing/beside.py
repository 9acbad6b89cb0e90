"""What stands beside an answer's text, from one wire's words into another's: how likely its tokens were, and the tier
that served it.

Knows the fields that wires keep with an answer and its texts; nothing of events or bodies.  Contract: tokens are read
into OpenAI's form (`token`, `logprob`, `bytes`, `top_logprobs`) and written out of it; what a wire has no word for is
not said; `SOURCES` names the fields that what was read stood in.
Sources: openai 3.54 types/chat/chat_completion_token_logprob.py, types/responses/response_output_text.py; google-genai
3.4 types.LogprobsResult, types.UsageMetadata.service_tier; ollama 0.6.3 types.Logprob; cohere 7.3
types/logprob_item.py; anthropic 2.12 types/usage.py (`service_tier`); botocore 1.44.5 ServiceTierType.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...codecs.crossing.settings import ANTHROPIC, BEDROCK, CHAT, COHERE, GEMINI, OLLAMA, RESPONSES, value_at
from ...codecs.shared.body import items, mapping, string
from ...types import NOTHING, JsonObject

Token = dict[str, Any]

# ── how likely tokens were ───────────────────────────────────────────────────


def _likely(text: Any, logprob: Any) -> Token:
    token = string(text)
    return {"token": token, "logprob": logprob, "bytes": [*token.encode("utf-8", "replace")]}


def _token(text: Any, logprob: Any, top: list[Token] | None = None) -> Token:
    return {**_likely(text, logprob), "top_logprobs": top or []}


def _listed(tokens: Any) -> list[Token]:
    """Tokens of OpenAI's form, which Ollama has too."""
    found = [mapping(one) for one in items(tokens)]
    return [_full(one) for one in found if isinstance(one.get("token"), str) and _is_number(one.get("logprob"))]


def _full(one: JsonObject) -> Token:
    others = map(mapping, items(one.get("top_logprobs")))
    top = [_likely(each.get("token"), each.get("logprob")) for each in others]
    return {**_token(one["token"], one["logprob"], top), **({"bytes": one["bytes"]} if items(one.get("bytes")) else {})}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_gemini(extra: JsonObject) -> list[Token]:
    result = mapping(mapping(extra.get("candidate")).get("logprobsResult"))
    chosen = [mapping(one) for one in items(result.get("chosenCandidates"))]
    others = [map(mapping, items(mapping(one).get("candidates"))) for one in items(result.get("topCandidates"))]
    tops = [[_likely(each.get("token"), each.get("logProbability")) for each in listed] for listed in others]
    tops += [[]] * (len(chosen) - len(tops))
    found = [_token(one.get("token"), one.get("logProbability"), top) for one, top in zip(chosen, tops, strict=False)]
    return [one for one in found if _is_number(one["logprob"])]


def _of_cohere(extra: JsonObject) -> list[Token]:
    """An item is of one token, or of several whose texts it does not tell apart."""
    found = [mapping(one) for one in items(extra.get("logprobs"))]
    single = all(len(items(one.get("logprobs"))) == 1 for one in found)
    return [_token(one.get("text"), items(one["logprobs"])[0]) for one in found] if single else []


_READ: Mapping[str, Callable[[JsonObject], list[Token]]] = {
    CHAT: lambda extra: _listed(value_at(extra, "choice.logprobs.content")),
    OLLAMA: lambda extra: _listed(extra.get("logprobs")),
    GEMINI: _of_gemini,
    COHERE: _of_cohere,
}


def tokens_in(extra: JsonObject, api: str) -> list[Token]:
    """The tokens that the end of an answer of `api` tells."""
    read = _READ.get(api)
    return read(extra) if read else []


def tokens_of(metadata: JsonObject) -> list[Token]:
    """The tokens that stand with a text of Responses."""
    return _listed(metadata.get("logprobs"))


def _as_gemini(tokens: list[Token]) -> dict[str, Any]:
    chosen = [{"token": one["token"], "logProbability": one["logprob"]} for one in tokens]
    tops = [
        {"candidates": [{"token": each["token"], "logProbability": each["logprob"]} for each in one["top_logprobs"]]}
        for one in tokens
    ]
    listed = {"topCandidates": tops} if any(one["candidates"] for one in tops) else {}
    return {"candidate": {"logprobsResult": {"chosenCandidates": chosen, **listed}}}


_WRITTEN: Mapping[str, Callable[[list[Token]], dict[str, Any]]] = {
    CHAT: lambda tokens: {"choice": {"logprobs": {"content": tokens, "refusal": None}}},
    OLLAMA: lambda tokens: {"logprobs": tokens},
    GEMINI: _as_gemini,
}
"""Wire → the fields at an answer's end that tell tokens; with Responses they stand with the text."""


def tokens_written(tokens: list[Token], api: str) -> dict[str, Any]:
    """The fields at the end of an answer that tell these tokens; nothing where none are, or the wire has no such."""
    write = _WRITTEN.get(api)
    return write(tokens) if write and tokens else {}


TOKENS_AT: Mapping[str, tuple[str, ...]] = {
    CHAT: ("choice.logprobs",), OLLAMA: ("logprobs",), COHERE: ("logprobs",),
    GEMINI: ("candidate.logprobsResult", "candidate.avgLogprobs"),
}  # fmt: skip
"""Wire → where `tokens_in` reads, and what follows from it."""

# ── the tier that served it ──────────────────────────────────────────────────

_SAME = {word: word for word in ("auto", "default", "flex", "priority", "scale")}
_USUAL = {"standard": "default", "priority": "priority"}
TIERS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    CHAT: ("service_tier", _SAME),
    RESPONSES: ("service_tier", _SAME),
    ANTHROPIC: ("usage.service_tier", _USUAL),
    GEMINI: ("usageMetadata.serviceTier", {**_USUAL, "flex": "flex"}),
    BEDROCK: ("serviceTier.type", {word: word for word in ("default", "flex", "priority")}),
}
"""Wire → where an answer says its tier, and the wire's word → ours."""


def tier_crossed(extra: JsonObject, from_api: str, api: str) -> tuple[dict[str, Any], str]:
    """The tier in `extra` as fields of `api`, and where it stood; nothing where either has no word for it."""
    path, words = TIERS.get(from_api, ("", NOTHING))
    given = value_at(extra, path) if path else None
    tier = words.get(given) if isinstance(given, str) else None
    to, theirs = TIERS.get(api, ("", NOTHING))
    word = next((word for word, ours in theirs.items() if ours == tier), "") if tier else ""
    if not word:
        return {}, ""
    *outer, last = to.split(".")
    return ({outer[0]: {last: word}} if outer else {last: word}), path
