"""What the gateway serves, as an OpenAPI document (`GET /openapi.json`), made from the table of fronts.

Knows fronts and the shapes of their requests in outline; nothing of serving.
Contract: the document is as loose as what is served: it demands what is really demanded, and allows whatever a client
of these APIs may add.  Every front is shown under its first address; the others are the same (docs/clients.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...codecs.shared.frames import FrameKind
from ...dialects import DIALECTS
from ...version import __version__
from ..fronts import FRONTS, STREAM_TYPES, Endpoint, Front

OBJECT: dict[str, Any] = {"type": "object"}
TEXT: dict[str, Any] = {"type": "string"}
FLAG: dict[str, Any] = {"type": "boolean"}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _some(required: str = "", **properties: Any) -> dict[str, Any]:
    """An object of at least these fields; `required` names those that must be there."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": required.split()} if required else {})


NAME: dict[str, Any] = {"type": "string", "minLength": 1}


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What clients leave out they often send as null."""
    return {"anyOf": [schema, {"type": "null"}]}


def _tools(tool: Mapping[str, Any]) -> dict[str, Any]:
    return _or_null(_list(tool))


NAMED = _some("name", name=NAME)
STREAM = _or_null(FLAG)
CONTENT: dict[str, Any] = {"anyOf": [TEXT, _list(OBJECT), {"type": "null"}]}
WORDS: dict[str, Any] = {"anyOf": [TEXT, _list({"anyOf": [TEXT, OBJECT]}), {"type": "null"}]}
"""Content of OpenAI's messages, of which some clients write the parts as bare strings."""


def _messages(content: Mapping[str, Any]) -> dict[str, Any]:
    return _list(_some("role", role=NAME, content=content))


CHAT = _some("messages", model=_or_null(TEXT), messages=_messages(CONTENT), tools=_tools(OBJECT), stream=STREAM)
INPUT: dict[str, Any] = {"anyOf": [TEXT, _list(OBJECT), {"type": "null"}]}
_SAID = _some(role=_or_null(TEXT), parts={"anyOf": [_list(OBJECT), OBJECT, {"type": "null"}]})
CONTENTS = {"anyOf": [_list(_SAID), _SAID, TEXT]}
"""One may stand alone, and so may its text, as Google's own SDKs take them."""
MOST_TOKENS = _or_null({"type": "integer"})
NAMED_OR_OWN = {"anyOf": [NAMED, _some("type", type={"not": {"enum": ["function", "custom"]}})]}
"""A function, or a tool of the API itself."""

ASKED: Mapping[str, dict[str, Any]] = {
    "openai_chat": _some("messages", **CHAT["properties"] | {"messages": _messages(WORDS)}),
    "openai_responses": _some(model=_or_null(TEXT), input=INPUT, tools=_tools(NAMED_OR_OWN), stream=STREAM,
                              background=STREAM),
    "anthropic_messages": _some(
        "messages", **CHAT["properties"] | {"tools": _tools(NAMED), "max_tokens": MOST_TOKENS, "system": CONTENT}
    ),
    "ollama_chat": _some("model", **CHAT["properties"] | {"model": NAME}),
    "ollama_generate": _some("model", model=NAME, prompt=_or_null(TEXT), stream=STREAM),
    "gemini": _some("contents", contents=CONTENTS, tools=_tools(OBJECT)),
}
"""What each front is asked, by its codec."""

