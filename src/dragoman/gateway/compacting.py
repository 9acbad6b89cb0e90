"""`/v1/responses/compact`: a conversation cut down to what whoever goes on with it must know.

Where every route of the model has an endpoint for it that is asked, with the state put in; else the model itself writes
a summary, which is sealed (`state/compaction.py`).  Knows exchanges, routes and effects; nothing of ASGI or sockets.
Contract: as an exchange; nothing of it is kept here, nothing is streamed, and no tool is offered or run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from ..codecs.openai.responses_writing import write_usage
from ..codecs.shared.spec import Stamp
from ..effects import Machine, Open, Opened, Read
from ..errors import CodecError, ErrorKind, ProviderError
from ..fallback import place
from ..jsontext import to_json
from ..providers.authorize import Tokens, admit
from ..providers.route import Route
from ..turn.send import MAX_REFUSAL, without_secrets
from ..types import Issue, JsonObject, Message, Request, Response, Usage
from .attached import ALONE, Attached
from .exchange import Exchange
from .seals import opened as unsealed
from .state import compaction
from .state.contents import as_items

ENDPOINT = "responses/compact"
ASKED = ("model", "instructions", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "service_tier")
"""Fields that go on to whoever is asked; the API knows no others but those that say what is compacted."""
NOTHING_GIVEN = "there is nothing to compact; send input, or previous_response_id"
MOST = 64 << 20
"""Bytes of an answer."""
GARBLED = "{route} answered with what is no JSON object; ask again"


class Compaction(Exchange):
    """Compacts one conversation."""

    _given: Sequence[JsonObject] = ()
    _items: Sequence[JsonObject] = ()
    _asking: Request | None = None

    def _request(self) -> Machine[Request]:
        """The request for the summary."""
        if self._asking is None:
            owner, kept = self._record.key, self._responses
            given = self._body.get("input")
            self._given = as_items(given) if kept is None else (yield from kept.window(self._body, owner))
            self._items = compaction.opened(self._given, owner)
            if not self._items:
                raise CodecError(NOTHING_GIVEN, "input", self._front.codec.name)
            self._asking = self._decoded(compaction.asked(self._items))
        return self._asking

    def _decoded(self, items: Sequence[JsonObject]) -> Request:
        fields = {key: self._body[key] for key in ASKED if key in self._body}
        request, _ = unsealed(self._front.codec.decode_request({**fields, "input": [*items]}), self._record.key)
        return request

    def _serve(self) -> Machine[Machine[None] | None]:
        _, routes = yield from self._admitted()
        if all(ENDPOINT in route.provider.endpoints for route in routes):
            return self._ask_natively(self._decoded(self._items), routes)
        return (yield from super()._serve())

    def _attached(self, request: Request, kinds: Collection[str]) -> Machine[Attached]:
        """No tools."""
        yield from ()
        return ALONE

    def _answer(self, sent: Response, stamp: Stamp, request: Request) -> JsonObject:
        owner, name = self._record.key, "cmp_" + stamp.id.removeprefix("resp_")
        output = compaction.compacted(self._given, self._items, sent.message.text, name, owner)
        usage = write_usage(sent.usage or Usage())
        made = {"id": stamp.id, "object": "response.compaction", "created_at": stamp.created}
        return {**made, "output": output, "usage": usage}

    def _note_losses(self, response: Response, answer: JsonObject, *, others: bool = False) -> tuple[Issue, ...]:
        """The summary is not for the client to read."""
        return ()

    # ── a backend's own ──────────────────────────────────────────────────────

    def _ask_natively(self, request: Request, routes: Sequence[Route]) -> Machine[None]:
        """Ask the routes in order, the next where one fails."""
        for left, route in zip(range(len(routes) - 1, -1, -1), routes, strict=True):
            self._record.ask(place(route, request.model), request, ENDPOINT)
            try:
                answer = yield from self._compacted_by(route, request)
            except ProviderError as error:
                shown = without_secrets(error, route)
                self._record.answered(None, shown)
                if not (left and error.retryable):
                    raise shown from None
            else:
                self._note_answer(answer)
                yield self._given_out(answer, {})
                return

    def _compacted_by(self, route: Route, request: Request) -> Machine[JsonObject]:
        codec = self._front.codec
        model = place(route, request.model).model
        body = {**codec.encode_request(request, route.provider.quirks), "model": model}
        asked = Open(
            url=route.url(route.provider.endpoints[ENDPOINT], model),
            headers={**route.headers(), "accept": "application/json"},
            body=to_json(body).encode(),
            timeouts=route.timeouts,
        )
        answered: Opened = yield (yield from admit(asked, route, TOKENS))
        well = 200 <= answered.status < 300
        data = yield from _read(MOST if well else MAX_REFUSAL)
        if not well:
            raise codec.decode_error(answered.status, data, answered.headers)
        try:
            made = json.loads(data)
        except ValueError:
            made = None
        if not isinstance(made, Mapping):
            message = GARBLED.format(route=place(route, request.model))
            raise ProviderError(message, kind=ErrorKind.GARBLED)
        return made

    def _note_answer(self, answer: JsonObject) -> None:
        usage = self._front.codec.decode_response({"output": [], "usage": answer.get("usage")}).usage
        self._record.response = Response(message=Message("assistant", ()), usage=usage)
        self._record.answered(self._record.response)


TOKENS = Tokens()


def _read(limit: int) -> Machine[bytes]:
    data: list[bytes] = []
    size = 0
    while size < limit and (piece := (yield Read(held=size))):
        data.append(piece)
        size += len(piece)
    return b"".join(data)

