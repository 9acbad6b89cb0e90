"""The session a request belongs to: what its client calls it, else what its first turns say.

One function for all who ask: routes that keep to a conversation, recordings grouped by it, spans that name it.
Knows names of headers and fields, as rows that cite who sends them, and messages; nothing of wires, routes or stores.
Contract: every request of a conversation has the same session, from its first on, in every process; two owners never
share one; a name that a client gives is taken as it is, and no request is without a session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from ..conversation.grown import by_growth
from ..types import NOTHING, Media, Message, Request, Text

LONGEST = 256
"""Characters of a name; what is longer names nothing (Bifrost and Vercel's gateway draw the line there too)."""
FIRST_TURNS = "first_turns"
"""The source of a session that nobody named."""
DIGITS = re.compile(r"\d+")
LEGACY_USER = re.compile(r"_session_([0-9A-Za-z-]{8,64})\Z")


@dataclass(frozen=True, slots=True)
class Session:
    """A session.

    key     32 hexadecimal digits, the same for all its requests; says nothing of what was said
    name    what the client calls it, "" where it did not say
    source  the header or field that named it, or `FIRST_TURNS`
    """

    key: str
    name: str = ""
    source: str = FIRST_TURNS


HEADERS: Mapping[str, str] = {
    "x-dragoman-session": "ours; counts before all others",
    "x-claude-code-session-id": "Claude Code since 2.1.86 (coder/aibridge#241)",
    "session-id": "Codex (KarpelesLab/teamclaude#352)",
    "session_id": "Codex before that, and Pi (router-for-me/CLIProxyAPI#4452)",
    "x-opencode-session": "OpenCode (lidge-jun/opencodex#3945)",
    "x-amp-thread-id": "Amp (router-for-me/CLIProxyAPI#3089)",
    "x-session-id": "the common word (docs.llmgateway.io/features/sessions)",
    "x-session-affinity": "OpenCode for servers of one's own (docs.llmgateway.io/features/sessions)",
    "x-litellm-session-id": "LiteLLM's clients (docs.litellm.ai/docs/proxy/request_headers)",
    "helicone-session-id": "Helicone's clients",
    "x-grok-conv-id": "xAI's clients (NousResearch/hermes-agent, opencode_affinity.py)",
    "conversation_id": "Codex before 0.50",
}
"""Header that names a session → who sends it; the first that is there counts.

`x-client-request-id` is none: most that send it make a new one for each request."""


def _user_session(value: Any) -> str:
    """The session in Anthropic's `metadata.user_id`: Claude Code writes JSON, and wrote `user_…_session_<uuid>`."""
    text = value if isinstance(value, str) else ""
    if text.startswith("{"):
        with suppress(ValueError, RecursionError):
            found = json.loads(text)
            return str(found.get("session_id") or "") if isinstance(found, Mapping) else ""
    found = LEGACY_USER.search(text)
    return found.group(1) if found else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


FIELDS: Mapping[str, Callable[[Any], str]] = {
    "session_id": _text,  # OpenRouter's word
    "conversation_id": _text,
    "litellm_session_id": _text,
    "metadata.session_id": _text,  # LiteLLM, Langfuse, LangChain
    "metadata.conversation_id": _text,
    "metadata.thread_id": _text,
    "metadata.user_id": _user_session,  # a user who is no session is none here
    "prompt_cache_key": _text,  # last: one key may serve many conversations of one program
}
"""Field of a request that names its session → what reads it; the first that says something counts."""
OUTER = frozenset(path.partition(".")[0] for path in FIELDS)


def session_of(
    request: Request, headers: Mapping[str, str] = NOTHING, owner: str = "", conversation: str = ""
) -> Session:
    """The session of `request`.

    headers       of the client's request, by lower-case names
    owner         whose request it is (the name of a key): sessions of two owners are never one
    conversation  the conversation its address or body names in the words of its API (`conv_…` of Responses)
    """
    for source, name in _named(request, headers, conversation):
        if 0 < len(name) <= LONGEST and name.isprintable():
            return Session(_digest(owner, "named", name), name, source)
    return Session(_digest(owner, "turns", _first_turns(request.messages)[0]))


def _named(request: Request, headers: Mapping[str, str], conversation: str) -> Iterator[tuple[str, str]]:
    """Every name of the session, with where it stands, the surest first."""
    if not HEADERS.keys().isdisjoint(headers):
        yield from ((header, headers[header].strip()) for header in HEADERS if header in headers)
    yield "conversation", conversation
    for path, read in FIELDS.items() if not OUTER.isdisjoint(request.extra) else ():
        value: Any = request.extra
        for step in path.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            yield path, read(value).strip()


@by_growth
def _first_turns(messages: Sequence[Message], start: int, known: tuple[str, bool] | None) -> tuple[str, bool]:
    """What tells this conversation from others: all that was said until its first user had spoken; had one?

    Of instructions the digits do not count: many hold the time, and a clock makes no other conversation.
    """
    if known is not None and known[1]:
        return known
    digest = blake2b(digest_size=16)
    for message in messages:
        spoke = message.role == "user"
        for text in _texts(message):
            digest.update((text if spoke else DIGITS.sub("0", text)).encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
        if spoke:
            return digest.hexdigest(), True
    return digest.hexdigest(), False


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, Media):
            yield from (part.mime, part.url, part.data)


@lru_cache(maxsize=4096)
def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
