"""What an answer holds besides text and calls, from one wire's words into another's: citations, searches, media,
refusals, the tier that served it.

Knows events and the fields that wires keep with them; nothing of bodies.
Contract: `AnswerCrossing.feed` gives the events of an answer for clients of one wire, in the same order; what came on
that very wire is left as it came.  Texts and calls are never touched and never wait; the end of a text part waits for
the event after it, since some wires say what a text rests on when all is over.  `crossed_answer` is the same for a
whole answer, by the same way.
Sources: thinking.md §5; openai 3.54 types/responses/response_output_text.py, types/chat/chat_completion_message.py;
anthropic 2.12 types/citations_web_search_result_location.py; google-genai types.GroundingMetadata (indices are UTF-8
bytes); openrouter.ai/docs (`message.images`); docs.perplexity.ai (`citations`, "[1]" in the text).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...codecs.crossing.media import media_beside
from ...codecs.crossing.parts import MINTED
from ...codecs.crossing.settings import ANTHROPIC, CHAT, GEMINI, INVOKE, RESPONSES, drop_at
from ...codecs.shared.body import items, mapping, string
from ...codecs.shared.media import data_url, media_kind
from ...codecs.shared.spec import CHOICES, REFUSAL, SEAL, WireFields, seal_of
from ...events import (
    CallDoubted,
    Ended,
    Event,
    IssueReported,
    PartAdded,
    PartEnded,
    Reclassified,
    Started,
    TextDelta,
    WireEvent,
    assemble,
    replay,
)
from ...types import NOTHING, JsonObject, Media, Opaque, Response
from .beside import TOKENS_AT, Token, tier_crossed, tokens_in, tokens_of, tokens_written


@dataclass(frozen=True, slots=True)
class Citation:
    """What a stretch of the answer's whole text rests on; `start` and `end` count characters."""

    url: str
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Search:
    """A search that a server ran: what was looked for, and the addresses and titles found."""

    query: str
    found: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Heard:
    """What is known of the answer so far: its text, and what the end must say."""

    text: str = ""
    begun: int = 0  # where the text part under way begins
    cited: list[Citation] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    transcript: str = ""  # of sound, told as the answer's text
    query: str = ""  # of a search whose findings are still to come


