"""What the models of the scenes answer, what must reach each, and what a client must show of it.

Knows the words of five APIs and of a model that has no tools; knows no client and no gateway.  Contract: `answers` are
whole bodies of the API, `sent` paths of the last request upstream with what must stand there, `first` of the
first, `named` of the last where the client can name a file, `pairs` paths at which the same id must stand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PDF = "JVBERi0xLjQKJSVFT0YK"
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = "https://pictures.test/cat.png"
NOTES, NOTES_DATA = "Alpha\nBeta\n", "QWxwaGEKQmV0YQo="
SITE, TITLE = "https://weather.test/oslo", "Weather in Oslo"
THOUGHT, CITED = "I look.", "Rain is expected in Oslo."
FORM = {"city": "Oslo", "temperature": 21}
BOTH = "Oslo: rain. Paris: sun."
AGAIN = "What is my name?"
HELLO, ADA, CAT, RAINS = "Hello Ada.", "You are Ada.", "A cat.", "It rains in Oslo."
OSLO, PARIS = {"city": "Oslo"}, {"city": "Paris"}
Body = dict[str, Any]
Wishes = Mapping[str, Any]

GOT: Mapping[str, Body] = {
    "think": {"thinking": THOUGHT, "ran": ["Oslo"], "text": RAINS},
    "image": {"text": CAT},
    "image by address": {"text": CAT},
    "pdf": {"text": CAT},
    "text file": {"text": CAT},
    "citations": {"text": CITED, "citations": [[SITE, TITLE]]},
    "state": {"first": HELLO, "text": ADA},
    "conversation": {"first": HELLO, "text": ADA, "kept": 4},
    "structured": {"parsed": FORM},
    "tools": {"ran": ["Oslo", "Paris"], "text": BOTH},
}
"""Scene → what the SDK must show."""
_MOST = tuple(scene for scene in GOT if scene != "conversation")
PLAYS: Mapping[str, tuple[str, ...]] = {
    "openai chat": _MOST,
    "openai responses": tuple(GOT),
    "anthropic": _MOST,
    "google": _MOST,
    "ollama": ("think", "image", "citations", "state", "structured", "tools"),
}
"""Front → the scenes that its SDK has words for."""
UNSAID: Mapping[tuple[str, str], Body] = {("ollama", "citations"): {"text": CITED}}
"""Front and scene → the same, where its API has no words for all of it."""
UNNAMED = frozenset({"google"})
"""Fronts whose SDKs send files without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A model, its provider, and its part in each scene it plays."""

    provider: str
    model: str
    models: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    answers: Mapping[str, Sequence[Body]]
    sent: Mapping[str, Wishes]
    first: Mapping[str, Wishes] = field(default_factory=dict)
    named: Mapping[str, Wishes] = field(default_factory=dict)
    pairs: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)


def _parts(say: Any, call: Any, cite: Any) -> dict[str, list[Body]]:
    """The answers of each scene, from an API's ways to say, to call (with a thought), and to cite."""
    talk = [say(HELLO), say(ADA)]
    return {
        "think": [call([("call_1", OSLO)], THOUGHT), say(RAINS)],
        **{scene: [say(CAT)] for scene in ("image", "image by address", "pdf", "text file")},
        "citations": [cite()],
        "state": talk,
        "conversation": talk,
        "structured": [say(json.dumps(FORM))],
        "tools": [call([("call_1", OSLO), ("call_2", PARIS)], ""), say(BOTH)],
    }


# ── chat completions ─────────────────────────────────────────────────────────


def _chat(message: Body, finish: str = "stop") -> Body:
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
        "usage": usage,
    }  # fmt: skip


def _chat_call(calls: Sequence[tuple[str, Body]], thought: str) -> Body:
    detail = {"type": "reasoning.text", "text": thought, "signature": "U0lH", "format": "anthropic-claude-v1"}
    made = [
        {"id": id_, "type": "function", "function": {"name": "weather", "arguments": json.dumps(given)}}
        for id_, given in calls
    ]
    reasoning = {"reasoning": thought, "reasoning_details": [detail]} if thought else {}
    return _chat({**reasoning, "tool_calls": made}, "tool_calls")


