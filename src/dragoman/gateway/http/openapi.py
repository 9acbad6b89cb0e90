"""What the gateway serves, as an OpenAPI document (`GET /openapi.json`), made from the table of fronts.

Knows fronts and the shapes of their requests in outline; nothing of serving.
Contract: the document is as loose as what is served: it demands what is really demanded, and allows whatever a client
of these APIs may add.  Every front is shown under its first address; the others are the same (docs/clients.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...codecs.shared.frames import FrameKind
from ...dialects import DIALECTS
from ...dialects.spec import JsonCall
from ...records import NamedTuple
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


def _messages(content: Mapping[str, Any], least: int = 1) -> dict[str, Any]:
    """Messages; none at all is what only Ollama takes: it loads the model then."""
    return _list(_some("role", role=NAME, content=content)) | ({"minItems": least} if least else {})


CHAT = _some("messages", model=_or_null(TEXT), messages=_messages(CONTENT), tools=_tools(OBJECT), stream=STREAM)
INPUT: dict[str, Any] = {"anyOf": [TEXT, _list(_some("role", role=NAME, content=CONTENT)) | {"minItems": 1}]}
"""Texts and messages; the other items of the API, which have a type, go as they are."""
FUNCTION = _some("function", function=NAMED)
_SAID = _some(role=_or_null(TEXT), parts={"anyOf": [_list(OBJECT), OBJECT, {"type": "null"}]})
CONTENTS = {"anyOf": [_list(_SAID) | {"minItems": 1}, _SAID, TEXT]}
"""One may stand alone, and so may its text, as Google's own SDKs take them."""
MOST_TOKENS = _or_null({"type": "integer"})
NAMED_OR_OWN = {"anyOf": [NAMED, _some("type", type={"not": {"enum": ["function", "custom"]}})]}
"""A function, or a tool of the API itself."""

ASKED: Mapping[str, dict[str, Any]] = {
    "openai_chat": _some("messages", **CHAT["properties"] | {"messages": _messages(WORDS), "tools": _tools(FUNCTION)}),
    "openai_responses": _some("input", model=_or_null(TEXT), input=INPUT, tools=_tools(NAMED_OR_OWN), stream=STREAM,
                              background=STREAM),
    "anthropic_messages": _some(
        "messages", **CHAT["properties"] | {"tools": _tools(NAMED), "max_tokens": MOST_TOKENS, "system": CONTENT}
    ),
    "ollama_chat": _some("model", **CHAT["properties"] | {"model": NAME, "messages": _messages(CONTENT, 0)}),
    "ollama_generate": _some("model", model=NAME, prompt=_or_null(TEXT), stream=STREAM),
    "gemini": _some("contents", contents=CONTENTS, tools=_tools(OBJECT)),
}
"""What each front is asked, by its codec, where the request stands alone: one that goes on from what is kept
(`previous_response_id`, `conversation`) needs no `input`."""

ANY_CALL = [name for name, row in DIALECTS.items() if isinstance(row.args, JsonCall)]
"""Dialects that can write whatever a call holds; the others are taken too, and refuse what their marks would cut."""


class Beside(NamedTuple):
    """One operation beside the fronts: what it is, and its body; None where it takes none."""

    path: str
    method: str
    summary: str
    body: Mapping[str, Any] | None = None
    required: bool = True
    kind: str = "application/json"


_PASSED = "Passed as it is to a route that has it"
_MODEL = _some(model=_or_null(TEXT))
_FORM = "multipart/form-data"
_CONVERSATION = _some(items=_or_null(_list(OBJECT)))