class AnswerCrossing:
    """Feed it the events of one answer; it gives them back for clients of wire `api`."""

    __slots__ = ("_api", "_held", "_known", "_pieces", "others", "unsaid")
    others: bool
    unsaid: JsonObject

    def __init__(self, api: str) -> None:
        self._api = api
        self._known: _Heard | None = None
        self._pieces: list[str] = []
        self._held: PartEnded | None = None
        self.others = False
        """Were there answers beside the first, which clients of this wire get none of?"""
        self.unsaid = NOTHING
        """The fields of the answer's own that the events do not say, once all are fed."""

    @property
    def _heard(self) -> _Heard:
        self._known = known = self._known or _Heard()  # a stream may be open for long before there is anything
        return known

    def feed(self, event: Event) -> list[Event]:
        """The events that go out now."""
        if type(event) is TextDelta:
            held = self._release() if self._held is not None else []
            self._pieces.append(event.text)
            return [*held, event] if held else [event]
        match event:
            case PartEnded() if self._pieces and self._held is None:
                self._held = event
                return []
            case Ended():
                return self._on_end(event)
            case WireEvent() if event.name == CHOICES and event.api != self._api:
                self.others = True
                return []
            case WireEvent() if event.api == self._api:
                return self._behind_part(event)
            case WireEvent() if event.name == REFUSAL and event.api in REFUSING and self._api in REFUSING:
                return self._behind_part(WireEvent(self._api, REFUSAL))
            case IssueReported() | CallDoubted() | WireEvent():
                return [event]  # they stand beside the answer, and end no part of it
            case PartAdded(Opaque() | Media() as part):
                return [*self._release(), *self._on_part(event, part)]
            case Started() | Reclassified():
                self._known, self._pieces = None, []
        return [*self._release(), event]

    def _behind_part(self, event: WireEvent) -> list[Event]:
        """`event`, which may say what the next part is: behind the end of the one before, where that waits."""
        return [event] if self._held is None else [*self._release(), event]

    # ── texts and what they rest on ──────────────────────────────────────────

    def _release(
        self, late: Callable[[str], list[Citation]] | None = None, tokens: Sequence[Token] = ()
    ) -> list[Event]:
        """The end of the text part that waits, with what it rests on, and how likely its tokens were."""
        if self._held is None and self._known is None and not self._pieces:
            return []
        heard, held = self._heard, self._held
        implied = PartEnded() if (late or tokens) and self._pieces else None  # a whole answer's last text ends unsaid
        heard.begun, heard.text, self._pieces = len(heard.text), heard.text + "".join(self._pieces), []
        held, self._held = held or implied, None
        if held is None:
            return []
        metadata = held.metadata
        own = isinstance(metadata, WireFields) and metadata.api == self._api
        read = _OF_PART.get(metadata.api) if isinstance(metadata, WireFields) else None
        found = [] if own or read is None else read(metadata, heard)
        found += [one for one in late(heard.text) if heard.begun <= one.start] if late else []
        heard.cited += [] if own else found
        written = _PARTS[self._api](found, heard, metadata) if self._api in _PARTS and not own else {}
        written |= {"logprobs": [*tokens]} if tokens and self._api == RESPONSES else {}
        if isinstance(metadata, WireFields) and not own:
            written |= {"type": REFUSAL} if metadata.get("type") == REFUSAL and self._api in REFUSING else {}
            held = replace(held, metadata=self._unsaid_of(metadata, found))
        if not written:
            return [] if implied and not held.metadata else [held]
        seal = seal_of(metadata)
        return [PartEnded(WireFields(self._api, {**written, **({SEAL: seal} if seal else {})}))]

    def _unsaid_of(self, metadata: WireFields, found: Sequence[Citation]) -> JsonObject:
        """What stands with a text, without what is said of it in the words of this client's wire."""
        likely = tokens_of(metadata) if metadata.api == RESPONSES else []
        self._heard.tokens += likely
        said = {"citations", "annotations"} if found and self._api in CITING else set()
        said |= {"logprobs"} if likely and self._api in TOKENS_AT else set()
        left = {key: value for key, value in metadata.items() if key not in said}
        return WireFields(metadata.api, left, metadata.origin) if left else NOTHING

    # ── blocks and media ─────────────────────────────────────────────────────

    def _on_part(self, event: PartAdded, part: Opaque | Media) -> list[Event]:
        if isinstance(part, Media):
            return self._show(event, part)
        if part.api == self._api:
            return [event]
        if part.api == RESPONSES and part.block.get("type") == "image_generation_call":
            media = _generated(part.block)
            return self._show(PartAdded(media), media) if media else [event]
        search = _searched(part, self._heard)
        if search is None:
            return [event]
        self._heard.queries.append(search.query)
        return [PartAdded(block) for block in _search_blocks(search, self._api)] or [event]

    def _show(self, event: PartAdded, media: Media) -> list[Event]:
        """Media in the form that clients of this wire know."""
        if self._api == CHAT:
            self._heard.media.append(media)
            return []
        image = media_kind(media) == "image" and media.data
        return [PartAdded(_drawn(media))] if self._api == RESPONSES and image else [event]

    # ── the end ──────────────────────────────────────────────────────────────

    def _on_end(self, event: Ended) -> list[Event]:
        extra = event.extra
        if not isinstance(extra, WireFields) or extra.api == self._api:
            return [*self._release(), *self._closing(event)]
        late, tokens = _AT_END.get(extra.api), tokens_in(extra, extra.api)
        self._heard.tokens += tokens
        events = self._release(late and (lambda text: late(extra, text)), tokens)
        shown = [Media(mime=one.mime, data=one.data, url=one.url) for one in media_beside(extra)]
        for media in shown:
            events += self._show(PartAdded(media), media)
        for query in _queries_in(extra):
            self._heard.queries.append(query)
            events += [PartAdded(block) for block in _search_blocks(_ground(query, extra), self._api)]
        if not self._heard.text and self._api != CHAT and (words := _transcript(extra)):
            events += [TextDelta(words), PartEnded()]
            self._heard.transcript = words
        return [*events, *self._closing(event)]

    def _closing(self, event: Ended) -> list[Event]:
        extra = event.extra
        api = getattr(extra, "api", "")
        own = api == self._api
        write = None if own else _ENDS.get(self._api)
        tier, at = ({}, "") if own else tier_crossed(extra, api, self._api)
        tokens = {} if own else tokens_written(self._heard.tokens, self._api)
        said: dict[str, Any] = write(self._heard) if write else {}
        for key, one in [*tier.items(), *tokens.items()]:
            said[key] = {**mapping(said.get(key)), **one} if isinstance(one, Mapping) else one
        self.unsaid = self._left_of(extra, at) if isinstance(extra, WireFields) and not own else extra
        if own and self._api == CHAT and self._heard.media:
            message = {**mapping(extra.get("message")), **_shown(self._heard.media)}
            return [replace(event, extra=WireFields(CHAT, {**extra, "message": message}))]
        return [replace(event, extra=WireFields(self._api, said))] if said else [event]


    def _left_of(self, extra: WireFields, tier: str) -> JsonObject:
        """The fields at the answer's end, without those that are said in the words of this client's wire."""
        heard, left = self._heard, dict(extra)
        said = [tier, *(_SHOWN_AT if extra.api == CHAT else ()), "message.audio.transcript" if heard.transcript else ""]
        said += _CITED_AT.get(extra.api, ()) if heard.cited and self._api in CITING else ()
        said += [_ASKED_AT] if extra.api == GEMINI and heard.queries and self._api in SEARCHING else []
        said += [_FOUND_AT] if extra.api == GEMINI and heard.queries and self._api in (RESPONSES, ANTHROPIC) else []
        tokens = heard.tokens and (self._api in TOKENS_AT or self._api == RESPONSES)
        said += TOKENS_AT.get(extra.api, ()) if tokens else ()
        for path in filter(None, said):
            drop_at(left, path)
        return WireFields(extra.api, left, extra.origin) if left else NOTHING


