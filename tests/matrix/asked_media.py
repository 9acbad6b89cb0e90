"""Rows of requests: images, files, sound, film, and what of them is to be kept for the next request.

Knows how APIs write them; runs nothing.
"""

from __future__ import annotations

import base64
from typing import Any

from .asked_talk import ASK, PNG, SCHEMA, SDK, URL
from .table import A, B, C, G, H, L, R, Row, X, either_of, has, like

PDF = base64.b64encode(b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n").decode()
PDF_URL = "data:application/pdf;base64," + PDF
NOTES = "KEEP-THIS-LINE"
NOTES_B64 = base64.b64encode(NOTES.encode()).decode()
WAV = base64.b64encode(b"RIFF$\x00\x00\x00WAVEfmt ").decode()
FILM = base64.b64encode(b"\x00\x00\x00\x18ftypmp42").decode()
FILM_AT: dict[str, Any] = {"messages[0].content[type=video_url].video_url.url": has(FILM)}
"""As OpenRouter and vLLM take it; OpenAI refuses it aloud."""
FAR = "https://example.org/a.png"
FAR_PDF = "https://example.org/a.pdf"
SEE: dict[str, Any] = {"type": "text", "text": "see"}


def chat(*parts: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [SEE, *parts]}]}


def responses(*parts: Any) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": "see"}, *parts]}]}


def gemini(*parts: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "see"}, *parts]}]}


def image_c(url: str, **more: Any) -> Any:
    return {"type": "image_url", "image_url": {"url": url, **more}}


def image_a(**source: Any) -> Any:
    return {"type": "image", "source": source}


def document(source: Any, **more: Any) -> Any:
    return {"type": "document", "source": source, **more}


def file_c(**file: Any) -> Any:
    return {"type": "file", "file": file}


IN_CHAT, IN_RESP, IN_ANT, IN_GEM, IN_BED = "messages[0].content[type=image_url].image_url", "input[0].content[type=input_image]", "messages[0].content[type=image].source", "contents[0].parts[1]", "messages[0].content[1]"
FILE_C, FILE_R, DOC = "messages[0].content[type=file].file", "input[0].content[type=input_file]", "messages[0].content[type=document]"
PDF_A: dict[str, Any] = {"type": "base64", "media_type": "application/pdf", "data": PDF}
PDF_AT: dict[str, Any] = {C: {f"{FILE_C}.file_data": PDF_URL}, R: {f"{FILE_R}.file_data": PDF_URL}, A: {f"{DOC}.source": PDF_A}, G: {f"{IN_GEM}.inlineData": {"mimeType": "application/pdf", "data": PDF}},
          B: {f"{IN_BED}.document.source.bytes": PDF, f"{IN_BED}.document.format": "pdf"}, X: {f"{FILE_C}.file_data": PDF_URL}}
TEXT_IN: dict[str, Any] = {b: {"contents" if b == G else "input" if b == R else "messages": has(NOTES)} for b in (C, R, A, G, L, B, H, X)}
EITHER_IN: dict[str, Any] = {b: {place: either_of(NOTES, NOTES_B64) for place in one} for b, one in TEXT_IN.items()}
MARK: dict[str, Any] = {"type": "ephemeral"}
HOUR: dict[str, Any] = {"type": "ephemeral", "ttl": "1h"}
EXPLICIT: dict[str, Any] = {"messages[0].content[0].prompt_cache_breakpoint.mode": "explicit"}


def marked(mark: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{**SEE, "cache_control": mark}]}]}