def _result(text: str) -> Body:
    """The result of a call: as it was, or in the object that the client's API wraps it in."""
    wrapped = [{"output": text}, {"result": text}, {"name": "weather", "content": text}]
    return {"$in": [text, *(json.dumps(one, separators=(",", ":")) for one in wrapped)]}


def _chat_result(text: str) -> Body:
    return {"$like": {"role": "tool", "content": _result(text)}}


_CHAT_NOTES = {"type": "file", "file": {"filename": "notes.txt", "file_data": f"data:text/plain;base64,{NOTES_DATA}"}}
_INLINED = [
    {"type": "text", "text": f"<document{title}>\n{NOTES}\n</document>"} for title in ("", ' title="notes.txt"')
]


def _chat_cite() -> Body:
    note = {"url": SITE, "title": TITLE, "start_index": 0, "end_index": len(CITED)}
    return _chat({"content": CITED, "annotations": [{"type": "url_citation", "url_citation": note}]})


CHAT = Backend(
    provider="openai",
    model="gpt-4.1",
    models={"think": ("openrouter", "anthropic/claude-sonnet-4.5")},
    answers=_parts(lambda text: _chat({"content": text}), _chat_call, _chat_cite),
    sent={
        "think": {
            "messages[1].reasoning_details[0].signature": "U0lH",
            "messages[2]": _chat_result("rain"),
        },
        "image": {"messages[0].content[1].image_url.url": f"data:image/png;base64,{IMAGE}"},
        "image by address": {"messages[0].content[1].image_url.url": PICTURE},
        "pdf": {"messages[0].content[1].file.file_data": f"data:application/pdf;base64,{PDF}"},
        "text file": {"messages[0].content[1]": {"$in": [_CHAT_NOTES, *_INLINED]}},
        "state": {"messages[1].content": HELLO, "messages[2]": {"role": "user", "content": AGAIN}},
        "structured": {"response_format.json_schema.schema.properties.city.type": "string"},
        "tools": {"messages[2]": _chat_result("rain"), "messages[3]": _chat_result("sun")},
    },
    named={"pdf": {"messages[0].content[1].file.filename": "notes.pdf"}},
    pairs={
        "think": [("messages[1].tool_calls[0].id", "messages[2].tool_call_id")],
        "tools": [(f"messages[1].tool_calls[{n}].id", f"messages[{n + 2}].tool_call_id") for n in (0, 1)],
    },
)  # fmt: skip

# ── responses ────────────────────────────────────────────────────────────────


def _respond(*output: Body) -> Body:
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 30,
    }  # fmt: skip
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5.1",
        "output": list(output), "usage": usage, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def _respond_say(text: str, *notes: Body) -> Body:
    part = {"type": "output_text", "text": text, "annotations": list(notes)}
    id_ = f"msg_{len(text)}"
    return _respond({"type": "message", "id": id_, "role": "assistant", "status": "completed", "content": [part]})


def _respond_call(calls: Sequence[tuple[str, Body]], thought: str) -> Body:
    summary = [{"type": "summary_text", "text": thought}]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAAAENC"}
    made = [
        {
            "type": "function_call", "id": f"fc_{id_[-1]}", "call_id": id_, "name": "weather",
            "arguments": json.dumps(given), "status": "completed",
        }
        for id_, given in calls
    ]  # fmt: skip
    return _respond(*([item] if thought else []), *made)


def _respond_cite() -> Body:
    note = {"type": "url_citation", "url": SITE, "title": TITLE, "start_index": 0, "end_index": len(CITED)}
    return _respond_say(CITED, note)


def _item(**wish: Any) -> Body:
    return {"input": {"$contains": {"$like": wish}}}


_RESPONSES_NOTES = [
    {"type": "input_file", "filename": "notes.txt", "file_data": f"data:text/plain;base64,{NOTES_DATA}"},
    *({**one, "type": "input_text"} for one in _INLINED),
]
RESPONSES = Backend(
    provider="openai-responses",
    model="gpt-5.1",
    answers=_parts(_respond_say, _respond_call, _respond_cite),
    first={"think": {"reasoning.effort": {"$in": ["low", "medium"]}}},
    sent={
        "think": {
            "input[1].encrypted_content": "gAAAAENC",
            "input[2].type": "function_call",
            "input[3].output": _result("rain"),
        },
        "image": {"input[0].content[1].image_url": f"data:image/png;base64,{IMAGE}"},
        "image by address": {"input[0].content[1].image_url": PICTURE},
        "pdf": {"input[0].content[1].file_data": f"data:application/pdf;base64,{PDF}"},
        "text file": {"input[0].content[1]": {"$in": _RESPONSES_NOTES}},
        "state": _item(role="user", content=AGAIN),
        "conversation": _item(role="user", content=AGAIN),
        "structured": {"text.format.schema.properties.city.type": "string"},
        "tools": _item(type="function_call_output", output=_result("sun")),
    },
    named={"pdf": {"input[0].content[1].filename": "notes.pdf"}},
    pairs={"think": [("input[2].call_id", "input[3].call_id")]},
)  # fmt: skip