def crossed_answer(response: Response, api: str) -> Response:
    """`response` for clients of wire `api`."""
    return crossing_of(response, api)[0]


def crossing_of(response: Response, api: str) -> tuple[Response, Response]:
    """The same, and once more with those of its own fields that this does not say: what may be lost."""
    extra = response.extra
    if response.message.bare and (not extra or type(extra) is not WireFields or extra.api == api):
        return response, response  # as nearly all
    metadata = [getattr(part, "metadata", None) for part in response.message.parts]
    foreign = any(isinstance(one, WireFields) and one.api != api for one in (response.extra, *metadata))
    if not foreign and not any(isinstance(part, Opaque | Media) for part in response.message.parts):
        return response, response
    crossing = AnswerCrossing(api)
    made = assemble([out for event in replay(response) for out in crossing.feed(event)])
    return made, replace(made, extra=crossing.unsaid)


REFUSING = frozenset({CHAT, RESPONSES})
"""Wires that say of a text that it declines; others have no field for it."""
CITING = frozenset({CHAT, RESPONSES, ANTHROPIC, GEMINI})
"""Wires that say which pages a text rests on."""
SEARCHING = frozenset({RESPONSES, ANTHROPIC, GEMINI})
"""Wires that say what was searched for."""
_GROUNDING = "candidate.groundingMetadata"
_ASKED_AT, _FOUND_AT = f"{_GROUNDING}.webSearchQueries", f"{_GROUNDING}.groundingChunks"
_CITED_AT: Mapping[str, tuple[str, ...]] = {
    GEMINI: (_FOUND_AT, f"{_GROUNDING}.groundingSupports"),
    CHAT: ("message.annotations", "citations", "search_results"),
}
_SHOWN_AT = ("message.images", "message.audio.data", "message.audio.id", "message.audio.expires_at")
"""Where a chat answer has media: as parts of the answer they are told themselves where a wire has no place for them."""


# ── reading: what stands with a text part ────────────────────────────────────


def _cited_blocks(metadata: JsonObject, heard: _Heard) -> list[Citation]:
    """Anthropic's: a citation is of the whole block it stands with."""
    found = [mapping(one) for one in items(metadata.get("citations"))]
    end = len(heard.text)
    return [Citation(one["url"], string(one.get("title")), heard.begun, end) for one in found if string(one.get("url"))]


def _annotated(metadata: JsonObject, heard: _Heard) -> list[Citation]:
    return list(_ranges(map(mapping, items(metadata.get("annotations"))), heard.begun))


def _ranges(notes: Iterator[JsonObject], begun: int) -> Iterator[Citation]:
    for note in notes:
        inner = mapping(note.get("url_citation")) or note
        start, end = inner.get("start_index"), inner.get("end_index")
        if string(inner.get("url")) and note.get("type") == "url_citation":
            first = begun + start if type(start) is int else begun
            yield Citation(inner["url"], string(inner.get("title")), first, begun + end if type(end) is int else first)


