"""Rows of answers: what a backend says, and where it must stand in what each front's client reads.

Knows how APIs write them; runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import backends as back
from .asked_media import WAV
from .asked_talk import PNG, URL
from .table import FRONTS, A, B, C, G, H, L, Places, R, X, has, one_of, written


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """One thing that answers hold.

    given: backend → its whole answer.  stands: front → where a client must find it, nothing told; near: in other words;
    either: there, or told.  A front in none of these has no place for it: told by one of `words`.
    """

    name: str
    source: str
    given: Mapping[str, back.Body]
    stands: Mapping[str, Places] = field(default_factory=dict)
    near: Mapping[str, Places] = field(default_factory=dict)
    either: Mapping[str, Places] = field(default_factory=dict)
    words: tuple[str, ...] = ()


SDK = "answer types of openai 3.54, anthropic 2.12, google-genai 3.4, ollama 0.6.3, botocore 1.44.5, cohere 7.3"
TEXT_C, TEXT_R, TEXT_A, TEXT_G, TEXT_O = "choices[0].message.content", "output[type=message].content[0].text", "content[type=text].text", "candidates[0].content.parts[-1].text", "message.content"
ID, NAME, GIVEN = "call_7", "weather", {"city": "Oslo"}
CALL: dict[str, Any] = {"id": ID, "type": "function", "function": {"name": NAME, "arguments": '{"city": "Oslo"}'}}


def spoken(text: str) -> dict[str, back.Body]:
    """A text of each backend."""
    return {
        C: back.chat({"content": text}), R: back.responses(back.message(text)), A: back.messages({"type": "text", "text": text}), G: back.gemini({"text": text}),
        L: back.ollama({"content": text}), B: back.converse({"text": text}), H: back.cohere({"content": [{"type": "text", "text": text}]}), X: back.chat({"content": text}),
    }  # fmt: skip


def text_at(text: str) -> dict[str, Places]:
    return {C: {TEXT_C: text}, R: {TEXT_R: text}, A: {TEXT_A: text}, G: {TEXT_G: text}, L: {TEXT_O: text}}


def tool_call(name: str, call: str = ID) -> dict[str, Any]:
    return {**CALL, "id": call, "function": {"name": name, "arguments": '{"city": "Oslo"}'}}


def calling(*names: str, text: str = "") -> dict[str, back.Body]:
    """Calls of each backend, after a text or none."""
    ids = [f"call_{n}" for n in range(1, len(names) + 1)]
    before_c = {"content": text} if text else {}
    pairs = list(zip(names, ids, strict=True))
    chat = [tool_call(*pair) for pair in pairs]
    items = [{"id": f"fc_{i}", "type": "function_call", "call_id": i, "name": n, "arguments": '{"city": "Oslo"}', "status": "completed"} for n, i in pairs]
    return {
        C: back.chat({**before_c, "tool_calls": chat}, "tool_calls"), X: back.chat({**before_c, "tool_calls": chat}, "tool_calls"),
        R: back.responses(*([back.message(text)] if text else []), *items),
        A: back.messages(*([{"type": "text", "text": text}] if text else []), *({"type": "tool_use", "id": i, "name": n, "input": GIVEN} for n, i in pairs), stop="tool_use"),
        G: back.gemini(*([{"text": text}] if text else []), *({"functionCall": {"id": i, "name": n, "args": GIVEN}} for n, i in pairs)),
        L: back.ollama({**before_c, "tool_calls": [{"id": i, "function": {"index": k, "name": n, "arguments": GIVEN}} for k, (n, i) in enumerate(pairs)]}),
        B: back.converse(*([{"text": text}] if text else []), *({"toolUse": {"toolUseId": i, "name": n, "input": GIVEN}} for n, i in pairs), stop="tool_use"),
        H: back.cohere({**({"content": [{"type": "text", "text": text}]} if text else {}), "tool_calls": chat}, "TOOL_CALL"),
    }  # fmt: skip


def calls_at(*names: str) -> dict[str, Places]:
    """Where each front's client finds the calls, in order."""
    return {
        C: {f"choices[0].message.tool_calls[{k}].function.name": n for k, n in enumerate(names)} | {"choices[0].message.tool_calls[-1].function.arguments": written(GIVEN), "choices[0].finish_reason": "tool_calls"},
        R: {f"output[{k - len(names)}].name": n for k, n in enumerate(names)} | {"output[-1].arguments": written(GIVEN), "output[-1].type": "function_call"},
        A: {f"content[{k - len(names)}].name": n for k, n in enumerate(names)} | {"content[-1].input": GIVEN, "stop_reason": "tool_use"},
        G: {f"candidates[0].content.parts[{k - len(names)}].functionCall.name": n for k, n in enumerate(names)} | {"candidates[0].content.parts[-1].functionCall.args": GIVEN},
        L: {f"message.tool_calls[{k}].function.name": n for k, n in enumerate(names)} | {"message.tool_calls[-1].function.arguments": GIVEN},
    }