# ── Anthropic messages ───────────────────────────────────────────────────────


def _message(*content: Body, stop: str = "end_turn") -> Body:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": list(content),
        "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 20},
    }  # fmt: skip


def _message_call(calls: Sequence[tuple[str, Body]], thought: str) -> Body:
    thinking = [{"type": "thinking", "thinking": thought, "signature": "ErcBSIG+/=="}] if thought else []
    made = [{"type": "tool_use", "id": f"toolu_01{id_[-1]}", "name": "weather", "input": given} for id_, given in calls]
    return _message(*thinking, *made, stop="tool_use")


def _message_cite() -> Body:
    note = {
        "type": "web_search_result_location", "url": SITE, "title": TITLE, "cited_text": "Rain all day.",
        "encrypted_index": "RU5D",
    }  # fmt: skip
    return _message({"type": "text", "text": CITED, "citations": [note]})


def _shown(**wish: Any) -> Body:
    return {f"messages[0].content[1].source.{key}": value for key, value in wish.items()}


ANTHROPIC = Backend(
    provider="anthropic",
    model="claude-sonnet-4-5",
    answers=_parts(lambda text: _message({"type": "text", "text": text}), _message_call, _message_cite),
    first={"think": {"thinking.type": "enabled"}},
    sent={
        "think": {
            "messages[1].content[0]": {"type": "thinking", "thinking": THOUGHT, "signature": "ErcBSIG+/=="},
            "messages[2].content[0].content": _result("rain"),
        },
        "image": _shown(type="base64", media_type="image/png", data=IMAGE),
        "image by address": _shown(type="url", url=PICTURE),
        "pdf": _shown(type="base64", media_type="application/pdf", data=PDF),
        "text file": _shown(type="text", media_type="text/plain", data=NOTES),
        "state": {"messages[1].content": {"$in": [HELLO, [{"type": "text", "text": HELLO}]]}},
        "structured": {"output_config.format.schema.properties.city.type": "string"},
        "tools": {
            "messages[2].content[0].content": _result("rain"),
            "messages[2].content[1].content": _result("sun"),
        },
    },
    named={
        "pdf": {"messages[0].content[1].title": "notes.pdf"},
        "text file": {"messages[0].content[1].title": "notes.txt"},
    },
    pairs={
        "think": [("messages[1].content[1].id", "messages[2].content[0].tool_use_id")],
        "tools": [(f"messages[1].content[{n}].id", f"messages[2].content[{n}].tool_use_id") for n in (0, 1)],
    },
)

# ── Gemini ───────────────────────────────────────────────────────────────────


def _gemini(*parts: Body, **more: Any) -> Body:
    content = {"role": "model", "parts": list(parts)}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0, **more}], "usageMetadata": usage}


def _gemini_call(calls: Sequence[tuple[str, Body]], thought: str) -> Body:
    parts: list[Body] = [{"functionCall": {"name": "weather", "args": given, "id": id_}} for id_, given in calls]
    parts[0]["thoughtSignature"] = "R0VNSU5JU0lH"
    return _gemini(*([{"text": thought, "thought": True}] if thought else []), *parts)


def _gemini_cite() -> Body:
    support = {"segment": {"startIndex": 0, "endIndex": len(CITED), "text": CITED}, "groundingChunkIndices": [0]}
    grounding = {"groundingChunks": [{"web": {"uri": SITE, "title": TITLE}}], "groundingSupports": [support]}
    return _gemini({"text": CITED}, groundingMetadata=grounding)