OTHERS: Mapping[str, tuple[str, str, dict[str, Any] | None]] = {
    "/v1/messages/count_tokens": ("post", "How many tokens a request is about to take.", OBJECT),
    "/v1beta/models/{model}:countTokens": ("post", "The same, for Gemini's clients.", OBJECT),
    **{
        f"/v1/{name}": ("post", "Passed as it is to a route that has it.", _some(model=_or_null(TEXT)))
        for name in ("embeddings", "completions", "moderations", "rerank", "audio/speech", "images/generations")
    },
    "/api/embed": ("post", "Passed as it is to a route that has it.", _some(model=_or_null(TEXT))),
    "/api/embeddings": ("post", "Passed as it is to a route that has it.", _some(model=_or_null(TEXT))),
    "/v1/files": ("get", "The files this key uploaded; POST uploads one.", None),
    "/v1/batches": ("get", "The batches this key began; POST begins one.", None),
    "/v1/conversations": ("post", "A conversation that is kept here.", _some(items=_or_null(_list(OBJECT)))),
    "/v1/conversations/{conversation_id}": ("get", "One of them; POST notes something else, DELETE forgets it.", None),
    "/v1/conversations/{conversation_id}/items": ("get", "Its items; POST adds some.", None),
    "/v1/responses/input_tokens": ("post", "How many tokens a request is about to take.", _some(model=_or_null(TEXT))),
    "/v1/responses/compact": (
        "post", "A conversation cut down to what must be known of it.",
        _some(model=_or_null(TEXT), input=INPUT),
    ),
    "/v1/responses/{response_id}": ("get", "An answer that is kept here; DELETE forgets it.", None),
    "/v1/responses/{response_id}/cancel": ("post", "An answer in the background, which nobody goes on with.", None),
    "/v1/responses/{response_id}/input_items": ("get", "The items it was asked with.", None),
    "/v1/parse": ("post", "The calls in what a model wrote, judged.", _some("text", text=TEXT, tools=_tools(NAMED))),
    "/v1/render": (
        "post",
        "Calls as a model of a dialect writes them.",
        _some(
            "calls dialect", calls=_list(_some("name", name=NAME, arguments=OBJECT)), dialect={"enum": list(DIALECTS)}
        ),
    ),
    "/v1/habits": ("get", "Ways of writing calls that models have confirmed to you; DELETE forgets them.", None),
    "/v1/models": ("get", "The models served, in the shape of whoever asks.", None),
    "/v1/models/{model}": ("get", "One of them.", None),
    "/api/tags": ("get", "The models served, as Ollama lists them.", None),
    "/api/show": ("post", "What a model can do, as Ollama says it.", _some("model", model=NAME)),
    "/api/version": ("get", "Our version.", None),
    "/healthz": ("get", "Whether this process lives.", None),
    "/readyz": ("get", "Whether requests should be sent here.", None),
}
"""What is served beside the fronts: the method, what it is, and what it is asked."""


FORMS: Mapping[str, str] = {
    "/v1/audio/transcriptions": "Passed as it is to a route that has it: speech to text.",
    "/v1/audio/translations": "The same, into English.",
    "/v1/images/edits": "Passed as it is to a route that has it: an image changed.",
    "/v1/images/variations": "The same, another of its kind.",
}
"""What is asked by a form (multipart/form-data), which passes as it comes."""


def document() -> dict[str, Any]:
    """The document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Dragoman", "version": __version__, "description": "Tool calling for every language model."},
        "paths": dict(_paths()),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            }
        },
        "security": [{}, {"bearer": []}, {"header": []}],
    }


def _paths() -> Iterator[tuple[str, dict[str, Any]]]:
    for front in FRONTS:
        for endpoint in front.endpoints:
            path = (front.versions[0] + endpoint.path).replace(":path}", "}")
            summary, body = f"Ask a model, in the {front.codec.name} API.", _body(ASKED.get(front.codec.name, OBJECT))
            yield path, {"post": _operation(path, summary, _answers(front, endpoint)) | body}
    for path, (method, summary, schema) in OTHERS.items():
        answers = {
            "200": _answer("The answer.", "application/json"),
            "default": _answer("An error.", "application/json"),
        }
        yield path, {method: _operation(path, summary, answers) | (_body(schema) if schema is not None else {})}


    for path, summary in FORMS.items():
        schema = _some("model", model=NAME)
        asked = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}
        answered = {code: _answer("The answer, or an error.", "application/json") for code in ("200", "default")}
        yield path, {"post": _operation(path, summary, answered) | asked}


def _operation(path: str, summary: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    named = [
        {"name": name, "in": "path", "required": True, "schema": {**TEXT, "minLength": 1}}
        for name in ("model", "conversation_id", "response_id")
        if f"{{{name}}}" in path
    ]
    operation = {"summary": summary, "operationId": path.strip("/").replace("/", "_"), "responses": answers}
    return operation | ({"parameters": named} if named else {})


def _body(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _answers(front: Front, endpoint: Endpoint) -> dict[str, Any]:
    stream = STREAM_TYPES.get(front.codec.frames, STREAM_TYPES[FrameKind.SSE]).partition(";")[0]
    kinds = {None: ("application/json", stream), True: (stream,), False: ("application/json",)}[endpoint.stream]
    return {
        "200": _answer("The answer, whole or streamed.", *kinds),
        "default": _answer("An error, in the shape of this API.", "application/json"),
    }


def _answer(summary: str, *kinds: str) -> dict[str, Any]:
    shapes = {kind: {"schema": OBJECT} if kind == "application/json" else {} for kind in kinds}
    return {"description": summary, "content": shapes}