OTHERS: tuple[Beside, ...] = (
    Beside("/v1/messages/count_tokens", "post", "How many tokens a request is about to take.", OBJECT),
    Beside("/v1beta/models/{model}:countTokens", "post", "The same, for Gemini's clients.", OBJECT),
    *(
        Beside(f"/{name}", "post", f"{_PASSED}.", _MODEL)
        for name in ("v1/embeddings", "v1/completions", "v1/moderations", "v1/rerank", "v1/audio/speech",
                     "v1/images/generations", "api/embed", "api/embeddings")
    ),
    Beside("/v1/audio/transcriptions", "post", f"{_PASSED}: speech to text.", _some("model", model=NAME), kind=_FORM),
    Beside("/v1/audio/translations", "post", "The same, into English.", _some("model", model=NAME), kind=_FORM),
    Beside("/v1/images/edits", "post", f"{_PASSED}: an image changed.", _some("model", model=NAME), kind=_FORM),
    Beside("/v1/images/variations", "post", "The same, another of its kind.", _some("model", model=NAME), kind=_FORM),
    Beside("/v1/files", "get", "The files this key uploaded."),
    Beside("/v1/files", "post", "Upload one.", _some("file purpose", file=TEXT, purpose=NAME), kind=_FORM),
    Beside("/v1/files/{file_id}", "get", "What is known of one of them."),
    Beside("/v1/files/{file_id}", "delete", "Forget it."),
    Beside("/v1/files/{file_id}/content", "get", "What it holds."),
    Beside("/v1/batches", "get", "The batches this key began."),
    Beside("/v1/batches", "post", "Begin one.", OBJECT),
    Beside("/v1/batches/{batch_id}", "get", "How one of them stands."),
    Beside("/v1/batches/{batch_id}/cancel", "post", "End it.", OBJECT),
    Beside("/v1/conversations", "post", "A conversation that is kept here.", _CONVERSATION, required=False),
    Beside("/v1/conversations/{conversation_id}", "get", "One of them."),
    Beside("/v1/conversations/{conversation_id}", "post", "Note something else of it.", OBJECT, required=False),
    Beside("/v1/conversations/{conversation_id}", "delete", "Forget it."),
    Beside("/v1/conversations/{conversation_id}/items", "get", "Its items."),
    Beside("/v1/conversations/{conversation_id}/items", "post", "Add some.", OBJECT, required=False),
    Beside("/v1/conversations/{conversation_id}/items/{item_id}", "get", "One of them."),
    Beside("/v1/conversations/{conversation_id}/items/{item_id}", "delete", "Take it out."),
    Beside("/v1/responses/input_tokens", "post", "How many tokens a request is about to take.", OBJECT, required=False),
    Beside("/v1/responses/compact", "post", "A conversation cut down to what must be known of it.",
           _some("input", model=_or_null(TEXT), input=INPUT)),
    Beside("/v1/responses/{response_id}", "get", "An answer that is kept here."),
    Beside("/v1/responses/{response_id}", "delete", "Forget it."),
    Beside("/v1/responses/{response_id}/cancel", "post", "An answer in the background, which nobody goes on with."),
    Beside("/v1/responses/{response_id}/input_items", "get", "The items it was asked with."),
    Beside("/v1/parse", "post", "The calls in what a model wrote, judged.",
           _some("text", text=TEXT, tools=_tools(NAMED))),
    Beside("/v1/render", "post", "Calls as a model of a dialect writes them.",
           _some("calls dialect", calls=_list(_some("name", name=NAME, arguments=OBJECT)), dialect={"enum": ANY_CALL})),
    Beside("/v1/habits", "get", "Ways of writing calls that models have confirmed to you."),
    Beside("/v1/habits", "delete", "Forget them."),
    Beside("/v1/models", "get", "The models served, in the shape of whoever asks."),
    Beside("/v1/models/{model}", "get", "One of them."),
    Beside("/api/tags", "get", "The models served, as Ollama lists them."),
    Beside("/api/show", "post", "What a model can do, as Ollama says it.", _some("model", model=NAME)),
    Beside("/api/version", "get", "Our version."),
    Beside("/healthz", "get", "Whether this process lives."),
    Beside("/readyz", "get", "Whether requests should be sent here."),
)
"""What is served beside the fronts."""


def document() -> dict[str, Any]:
    """The document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Dragoman", "version": __version__, "description": "Tool calling for every language model."},
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            }
        },
        "security": [{}, {"bearer": []}, {"header": []}],
    }


def _paths() -> dict[str, dict[str, Any]]:
    paths: dict[str, dict[str, Any]] = {}
    for front in FRONTS:
        for endpoint in front.endpoints:
            path = (front.versions[0] + endpoint.path).replace(":path}", "}")
            summary, body = f"Ask a model, in the {front.codec.name} API.", _body(ASKED.get(front.codec.name, OBJECT))
            paths[path] = {"post": _operation(path, "post", summary, _answers(front, endpoint)) | body}
    for path, method, summary, schema, required, kind in OTHERS:
        answers = {code: _answer(what, "application/json") for code, what in ANSWERS.items()}
        body = _body(schema, kind, required=required) if schema is not None else {}
        paths.setdefault(path, {})[method] = _operation(path, method, summary, answers) | body
    return paths


ANSWERS: Mapping[str, str] = {"200": "The answer.", "default": "An error."}
VARIABLE = re.compile(r"\{(\w+)\}")


def _operation(path: str, method: str, summary: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    named = [
        {"name": name, "in": "path", "required": True, "schema": {**TEXT, "minLength": 1}}
        for name in VARIABLE.findall(path)
    ]
    words = [method, *path.strip("/").split("/")]
    operation = {"summary": summary, "operationId": "_".join(words), "responses": answers}
    return operation | ({"parameters": named} if named else {})


def _body(schema: Mapping[str, Any], kind: str = "application/json", *, required: bool = True) -> dict[str, Any]:
    return {"requestBody": {"required": required, "content": {kind: {"schema": schema}}}}


def _answers(front: Front, endpoint: Endpoint) -> dict[str, Any]:
    stream = STREAM_TYPES.get(front.codec.frames, STREAM_TYPES[FrameKind.SSE]).partition(";")[0]
    whole = ("application/json",)
    streamed = (*(whole if front.arrays else ()), stream)
    kinds = {None: (*whole, stream), True: streamed, False: whole}[endpoint.stream]
    return {
        "200": _answer("The answer, whole or streamed.", *kinds),
        "default": _answer("An error, in the shape of this API.", "application/json"),
    }


def _answer(summary: str, *kinds: str) -> dict[str, Any]:
    shapes = {kind: {"schema": OBJECT} if kinds == ("application/json",) else {} for kind in kinds}
    return {"description": summary, "content": shapes}