_OF_PART: Mapping[str, Callable[[JsonObject, _Heard], list[Citation]]] = {
    ANTHROPIC: _cited_blocks, INVOKE: _cited_blocks, RESPONSES: _annotated,
}  # fmt: skip


# ── reading: what stands at the end ──────────────────────────────────────────


def _grounded(extra: JsonObject, text: str) -> list[Citation]:
    """Gemini's grounding, whose places count bytes."""
    grounding = mapping(mapping(extra.get("candidate")).get("groundingMetadata"))
    chunks = [mapping(mapping(one).get("web")) for one in items(grounding.get("groundingChunks"))]
    raw = text.encode("utf-8", "surrogatepass")
    found: list[Citation] = []
    for support in map(mapping, items(grounding.get("groundingSupports"))):
        segment = mapping(support.get("segment"))
        start, end = segment.get("startIndex") or 0, segment.get("endIndex")
        if type(start) is not int or type(end) is not int:
            continue
        first, last = (len(raw[:at].decode("utf-8", "ignore")) for at in (start, end))
        indices = [at for at in items(support.get("groundingChunkIndices")) if type(at) is int]
        webs = [chunks[at] for at in indices if 0 <= at < len(chunks) and string(chunks[at].get("uri"))]
        found += [Citation(web["uri"], string(web.get("title")), first, last) for web in webs]
    return found


def _noted(extra: JsonObject, text: str) -> list[Citation]:
    """A chat answer's annotations, or the addresses that Perplexity's "[1]" stand for."""
    noted = list(_ranges(map(mapping, items(mapping(extra.get("message")).get("annotations"))), 0))
    if noted:
        return noted
    titles = {mapping(one).get("url"): string(mapping(one).get("title")) for one in items(extra.get("search_results"))}
    urls = [url for url in items(extra.get("citations")) if isinstance(url, str)]
    marks = [(int(mark[1]), mark) for mark in re.finditer(r"\[(\d{1,3})\]", text)] if urls else []
    known = [(urls[number - 1], mark) for number, mark in marks if 0 < number <= len(urls)]
    return [Citation(url, titles.get(url, ""), mark.start(), mark.end()) for url, mark in known]


_AT_END: Mapping[str, Callable[[JsonObject, str], list[Citation]]] = {GEMINI: _grounded, CHAT: _noted}


def _queries_in(extra: WireFields) -> list[str]:
    grounding = mapping(mapping(extra.get("candidate")).get("groundingMetadata")) if extra.api == GEMINI else {}
    return [query for query in items(grounding.get("webSearchQueries")) if isinstance(query, str)]


def _ground(query: str, extra: JsonObject) -> Search:
    grounding = mapping(mapping(extra.get("candidate")).get("groundingMetadata"))
    webs = [mapping(mapping(one).get("web")) for one in items(grounding.get("groundingChunks"))]
    return Search(query, tuple((string(web.get("uri")), string(web.get("title"))) for web in webs if web.get("uri")))


def _transcript(extra: JsonObject) -> str:
    """What the sound of a chat answer says."""
    return string(mapping(mapping(extra.get("message")).get("audio")).get("transcript"))


# ── searches and images, block by block ──────────────────────────────────────

def _searched(part: Opaque, heard: _Heard) -> Search | None:
    """A search that ran, once what it found is known."""
    block, kind = part.block, part.block.get("type")
    if kind == "web_search_call" and part.api == RESPONSES:
        action = mapping(block.get("action"))
        query = string(action.get("query")) or next(map(string, items(action.get("queries"))), "")
        urls = [string(mapping(one).get("url")) for one in items(action.get("sources"))]
        return Search(query, tuple((url, "") for url in urls if url)) if query else None
    if kind == "server_tool_use" and block.get("name") == "web_search":
        heard.query = string(mapping(block.get("input")).get("query"))
    elif kind == "web_search_tool_result" and heard.query:
        found = [mapping(one) for one in items(block.get("content"))]
        query, heard.query = heard.query, ""
        pairs = ((string(one.get("url")), string(one.get("title"))) for one in found)
        return Search(query, tuple(pair for pair in pairs if pair[0]))
    return None