def merged(one: Mapping[str, Places], other: Mapping[str, Places]) -> dict[str, Places]:
    return {front: {**one[front], **other[front]} for front in one}


THOUGHT = "THINKING-IT-OVER"
SIGNED: dict[str, Any] = {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmF0dXJl"}
SAID: dict[str, Any] = {"type": "text", "text": "HELLO"}
REASONED: dict[str, Any] = {
    C: back.chat({"reasoning_content": THOUGHT, "content": "HELLO"}), X: back.chat({"reasoning": THOUGHT, "content": "HELLO"}),
    R: back.responses({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]}, back.message("HELLO")),
    A: back.messages(SIGNED, SAID), G: back.gemini({"text": THOUGHT, "thought": True}, {"text": "HELLO"}), L: back.ollama({"thinking": THOUGHT, "content": "HELLO"}),
    B: back.converse({"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "c2lnbmF0dXJl"}}}, {"text": "HELLO"}),
    H: back.cohere({"content": [{"type": "thinking", "thinking": THOUGHT}, SAID]}),
}  # fmt: skip
REASONED_AT: dict[str, Any] = {
    C: {"choices[0].message.reasoning_content|choices[0].message.reasoning": THOUGHT, TEXT_C: "HELLO"},
    R: {"output[type=reasoning].summary[0].text|output[type=reasoning].content[0].text": THOUGHT, TEXT_R: "HELLO"}, A: {"content[type=thinking].thinking": THOUGHT, TEXT_A: "HELLO"},
    G: {"candidates[0].content.parts[0].text": THOUGHT, "candidates[0].content.parts[0].thought": True, "candidates[0].content.parts[-1].text": "HELLO"}, L: {"message.thinking": THOUGHT, TEXT_O: "HELLO"},
}  # fmt: skip
STOPS_AT: dict[str, Any] = {C: {"choices[0].finish_reason": "length"}, R: {"status": "incomplete", "incomplete_details.reason": "max_output_tokens"}, A: {"stop_reason": "max_tokens"}, G: {"candidates[0].finishReason": "MAX_TOKENS"}, L: {"done_reason": "length"}}
INCOMPLETE: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
CUT: dict[str, Any] = {
    C: back.chat({"content": "HEL"}, "length"), X: back.chat({"content": "HEL"}, "length"), R: back.responses(back.message("HEL"), **INCOMPLETE), A: back.messages({"type": "text", "text": "HEL"}, stop="max_tokens"),
    G: back.gemini({"text": "HEL"}, finish="MAX_TOKENS"), L: back.ollama({"content": "HEL"}, "length"), B: back.converse({"text": "HEL"}, stop="max_tokens"),
    H: back.cohere({"content": [{"type": "text", "text": "HEL"}]}, "MAX_TOKENS"),
}  # fmt: skip
FILTERED: dict[str, Any] = {
    C: back.chat({"content": "HEL"}, "content_filter"), X: back.chat({"content": "HEL"}, "content_filter"), R: back.responses(back.message("HEL"), status="incomplete", incomplete_details={"reason": "content_filter"}),
    A: back.messages({"type": "text", "text": "HEL"}, stop="refusal"), G: back.gemini({"text": "HEL"}, finish="SAFETY"), B: back.converse({"text": "HEL"}, stop="content_filtered"),
}  # fmt: skip
FILTERED_AT: dict[str, Any] = {C: {"choices[0].finish_reason": "content_filter"}, R: {"incomplete_details.reason": "content_filter"}, A: {"stop_reason": "refusal"}, G: {"candidates[0].finishReason": one_of("SAFETY", "PROHIBITED_CONTENT", "OTHER")}}
NO = "I-WILL-NOT"
REFUSAL_PART: dict[str, Any] = {**back.message(""), "content": [{"type": "refusal", "refusal": NO}]}
USED_AT: dict[str, Any] = {
    C: {"usage.prompt_tokens": 11, "usage.completion_tokens": 7, "usage.total_tokens": 18}, R: {"usage.input_tokens": 11, "usage.output_tokens": 7, "usage.total_tokens": 18}, A: {"usage.input_tokens": 11, "usage.output_tokens": 7},
    G: {"usageMetadata.promptTokenCount": 11, "usageMetadata.candidatesTokenCount": 7, "usageMetadata.totalTokenCount": 18}, L: {"prompt_eval_count": 11, "eval_count": 7},
}  # fmt: skip
OF_C: dict[str, Any] = {"prompt_tokens": 1110, "completion_tokens": 70, "total_tokens": 1180}
CACHED: dict[str, Any] = {
    C: back.chat({"content": "HELLO"}, usage={**OF_C, "prompt_tokens_details": {"cached_tokens": 1000}}), X: back.chat({"content": "HELLO"}, usage={**OF_C, "prompt_tokens_details": {"cached_tokens": 1000}}),
    R: back.responses(back.message("HELLO"), usage={"input_tokens": 1110, "output_tokens": 70, "total_tokens": 1180, "input_tokens_details": {"cached_tokens": 1000}, "output_tokens_details": {"reasoning_tokens": 0}}),
    A: back.messages(SAID, usage={"input_tokens": 110, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 0, "output_tokens": 70}),
    G: back.gemini({"text": "HELLO"}, usage={"promptTokenCount": 1110, "cachedContentTokenCount": 1000, "candidatesTokenCount": 70, "totalTokenCount": 1180}),
    B: back.converse({"text": "HELLO"}, usage={"inputTokens": 110, "cacheReadInputTokens": 1000, "cacheWriteInputTokens": 0, "outputTokens": 70, "totalTokens": 1180}),
}  # fmt: skip
CACHED_AT: dict[str, Any] = {
    C: {"usage.prompt_tokens": 1110, "usage.prompt_tokens_details.cached_tokens": 1000}, R: {"usage.input_tokens": 1110, "usage.input_tokens_details.cached_tokens": 1000},
    A: {"usage.input_tokens": 110, "usage.cache_read_input_tokens": 1000}, G: {"usageMetadata.promptTokenCount": 1110, "usageMetadata.cachedContentTokenCount": 1000},
}  # fmt: skip
KEPT: dict[str, Any] = {
    C: back.chat({"content": "HELLO"}, usage={**OF_C, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 900}}), X: back.chat({"content": "HELLO"}, usage={**OF_C, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 900}}),
    A: back.messages(SAID, usage={"input_tokens": 210, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 900, "output_tokens": 70}),
    B: back.converse({"text": "HELLO"}, usage={"inputTokens": 210, "cacheReadInputTokens": 0, "cacheWriteInputTokens": 900, "outputTokens": 70, "totalTokens": 1180}),
}  # fmt: skip
KEPT_AT: dict[str, Any] = {C: {"usage.prompt_tokens": 1110, "usage.prompt_tokens_details.cache_write_tokens": 900}, R: {"usage.input_tokens": 1110, "usage.input_tokens_details.cache_write_tokens": 900}, A: {"usage.input_tokens": 210, "usage.cache_creation_input_tokens": 900}}
PONDERED: dict[str, Any] = {
    C: back.chat({"content": "HELLO"}, usage={"prompt_tokens": 11, "completion_tokens": 70, "total_tokens": 81, "completion_tokens_details": {"reasoning_tokens": 50}}),
    X: back.chat({"content": "HELLO"}, usage={"prompt_tokens": 11, "completion_tokens": 70, "total_tokens": 81, "completion_tokens_details": {"reasoning_tokens": 50}}),
    R: back.responses(back.message("HELLO"), usage={"input_tokens": 11, "output_tokens": 70, "total_tokens": 81, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 50}}),
    A: back.messages(SAID, usage={"output_tokens": 70, "output_tokens_details": {"thinking_tokens": 50}}),
    G: back.gemini({"text": "HELLO"}, usage={"promptTokenCount": 11, "candidatesTokenCount": 20, "thoughtsTokenCount": 50, "totalTokenCount": 81}),
}  # fmt: skip
PONDERED_AT: dict[str, Any] = {
    C: {"usage.completion_tokens": 70, "usage.completion_tokens_details.reasoning_tokens": 50, "usage.total_tokens": 81}, R: {"usage.output_tokens": 70, "usage.output_tokens_details.reasoning_tokens": 50},
    A: {"usage.output_tokens": 70, "usage.output_tokens_details.thinking_tokens": 50}, G: {"usageMetadata.thoughtsTokenCount": 50, "usageMetadata.candidatesTokenCount": 20, "usageMetadata.totalTokenCount": 81},
}  # fmt: skip
XAI = back.chat({"content": "HELLO"}, usage={"prompt_tokens": 362, "completion_tokens": 28, "total_tokens": 651, "completion_tokens_details": {"reasoning_tokens": 261}})
PAGE, PAGE_TITLE, CITED = "https://example.org/a", "A page", "Hé cited."
URL_C: dict[str, Any] = {"type": "url_citation", "url_citation": {"url": PAGE, "title": PAGE_TITLE, "start_index": 3, "end_index": 9}}
CITING: dict[str, Any] = {
    C: back.chat({"content": CITED, "annotations": [URL_C]}), X: back.chat({"content": CITED, "annotations": [URL_C]}), R: back.responses(back.message(CITED, annotations=[{"type": "url_citation", **URL_C["url_citation"]}])),
    A: back.messages({"type": "text", "text": CITED, "citations": [{"type": "web_search_result_location", "url": PAGE, "title": PAGE_TITLE, "cited_text": "c", "encrypted_index": "e"}]}),
    G: back.gemini({"text": CITED}, groundingMetadata={"groundingChunks": [{"web": {"uri": PAGE, "title": PAGE_TITLE}}], "groundingSupports": [{"segment": {"startIndex": 4, "endIndex": 10, "text": "cited."}, "groundingChunkIndices": [0]}]}),
}  # fmt: skip
CITING_AT: dict[str, Any] = {
    C: {"choices[0].message.annotations[0].url_citation.url": PAGE, "choices[0].message.annotations[0].url_citation.title": PAGE_TITLE}, R: {"output[type=message].content[0].annotations[0].url": PAGE, "output[type=message].content[0].annotations[0].type": "url_citation"},
    A: {"content": has(PAGE), "content[-1].citations[0].type|content[0].citations[0].type|content[1].citations[0].type": "web_search_result_location"}, G: {"candidates[0].groundingMetadata.groundingChunks[0].web.uri": PAGE},
}  # fmt: skip
EXACT_AT: dict[str, Any] = {C: {**CITING_AT[C], "choices[0].message.annotations[0].url_citation.start_index": 3, "choices[0].message.annotations[0].url_citation.end_index": 9},
            R: {**CITING_AT[R], "output[type=message].content[0].annotations[0].start_index": 3, "output[type=message].content[0].annotations[0].end_index": 9}, A: CITING_AT[A],
            G: {**CITING_AT[G], "candidates[0].groundingMetadata.groundingSupports[0].segment.startIndex": 4, "candidates[0].groundingMetadata.groundingSupports[0].segment.endIndex": 10}}  # fmt: skip