ROWS: tuple[Row, ...] = (
    Row(name="an image", source=SDK, said={C: chat(image_c(URL)), R: responses({"type": "input_image", "image_url": URL}), A: chat(image_a(type="base64", media_type="image/png", data=PNG)),
        G: gemini({"inlineData": {"mimeType": "image/png", "data": PNG}}), L: {"messages": [{"role": "user", "content": "see", "images": [PNG]}]}},
        stands={C: {f"{IN_CHAT}.url": URL}, R: {f"{IN_RESP}.image_url": URL}, A: {f"{IN_ANT}.data": PNG, f"{IN_ANT}.media_type": "image/png"}, G: {f"{IN_GEM}.inlineData.data": PNG},
                L: {"messages[0].images": [PNG]}, B: {f"{IN_BED}.image.source.bytes": PNG, f"{IN_BED}.image.format": "png"}, H: {f"{IN_CHAT}.url": URL}, X: {f"{IN_CHAT}.url": URL}}),
    Row(name="an image elsewhere", source="image URLs of OpenAI, Anthropic, Cohere, fileData of Gemini; Ollama and Bedrock take bytes",
        said={C: chat(image_c(FAR)), R: responses({"type": "input_image", "image_url": FAR}), A: chat(image_a(type="url", url=FAR)), G: gemini({"fileData": {"fileUri": FAR, "mimeType": "image/png"}})},
        stands={C: {f"{IN_CHAT}.url": FAR}, R: {f"{IN_RESP}.image_url": FAR}, A: {f"{IN_ANT}.url": FAR}, G: {f"{IN_GEM}.fileData.fileUri": FAR}, H: {f"{IN_CHAT}.url": FAR}, X: {f"{IN_CHAT}.url": FAR}},
        words=("messages[0]",)),
    Row(name="little detail of an image", source="detail of OpenAI and Cohere's ImageUrl; PartMediaResolution of Gemini 3", models={G: "gemini-3-flash-preview"},
        said={C: chat(image_c(URL, detail="low")), R: responses({"type": "input_image", "image_url": URL, "detail": "low"}),
              G: gemini({"inlineData": {"mimeType": "image/png", "data": PNG}, "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}})},
        stands={C: {f"{IN_CHAT}.detail": "low"}, R: {f"{IN_RESP}.detail": "low"}, H: {f"{IN_CHAT}.detail": "low"}, X: {f"{IN_CHAT}.detail": "low"}},
        near={G: {f"{IN_GEM}.mediaResolution.level": "MEDIA_RESOLUTION_LOW"}}, words=("detail", "mediaResolution", "messages[0]")),
    Row(name="a PDF", source="file of chat, input_file, document of Anthropic and Bedrock, inlineData", said={R: responses({"type": "input_file", "file_data": PDF_URL}), A: chat(document(PDF_A)),
        G: gemini({"inlineData": {"mimeType": "application/pdf", "data": PDF}})}, stands=PDF_AT, words=("messages[0]",)),
    Row(name="a PDF with a name", source="filename of OpenAI, title of Anthropic; Bedrock's name takes letters, digits and spaces; Gemini's displayName only elsewhere",
        said={C: chat(file_c(filename="report.pdf", file_data=PDF_URL)), R: responses({"type": "input_file", "filename": "report.pdf", "file_data": PDF_URL}), A: chat(document(PDF_A, title="report.pdf"))},
        stands={C: {**PDF_AT[C], f"{FILE_C}.filename": "report.pdf"}, R: {**PDF_AT[R], f"{FILE_R}.filename": "report.pdf"}, A: {**PDF_AT[A], f"{DOC}.title": "report.pdf"}, X: {**PDF_AT[X], f"{FILE_C}.filename": "report.pdf"}},
        near={G: PDF_AT[G], B: {**PDF_AT[B], f"{IN_BED}.document.name": like(r"[A-Za-z0-9 ()\[\]-]+")}}, words=("messages[0]",)),
    Row(name="a document of text", source="PlainTextSource of Anthropic; elsewhere its text is text", said={A: chat(document({"type": "text", "media_type": "text/plain", "data": NOTES}, title="notes.txt"))}, near=EITHER_IN),
    Row(name="a file of text", source="file_data and inlineData of text/plain: text or bytes of it",
        said={C: chat(file_c(filename="notes.txt", file_data="data:text/plain;base64," + NOTES_B64)), R: responses({"type": "input_file", "filename": "notes.txt", "file_data": "data:text/plain;base64," + NOTES_B64}),
              G: gemini({"inlineData": {"mimeType": "text/plain", "data": NOTES_B64}})},
        near=EITHER_IN),
    Row(name="a file elsewhere", source="file_url of Responses, url of Anthropic, fileData; OpenRouter's file_data takes an address", said={R: responses({"type": "input_file", "file_url": FAR_PDF}), A: chat(document({"type": "url", "url": FAR_PDF})),
        G: gemini({"fileData": {"fileUri": FAR_PDF, "mimeType": "application/pdf"}})},
        stands={R: {f"{FILE_R}.file_url": FAR_PDF}, A: {f"{DOC}.source.url": FAR_PDF}, G: {f"{IN_GEM}.fileData.fileUri": FAR_PDF}}, either={X: {f"{FILE_C}.file_data": FAR_PDF}}, words=("messages[0]",)),
    Row(name="a file kept by OpenAI", source="file_id of chat and Responses", said={C: chat(file_c(file_id="file-7")), R: responses({"type": "input_file", "file_id": "file-7"})},
        stands={C: {f"{FILE_C}.file_id": "file-7"}, R: {f"{FILE_R}.file_id": "file-7"}}, either={X: {f"{FILE_C}.file_id": "file-7"}}, words=("messages[0]", "file_id")),
    Row(name="an image kept by OpenAI", source="file_id of input_image", said={R: responses({"type": "input_image", "file_id": "file-8", "detail": "auto"})}, stands={R: {f"{IN_RESP}.file_id": "file-8"}}, words=("messages[0]", "file_id")),
    Row(name="a file kept by Anthropic", source="FileDocumentSource", said={A: chat(document({"type": "file", "file_id": "file_9"}))}, stands={A: {f"{DOC}.source.file_id": "file_9"}}, words=("messages[0]", "file_id")),
    Row(name="a sound", source="input_audio of chat and Responses, inlineData, AudioBlock of Bedrock", said={C: chat({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}),
        R: responses({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}), G: gemini({"inlineData": {"mimeType": "audio/wav", "data": WAV}})},
        stands={C: {"messages[0].content[type=input_audio].input_audio": {"data": WAV, "format": "wav"}}, R: {"input[0].content[type=input_audio].input_audio": {"data": WAV, "format": "wav"}}, G: {f"{IN_GEM}.inlineData.data": WAV},
                X: {"messages[0].content[type=input_audio].input_audio.data": WAV}}, either={B: {f"{IN_BED}.audio.source.bytes": WAV}}, words=("messages[0]",)),
    Row(name="a film", source="inlineData of Gemini, VideoBlock of Bedrock, video_url of OpenRouter", said={G: gemini({"inlineData": {"mimeType": "video/mp4", "data": FILM}})},
        stands={G: {f"{IN_GEM}.inlineData.data": FILM}}, either={B: {f"{IN_BED}.video.source.bytes": FILM}, X: FILM_AT, C: FILM_AT}, words=("messages[0]",)),
    Row(name="a part of a film", source="VideoMetadata", said={G: gemini({"fileData": {"fileUri": "https://example.org/v.mp4", "mimeType": "video/mp4"}, "videoMetadata": {"startOffset": "3s"}})},
        stands={G: {f"{IN_GEM}.videoMetadata.startOffset": "3s"}}, words=("messages[0]",)),
    Row(name="blocks in a document", source="ContentBlockSource", said={A: chat(document({"type": "content", "content": [{"type": "text", "text": NOTES}]}))}, stands={A: TEXT_IN[A]}, either={b: TEXT_IN[b] for b in TEXT_IN if b != A}, words=("messages[0]",)),
    Row(name="citations of a document", source="CitationsConfig of Anthropic and Bedrock", said={A: chat(document(PDF_A, citations={"enabled": True}))}, stands={A: {f"{DOC}.citations.enabled": True}},
        either={B: {f"{IN_BED}.document.citations.enabled": True}}, words=("messages[0]", "citations")),
    Row(name="a found page", source="SearchResultBlock of Anthropic and Bedrock; elsewhere its text", said={A: chat({"type": "search_result", "source": "https://example.org", "title": "T", "content": [{"type": "text", "text": NOTES}]})},
        stands={A: TEXT_IN[A]}, either={b: TEXT_IN[b] for b in TEXT_IN if b != A}, words=("messages[0]",)),
    Row(name="a mark after the instructions", source="cache_control of Anthropic and OpenRouter, CachePointBlock; prompt_cache_breakpoint of OpenAI's newest models",
        said={A: {"system": [{"type": "text", "text": "SYS", "cache_control": MARK}]}, C: {"messages": [{"role": "system", "content": [{"type": "text", "text": "SYS", "cache_control": MARK}]}, ASK]}},
        stands={A: {"system[0].cache_control": MARK}, B: {"system[1].cachePoint": {"type": "default"}}, X: {"messages[0].content[0].cache_control": MARK}},
        either={C: {"messages[0].content[0].cache_control": MARK}, R: EXPLICIT}, words=("cache",)),
    Row(name="a mark for an hour", source="ttl 5m|1h of Anthropic, OpenRouter and CacheTTL of Bedrock", said={A: {"system": [{"type": "text", "text": "SYS", "cache_control": HOUR}]}},
        stands={A: {"system[0].cache_control": HOUR}, B: {"system[1].cachePoint": {"type": "default", "ttl": "1h"}}, X: {"messages[0].content[0].cache_control": HOUR}}, words=("cache",)),
    Row(name="a mark in a turn", source="as after the instructions", said={A: marked(MARK), C: marked(MARK)},
        stands={A: {"messages[0].content[0].cache_control": MARK}, B: {"messages[0].content[1].cachePoint.type": "default"}, X: {"messages[0].content[0].cache_control": MARK}}, either={C: {"messages[0].content[0].cache_control": MARK}}, words=("cache",)),
    Row(name="a mark after the tools", source="cache_control of ToolParam, cachePoint in Bedrock's tools", said={A: {"tools": [{"name": "weather", "input_schema": SCHEMA, "cache_control": MARK}]}},
        stands={A: {"tools[0].cache_control": MARK}, B: {"toolConfig.tools[1].cachePoint.type": "default"}}, either={X: {"tools[0].cache_control": MARK}}, words=("cache",)),
    Row(name="a mark where it fits", source="cache_control of MessageCreateParams; OpenRouter takes it there too", said={A: {"cache_control": MARK}}, stands={A: {"cache_control": MARK}},
        either={X: {"cache_control": MARK}, B: {"messages": has("cachePoint")}}, words=("cache",)),
    Row(name="a breakpoint of OpenAI", source="prompt_cache_breakpoint of ResponseInputText", said={R: {"input": [{"role": "user", "content": [{"type": "input_text", "text": "see", "prompt_cache_breakpoint": {"mode": "explicit"}}]}]}},
        stands={R: {"input[0].content[0].prompt_cache_breakpoint.mode": "explicit"}}, either={A: {"messages[0].content[0].cache_control.type": "ephemeral"}, B: {"messages[0].content[1].cachePoint.type": "default"},
                X: {"messages[0].content[0].cache_control.type": "ephemeral"}, C: EXPLICIT}, words=("cache", "messages[0]")),
)  # fmt: skip