def _answered(place: str, text: str) -> Body:
    wrapped = [{"output": text}, {"result": text}, {"name": "weather", "content": text}]
    return {f"{place}.functionResponse.response": {"$in": wrapped}}


GEMINI = Backend(
    provider="gemini",
    model="gemini-3-pro-preview",
    answers=_parts(lambda text: _gemini({"text": text}), _gemini_call, _gemini_cite),
    first={"think": {"generationConfig.thinkingConfig.includeThoughts": True}},
    sent={
        "think": {
            "contents[1].parts": {"$contains": {"$like": {"thoughtSignature": "R0VNSU5JU0lH"}}},
            **_answered("contents[2].parts[0]", "rain"),
        },
        "image": {"contents[0].parts[1].inlineData": {"mimeType": "image/png", "data": IMAGE}},
        "image by address": {"contents[0].parts[1].fileData.fileUri": PICTURE},
        "pdf": {"contents[0].parts[1].inlineData": {"mimeType": "application/pdf", "data": PDF}},
        "text file": {"contents[0].parts[1].inlineData": {"mimeType": "text/plain", "data": NOTES_DATA}},
        "state": {"contents[1].parts[0].text": HELLO},
        "structured": {
            "generationConfig": {
                "$like": {"responseMimeType": "application/json"},
            }
        },
        "tools": {
            "contents[1].parts[0].thoughtSignature": "R0VNSU5JU0lH",
            **_answered("contents[2].parts[0]", "rain"),
            **_answered("contents[2].parts[1]", "sun"),
        },
    },
)

# ── Ollama ───────────────────────────────────────────────────────────────────


def _ollama(message: Body) -> Body:
    return {
        "model": "m", "created_at": "2026-11-22T00:00:00Z", "message": {"role": "assistant", "content": "", **message},
        "done": True, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 20,
    }  # fmt: skip


def _ollama_call(calls: Sequence[tuple[str, Body]], thought: str) -> Body:
    made = [{"id": id_, "function": {"name": "weather", "arguments": given}} for id_, given in calls]
    return _ollama({**({"thinking": thought} if thought else {}), "tool_calls": made})


OLLAMA = Backend(
    provider="ollama",
    model="qwen3-vl:8b",
    answers={
        scene: answers
        for scene, answers in _parts(lambda text: _ollama({"content": text}), _ollama_call, dict).items()
        if scene != "citations"
    },
    first={"think": {"think": {"$in": [True, "low"]}}},
    sent={
        "think": {"messages[1].thinking": THOUGHT, "messages[2].content": _result("rain")},
        "image": {"messages[0].images[0]": IMAGE},
        "image by address": {"messages[0].content": {"$contains": "image"}},
        "pdf": {"messages[0].content": {"$contains": "application/pdf"}},
        "text file": {"messages[0].content": {"$contains": "Alpha\nBeta"}},
        "state": {"messages[1].content": HELLO},
        "structured": {"format.properties.city.type": "string"},
        "tools": {
            "messages[2].content": _result("rain"),
            "messages[3].content": _result("sun"),
            "messages[2].tool_name": "weather",
        },
    },
    named={
        "pdf": {"messages[0].content": {"$contains": "notes.pdf"}},
        "text file": {"messages[0].content": {"$contains": "notes.txt"}},
    },
)

# ── a model without tools ────────────────────────────────────────────────────


def _text_call(calls: Sequence[tuple[str, Body]], _thought: str) -> Body:
    made = [json.dumps({"name": "weather", "arguments": given}) for _id, given in calls]
    return _chat({"content": "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in made)})


TEXT = Backend(
    provider="",
    model="weak",
    answers={
        **{
            scene: answers
            for scene, answers in _parts(lambda text: _chat({"content": text}), _text_call, dict).items()
            if scene in {"state", "conversation", "tools"}
        },
        "structured": [_chat({"content": f"Here it is:\n\n```json\n{json.dumps(FORM)}\n```\n"})],
    },
    sent={
        "state": {"messages[1].content": HELLO},
        "structured": {"response_format.json_schema.schema.properties.city.type": "string"},
        "tools": {"messages": {"$contains": {"$like": {"role": "user", "content": {"$contains": "rain"}}}}},
    },
)

BACKENDS: Mapping[str, Backend] = {
    "chat": CHAT,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "ollama": OLLAMA,
    "text": TEXT,
}