def _search_blocks(search: Search, api: str) -> list[Opaque]:
    """A search as clients of `api` know one; nothing where they know none."""
    mark = f"{MINTED}_{hashlib.sha256(repr(search).encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"
    if api == RESPONSES:
        sources = [{"type": "url", "url": url} for url, _ in search.found]
        action = {"type": "search", "query": search.query, "sources": sources}
        item = {"id": f"ws_{mark}", "type": "web_search_call", "status": "completed", "action": action}
        return [Opaque(api=api, block=item)]
    if api != ANTHROPIC:
        return []
    use = {"type": "server_tool_use", "id": f"srvtoolu_{mark}", "name": "web_search", "input": {"query": search.query}}
    found = [
        {"type": "web_search_result", "url": url, "title": title, "encrypted_content": "", "page_age": None}
        for url, title in search.found
    ]
    result = {"type": "web_search_tool_result", "tool_use_id": use["id"], "content": found}
    return [Opaque(api=api, block=use), Opaque(api=api, block=result)]


def _generated(block: JsonObject) -> Media | None:
    data, form = string(block.get("result")), string(block.get("output_format")) or "png"
    return Media(mime=f"image/{form}", data=data) if data else None


def _drawn(media: Media) -> Opaque:
    """An image as the item of a tool that draws: the only form in which Responses gives one."""
    mark = hashlib.sha256(media.data.encode()).hexdigest()[:20]
    form = media.mime.partition("/")[2]
    head = {"id": f"ig_{MINTED}_{mark}", "type": "image_generation_call", "status": "completed"}
    return Opaque(api=RESPONSES, block={**head, "output_format": form, "result": media.data})


# ── writing ──────────────────────────────────────────────────────────────────


def _as_annotations(found: list[Citation], heard: _Heard, _: JsonObject) -> dict[str, Any]:
    notes = [_note(one, heard.begun) for one in found]
    return {"annotations": notes} if notes else {}


def _note(one: Citation, begun: int) -> dict[str, Any]:
    place = {"start_index": max(0, one.start - begun), "end_index": max(0, one.end - begun)}
    return {"type": "url_citation", "url": one.url, "title": one.title, **place}


def _as_citations(found: list[Citation], heard: _Heard, _: JsonObject) -> dict[str, Any]:
    """Without `encrypted_index`, which only Anthropic can make: nothing of it may go back there."""
    kind = "web_search_result_location"
    cited = [
        {"type": kind, "url": one.url, "title": one.title, "cited_text": heard.text[one.start : one.end],
         "encrypted_index": ""}
        for one in found
    ]  # fmt: skip
    return {"citations": cited} if cited else {}


_PARTS: Mapping[str, Callable[[list[Citation], _Heard, JsonObject], dict[str, Any]]] = {
    RESPONSES: _as_annotations, ANTHROPIC: _as_citations,
}  # fmt: skip


def _end_of_chat(heard: _Heard) -> dict[str, Any]:
    flat = [_note(one, 0) for one in heard.cited]
    notes = [{"type": one.pop("type"), "url_citation": one} for one in flat]
    message = {**({"annotations": notes} if notes else {}), **_shown(heard.media)}
    return {"message": message} if message else {}


def _shown(media: list[Media]) -> dict[str, Any]:
    """Media as OpenRouter gives images, and OpenAI sound."""
    drawn = [one for one in media if media_kind(one) == "image"]
    images = [{"type": "image_url", "index": at, "image_url": {"url": data_url(one)}} for at, one in enumerate(drawn)]
    heard = next((one.data for one in media if media_kind(one) == "audio" and one.data), "")
    name = hashlib.sha256(heard.encode()).hexdigest()[:20]
    sound = {"id": f"audio_{name}", "data": heard, "transcript": "", "expires_at": 0}
    return {**({"images": images} if images else {}), **({"audio": sound} if heard else {})}


def _end_of_gemini(heard: _Heard) -> dict[str, Any]:
    pages = list(dict.fromkeys((one.url, one.title) for one in heard.cited))
    supports = []
    for one in heard.cited:
        start, end = (len(heard.text[:at].encode("utf-8", "surrogatepass")) for at in (one.start, one.end))
        segment = {"startIndex": start, "endIndex": end, "text": heard.text[one.start : one.end]}
        supports.append({"segment": segment, "groundingChunkIndices": [pages.index((one.url, one.title))]})
    chunks = [{"web": {"uri": url, "title": title}} for url, title in pages]
    grounding = {"webSearchQueries": heard.queries, "groundingChunks": chunks, "groundingSupports": supports}
    known = {key: value for key, value in grounding.items() if value}
    return {"candidate": {"groundingMetadata": known}} if known else {}


_ENDS: Mapping[str, Callable[[_Heard], dict[str, Any]]] = {CHAT: _end_of_chat, GEMINI: _end_of_gemini}