TOKEN: dict[str, Any] = {"token": "HELLO", "logprob": -0.25, "bytes": [72, 69, 76, 76, 79], "top_logprobs": [{"token": "HELLO", "logprob": -0.25, "bytes": [72, 69, 76, 76, 79]}]}
LIKELY: dict[str, Any] = {
    C: back.chat({"content": "HELLO"}, choice={"logprobs": {"content": [TOKEN], "refusal": None}}), X: back.chat({"content": "HELLO"}, choice={"logprobs": {"content": [TOKEN], "refusal": None}}),
    R: back.responses(back.message("HELLO", logprobs=[TOKEN])),
    G: back.gemini({"text": "HELLO"}, logprobsResult={"chosenCandidates": [{"token": "HELLO", "logProbability": -0.25, "tokenId": 7}], "topCandidates": [{"candidates": [{"token": "HELLO", "logProbability": -0.25, "tokenId": 7}]}]}, avgLogprobs=-0.25),
    L: back.ollama({"content": "HELLO"}, logprobs=[TOKEN]), H: back.cohere({"content": [SAID]}, logprobs=[{"text": "HELLO", "token_ids": [7], "logprobs": [-0.25]}]),
}  # fmt: skip
LIKELY_AT: dict[str, Any] = {
    C: {"choices[0].logprobs.content[0].token": "HELLO", "choices[0].logprobs.content[0].logprob": -0.25}, R: {"output[type=message].content[0].logprobs[0].token": "HELLO", "output[type=message].content[0].logprobs[0].logprob": -0.25},
    G: {"candidates[0].logprobsResult.chosenCandidates[0].token": "HELLO", "candidates[0].logprobsResult.chosenCandidates[0].logProbability": -0.25}, L: {"logprobs[0].token": "HELLO", "logprobs[0].logprob": -0.25},
}  # fmt: skip
PAINTED: dict[str, Any] = {
    G: back.gemini({"text": "HELLO"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}), X: back.chat({"content": "HELLO", "images": [{"type": "image_url", "image_url": {"url": URL}}]}),
    R: back.responses({"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": PNG, "output_format": "png"}, back.message("HELLO")),
}  # fmt: skip
SOUND: dict[str, Any] = {"id": "audio_1", "data": WAV, "transcript": "HELLO", "expires_at": 9}
TIERED: dict[str, Any] = {
    C: back.chat({"content": "HELLO"}, service_tier="priority"), X: back.chat({"content": "HELLO"}, service_tier="priority"), R: back.responses(back.message("HELLO"), service_tier="priority"), A: back.messages(SAID, usage={"service_tier": "priority"}),
    B: back.converse({"text": "HELLO"}, serviceTier={"type": "priority"}), G: back.gemini({"text": "HELLO"}, usage={"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18, "serviceTier": "priority"}),
}  # fmt: skip
SEARCHED: dict[str, Any] = {
    A: back.messages({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "QUERY"}}, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
                     "content": [{"type": "web_search_result", "url": PAGE, "title": PAGE_TITLE, "encrypted_content": "e", "page_age": None}]}, SAID),
    R: back.responses({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "QUERY", "queries": ["QUERY"], "sources": [{"type": "url", "url": PAGE}]}}, back.message("HELLO")),
    G: back.gemini({"text": "HELLO"}, groundingMetadata={"webSearchQueries": ["QUERY"], "groundingChunks": [{"web": {"uri": PAGE, "title": PAGE_TITLE}}]}),
}  # fmt: skip
SEARCHED_AT: dict[str, Any] = {A: {"content[type=server_tool_use].input.query": "QUERY"}, R: {"output[type=web_search_call].action": has("QUERY")}, G: {"candidates[0].groundingMetadata.webSearchQueries": ["QUERY"]}}
RAN: dict[str, Any] = {
    A: back.messages({"type": "server_tool_use", "id": "srvtoolu_2", "name": "bash_code_execution", "input": {"command": "RUN-ME"}},
                     {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_2", "content": {"type": "bash_code_execution_result", "stdout": "4", "stderr": "", "return_code": 0, "content": []}}, SAID),
    R: back.responses({"id": "ci_1", "type": "code_interpreter_call", "status": "completed", "code": "RUN-ME", "container_id": "cntr_1", "outputs": None}, back.message("HELLO")),
    G: back.gemini({"executableCode": {"language": "PYTHON", "code": "RUN-ME"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4"}}, {"text": "HELLO"}),
}  # fmt: skip
TWICE_C: dict[str, Any] = {**back.chat({"content": "HELLO"}), "choices": [*back.chat({"content": "HELLO"})["choices"], {"index": 1, "finish_reason": "stop", "message": {"role": "assistant", "content": "SECOND"}}]}
TWICE_G: dict[str, Any] = {**back.gemini({"text": "HELLO"}), "candidates": [*back.gemini({"text": "HELLO"})["candidates"], {"index": 1, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "SECOND"}]}}]}
NOVEL: dict[str, Any] = {
    C: back.chat({"content": "HELLO"}, novelty="NEW-7"), X: back.chat({"content": "HELLO"}, novelty="NEW-7"), R: back.responses(back.message("HELLO"), novelty="NEW-7"), A: back.messages(SAID, novelty="NEW-7"),
    G: back.gemini({"text": "HELLO"}, top={"novelty": "NEW-7"}),
}  # fmt: skip
NEWS: dict[str, Any] = {front: {"novelty": "NEW-7"} for front in FRONTS}
HELLO_AT = text_at("HELLO")

ROWS: tuple[AnswerRow, ...] = (
    AnswerRow(name="a text", source=SDK, given=spoken("HELLO"), stands=HELLO_AT),
    AnswerRow(name="thoughts before a text", source=SDK, given=REASONED, stands=REASONED_AT),
    AnswerRow(name="a call", source=SDK, given=calling("weather"), stands=calls_at("weather")),
    AnswerRow(name="two calls", source=SDK, given=calling("weather", "time"), stands=calls_at("weather", "time")),
    AnswerRow(name="a call after a text", source=SDK, given=calling("weather", text="I LOOK."), stands=calls_at("weather"), near={}),
    AnswerRow(name="an answer cut short", source=SDK, given=CUT, stands=merged(STOPS_AT, text_at("HEL"))),
    AnswerRow(name="an answer that was filtered", source="content_filter, refusal of Anthropic, SAFETY, content_filtered; Ollama has no word", given=FILTERED, near=FILTERED_AT, either={L: {"done_reason": "content_filter"}}, words=("stop", "finish")),
    AnswerRow(name="a refusal", source="refusal of chat's message and of Responses' content; elsewhere the text, and refusal as Anthropic's reason", given={C: back.chat({"refusal": NO}), X: back.chat({"refusal": NO}), R: back.responses(REFUSAL_PART)},
              stands={C: {"choices[0].message.refusal": NO}, R: {"output[type=message].content[type=refusal].refusal": NO}}, near={A: {TEXT_A: NO, "stop_reason": "refusal"}, G: {"candidates[0].content.parts": has(NO)}, L: {TEXT_O: NO}}),
    AnswerRow(name="why it refused", source="stop_details of Anthropic; OpenAI has a text for a refusal, but none for why", given={A: back.messages(stop="refusal", stop_details={"type": "refusal", "category": "bio", "explanation": NO})}, stands={A: {"stop_details.explanation": NO, "stop_details.category": "bio"}},
              either={C: {"choices[0].message.refusal": has(NO)}, R: {"output": has(NO)}, G: {"candidates[0]": has(NO)}, L: {TEXT_O: has(NO)}}, words=("stop_details",)),
    AnswerRow(name="where it stopped", source="stop_sequence of Anthropic; others say only that it did", given={A: {**back.messages(SAID, stop="stop_sequence"), "stop_sequence": "END"}}, stands={A: {"stop_reason": "stop_sequence", "stop_sequence": "END"}}, words=("stop_sequence",)),
    AnswerRow(name="tokens", source=SDK, given=spoken("HELLO"), stands=USED_AT),
    AnswerRow(name="tokens from a cache", source="cached_tokens of OpenAI, cache_read_input_tokens besides input_tokens, cachedContentTokenCount; Ollama counts all as read", given=CACHED, stands=CACHED_AT, near={L: {"prompt_eval_count": 1110}}),
    AnswerRow(name="tokens into a cache", source="cache_write_tokens of OpenAI and OpenRouter, cache_creation_input_tokens, cacheWriteInputTokens; Gemini and Ollama count all as read", given=KEPT, stands=KEPT_AT, near={G: {"usageMetadata.promptTokenCount": 1110}, L: {"prompt_eval_count": 1110}}),
    AnswerRow(name="tokens of thought", source="reasoning_tokens within the output, thinking_tokens, thoughtsTokenCount besides candidatesTokenCount", given=PONDERED, stands=PONDERED_AT, near={L: {"eval_count": 70}}),
    AnswerRow(name="tokens of thought counted apart", source="xAI: total = prompt + completion + reasoning (thinking.md 3)", given={C: XAI, X: XAI}, stands={C: {"usage.total_tokens": 651, "usage.completion_tokens_details.reasoning_tokens": 261}},
              near={R: {"usage.output_tokens": 289, "usage.total_tokens": 651}, A: {"usage.output_tokens": 289}, G: {"usageMetadata.candidatesTokenCount": 28, "usageMetadata.thoughtsTokenCount": 261, "usageMetadata.totalTokenCount": 651}, L: {"eval_count": 289}}),
    AnswerRow(name="a citation of a page", source="annotations of OpenAI, web_search_result_location, groundingChunks", given={b: CITING[b] for b in (A,)}, stands=CITING_AT, words=("citation", "annotation")),
    AnswerRow(name="a citation of some words", source="start and end in characters at OpenAI, in bytes at Gemini", given={b: CITING[b] for b in (C, X, R, G)}, stands={f: EXACT_AT[f] for f in (C, R, G)}, near={A: EXACT_AT[A]}, words=("citation", "annotation", "grounding")),
    AnswerRow(name="log probabilities", source="logprobs of chat, Responses, Ollama; logprobsResult; LogprobItem of Cohere", given=LIKELY, stands=LIKELY_AT, words=("logprobs",)),
    AnswerRow(name="an image", source="inlineData, images of OpenRouter, image_generation_call", given=PAINTED, near={C: {"choices[0].message.images[0].image_url.url": URL, TEXT_C: "HELLO"}, G: {"candidates[0].content.parts": has(PNG)}, R: {"output[type=image_generation_call].result": PNG}},
              either={A: {"content": has(PNG)}, L: {"message.images": [PNG]}}, words=("image", "media", "parts", "output")),
    AnswerRow(name="a sound", source="audio of chat, inlineData of Gemini", given={C: back.chat({"content": None, "audio": SOUND})}, stands={C: {"choices[0].message.audio.data": WAV, "choices[0].message.audio.transcript": "HELLO"}},
              near={G: {"candidates[0].content.parts": has(WAV)}}, words=("audio", "media", "parts")),
    AnswerRow(name="a sound of Gemini", source="inlineData of Gemini; audio of chat", given={G: back.gemini({"inlineData": {"mimeType": "audio/wav", "data": WAV}})}, stands={G: {"candidates[0].content.parts[0].inlineData.data": WAV}}, near={C: {"choices[0].message.audio.data": WAV}}, words=("audio", "media", "parts")),
    AnswerRow(name="how it was served", source="service_tier of OpenAI, of Anthropic's usage, serviceTier of Bedrock", given=TIERED, near={C: {"service_tier": "priority"}, R: {"service_tier": "priority"}, A: {"usage.service_tier": "priority"}}, either={G: {"usageMetadata.serviceTier": one_of("priority", "PRIORITY")}}, words=("service_tier", "serviceTier")),
    AnswerRow(name="a fingerprint", source="system_fingerprint of chat", given={C: back.chat({"content": "HELLO"}, system_fingerprint="fp_7"), X: back.chat({"content": "HELLO"}, system_fingerprint="fp_7")}, stands={C: {"system_fingerprint": "fp_7"}}, words=("system_fingerprint",)),
    AnswerRow(name="a search", source="server_tool_use, web_search_call, webSearchQueries", given=SEARCHED, stands={A: SEARCHED_AT[A]}, near={R: SEARCHED_AT[R], G: SEARCHED_AT[G]}, words=("search", "server_tool", "grounding", "output", "parts")),
    AnswerRow(name="code that was run", source="bash_code_execution, code_interpreter_call, executableCode", given=RAN, either={f: {p: has("RUN-ME")} for f, p in ((A, "content"), (R, "output"), (G, "candidates[0].content.parts"))}, words=("code", "server_tool", "output", "parts", "executableCode")),
    AnswerRow(name="a second answer", source="n of chat, candidates of Gemini", given={C: TWICE_C, G: TWICE_G}, stands={C: {"choices[1].message.content": "SECOND", TEXT_C: "HELLO"}, G: {"candidates[1].content.parts[0].text": "SECOND"}}, words=("choices", "candidates")),
    AnswerRow(name="a pause", source="pause_turn of Anthropic", given={A: back.messages(SAID, stop="pause_turn")}, stands={A: {"stop_reason": "pause_turn"}}, words=("pause_turn", "stop")),
    AnswerRow(name="a container", source="container of Anthropic's answer", given={A: back.messages(SAID, container={"id": "container_7", "expires_at": "2026-11-22T00:00:00Z"})}, stands={A: {"container.id": "container_7"}}, words=("container",)),
    AnswerRow(name="ratings of safety", source="safetyRatings of Gemini", given={G: back.gemini({"text": "HELLO"}, safetyRatings=[{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}])}, stands={G: {"candidates[0].safetyRatings[0].probability": "LOW"}}, words=("safetyRatings",)),
    AnswerRow(name="a plan before calls", source="tool_plan of Cohere: thoughts or text elsewhere", given={H: back.cohere({"tool_plan": "PLANNING", "tool_calls": [CALL]}, "TOOL_CALL")},
              near={C: {"choices[0].message": has("PLANNING")}, R: {"output": has("PLANNING")}, A: {"content": has("PLANNING")}, G: {"candidates[0].content": has("PLANNING")}, L: {"message": has("PLANNING")}}),
    AnswerRow(name="a field nobody knows", source="unknown fields pass on their own wire, and are told elsewhere", given=NOVEL, either=NEWS, words=("novelty",)),
)  # fmt: skip
