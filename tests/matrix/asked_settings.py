"""Rows of requests: sampling, limits, who asks, how it is served, how the answer is to look.

Knows how APIs write them; runs nothing.
"""

from __future__ import annotations

from typing import Any

from .asked_talk import SCHEMA, SDK
from .table import A, B, C, G, H, L, R, Row, X, has, holding, none_or, one_of

SAMPLING = "sampling parameters of the SDK types; Responses has temperature and top_p only, Bedrock no top_k, seed or penalties (additionalModelRequestFields for Claude's top_k)"
OPENROUTER = "openrouter.ai/docs/api-reference/parameters"


def genconf(**more: Any) -> dict[str, Any]:
    return {"generationConfig": more}


def options(**more: Any) -> dict[str, Any]:
    return {"options": more}


def same(value: Any, *names: tuple[str, str]) -> dict[str, dict[str, Any]]:
    return {backend: {path: value} for backend, path in names}


JSON_SCHEMA: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
CITY = "properties.city.type"
TIER = "service_tier of OpenAI and Anthropic (auto|standard_only), ServiceTier of google-genai and botocore"

ROWS: tuple[Row, ...] = (
    Row(name="temperature", source=SAMPLING, said={C: {"temperature": 0.3}, R: {"temperature": 0.3}, A: {"temperature": 0.3}, G: genconf(temperature=0.3), L: options(temperature=0.3)},
        stands=same(0.3, (C, "temperature"), (R, "temperature"), (A, "temperature"), (G, "generationConfig.temperature"), (L, "options.temperature"), (B, "inferenceConfig.temperature"), (H, "temperature"), (X, "temperature"))),
    Row(name="top_p", source=SAMPLING, said={C: {"top_p": 0.4}, R: {"top_p": 0.4}, A: {"top_p": 0.4}, G: genconf(topP=0.4), L: options(top_p=0.4)},
        stands=same(0.4, (C, "top_p"), (R, "top_p"), (A, "top_p"), (G, "generationConfig.topP"), (L, "options.top_p"), (B, "inferenceConfig.topP"), (H, "p"), (X, "top_p"))),
    Row(name="top_k", source=SAMPLING + "; " + OPENROUTER, said={A: {"top_k": 40}, G: genconf(topK=40), L: options(top_k=40)},
        stands=same(40, (A, "top_k"), (G, "generationConfig.topK"), (L, "options.top_k"), (H, "k"), (X, "top_k"), (B, "additionalModelRequestFields.top_k")), words=("top_k", "topK")),
    Row(name="seed", source=SAMPLING, said={C: {"seed": 7}, G: genconf(seed=7), L: options(seed=7)},
        stands=same(7, (C, "seed"), (G, "generationConfig.seed"), (L, "options.seed"), (H, "seed"), (X, "seed")), words=("seed",)),
    Row(name="a sequence to stop at", source=SAMPLING, said={C: {"stop": "END"}, A: {"stop_sequences": ["END"]}, G: genconf(stopSequences=["END"]), L: options(stop=["END"])},
        stands={C: {"stop": one_of(["END"], "END")}, X: {"stop": one_of(["END"], "END")}, **same(["END"], (A, "stop_sequences"), (G, "generationConfig.stopSequences"), (L, "options.stop"),
                (B, "inferenceConfig.stopSequences"), (H, "stop_sequences"))}, words=("stop",)),
    Row(name="a limit of tokens", source=SDK, said={C: {"max_completion_tokens": 77}, R: {"max_output_tokens": 77}, A: {"max_tokens": 77}, G: genconf(maxOutputTokens=77), L: options(num_predict=77)},
        stands=same(77, (C, "max_completion_tokens|max_tokens"), (R, "max_output_tokens"), (A, "max_tokens"), (G, "generationConfig.maxOutputTokens"), (L, "options.num_predict"), (B, "inferenceConfig.maxTokens"),
                    (H, "max_tokens"), (X, "max_tokens|max_completion_tokens"))),
    Row(name="the older limit of tokens", source="max_tokens of chat", said={C: {"max_tokens": 78}},
        stands=same(78, (C, "max_completion_tokens|max_tokens"), (R, "max_output_tokens"), (A, "max_tokens"), (G, "generationConfig.maxOutputTokens"), (L, "options.num_predict"), (B, "inferenceConfig.maxTokens"),
                    (H, "max_tokens"), (X, "max_tokens|max_completion_tokens"))),
    Row(name="presence penalty", source=SAMPLING, said={C: {"presence_penalty": 0.5}, G: genconf(presencePenalty=0.5), L: options(presence_penalty=0.5)},
        stands=same(0.5, (C, "presence_penalty"), (G, "generationConfig.presencePenalty"), (L, "options.presence_penalty"), (H, "presence_penalty"), (X, "presence_penalty")), words=("presence",)),
    Row(name="frequency penalty", source=SAMPLING, said={C: {"frequency_penalty": 0.6}, G: genconf(frequencyPenalty=0.6), L: options(frequency_penalty=0.6)},
        stands=same(0.6, (C, "frequency_penalty"), (G, "generationConfig.frequencyPenalty"), (L, "options.frequency_penalty"), (H, "frequency_penalty"), (X, "frequency_penalty")), words=("frequency",)),
    Row(name="biased tokens", source="logit_bias of chat", said={C: {"logit_bias": {"50256": -100}}}, stands=same({"50256": -100}, (C, "logit_bias"), (X, "logit_bias")), words=("logit_bias",)),
    Row(name="log probabilities", source="logprobs+top_logprobs of chat and ollama 0.6, top_logprobs+include of Responses, responseLogprobs+logprobs of Gemini; Cohere's logprobs is a flag",
        said={C: {"logprobs": True, "top_logprobs": 3}, R: {"top_logprobs": 3, "include": ["message.output_text.logprobs"]}, G: genconf(responseLogprobs=True, logprobs=3), L: {"logprobs": True, "top_logprobs": 3}},
        stands={C: {"logprobs": True, "top_logprobs": 3}, R: {"top_logprobs": 3, "include": holding("message.output_text.logprobs")}, G: {"generationConfig.responseLogprobs": True, "generationConfig.logprobs": 3},
                L: {"logprobs": True, "top_logprobs": 3}, X: {"logprobs": True, "top_logprobs": 3}}, weaker={H: {"logprobs": True}}, words=("logprobs",)),
    Row(name="log probabilities of the chosen tokens", source="as above, without alternatives",
        said={C: {"logprobs": True}, R: {"include": ["message.output_text.logprobs"]}, G: genconf(responseLogprobs=True), L: {"logprobs": True}},
        stands={C: {"logprobs": True}, R: {"include": holding("message.output_text.logprobs")}, G: {"generationConfig.responseLogprobs": True}, L: {"logprobs": True}, H: {"logprobs": True}, X: {"logprobs": True}}, words=("ogprobs", "include")),
    Row(name="two answers", source="n of chat, candidateCount", said={C: {"n": 2}, G: genconf(candidateCount=2)}, stands={C: {"n": 2}, X: {"n": 2}, G: {"generationConfig.candidateCount": 2}},
        words=("n", "candidateCount"), models={G: "gemini-2.0-flash"}),
    Row(name="who asks", source="user of OpenAI and OpenRouter, metadata.user_id", said={C: {"user": "user-7"}, R: {"user": "user-7"}, A: {"metadata": {"user_id": "user-7"}}},
        stands={C: {"user|safety_identifier": "user-7"}, R: {"user|safety_identifier": "user-7"}, A: {"metadata.user_id": "user-7"}, X: {"user": "user-7"}}, words=("user",)),
    Row(name="whom to hold responsible", source="safety_identifier of OpenAI", said={C: {"safety_identifier": "s-7"}, R: {"safety_identifier": "s-7"}},
        stands=same("s-7", (C, "safety_identifier"), (R, "safety_identifier")), either={A: {"metadata.user_id": "s-7"}, X: {"safety_identifier|user": "s-7"}}, words=("safety_identifier",)),
    Row(name="labels of a request", source="metadata of OpenAI, on chat with store alone; requestMetadata of Bedrock; labels of Vertex", said={C: {"metadata": {"run": "7"}}, R: {"metadata": {"run": "7"}}},
        stands=same({"run": "7"}, (R, "metadata")), either={C: {"metadata": {"run": "7"}}, X: {"metadata": {"run": "7"}}, B: {"requestMetadata": {"run": "7"}}, G: {"labels": {"run": "7"}}}, words=("metadata",)),
    Row(name="keep the answer", source="store of OpenAI", said={C: {"store": True}, R: {"store": True}}, stands=same(True, (C, "store"), (R, "store")), either={X: {"store": True}, G: {"store": True}}, words=("store",)),
    Row(name="keep no answer", source="store of OpenAI; what has no store keeps none", said={C: {"store": False}, R: {"store": False}}, stands=same(False, (R, "store")),
        near={b: {"store": none_or(False)} for b in (C, A, G, L, B, H, X)}, words=("store",)),
    Row(name="served cheaply", source=TIER, said={C: {"service_tier": "flex"}, R: {"service_tier": "flex"}, G: {"serviceTier": "flex"}},
        stands={**same("flex", (C, "service_tier"), (R, "service_tier"), (X, "service_tier"), (B, "serviceTier.type")), G: {"serviceTier": one_of("flex", "FLEX")}}, words=("service_tier", "serviceTier")),
    Row(name="served first", source=TIER, said={C: {"service_tier": "priority"}, R: {"service_tier": "priority"}, G: {"serviceTier": "priority"}},
        stands={**same("priority", (C, "service_tier"), (R, "service_tier"), (X, "service_tier"), (B, "serviceTier.type")), G: {"serviceTier": one_of("priority", "PRIORITY")}},
        either={A: {"service_tier": "auto"}}, words=("service_tier", "serviceTier")),
    Row(name="served as usual", source=TIER, said={C: {"service_tier": "default"}, R: {"service_tier": "default"}, A: {"service_tier": "standard_only"}, G: {"serviceTier": "standard"}},
        stands={**same("default", (C, "service_tier"), (R, "service_tier"), (B, "serviceTier.type")), A: {"service_tier": "standard_only"}, G: {"serviceTier": one_of("standard", "STANDARD")}},
        either={X: {"service_tier": "default"}}, words=("service_tier", "serviceTier")),
    Row(name="few words", source="verbosity of chat and OpenRouter, text.verbosity of Responses", said={C: {"verbosity": "low"}, R: {"text": {"verbosity": "low"}}}, models={C: "gpt-5.1", R: "gpt-5.1"},
        stands=same("low", (C, "verbosity"), (R, "text.verbosity"), (X, "verbosity")), words=("verbosity",)),
    Row(name="key of the prompt's cache", source="prompt_cache_key of OpenAI", said={C: {"prompt_cache_key": "k-9"}, R: {"prompt_cache_key": "k-9"}},
        stands=same("k-9", (C, "prompt_cache_key"), (R, "prompt_cache_key")), either={X: {"prompt_cache_key": "k-9"}}, words=("prompt_cache_key",)),
    Row(name="life of the prompt's cache", source="prompt_cache_retention of OpenAI", said={C: {"prompt_cache_retention": "24h"}, R: {"prompt_cache_retention": "24h"}},
        stands=same("24h", (C, "prompt_cache_retention"), (R, "prompt_cache_retention")), either={X: {"prompt_cache_retention": "24h"}}, words=("prompt_cache_retention",)),
    Row(name="options of the prompt's cache", source="prompt_cache_options of OpenAI", said={C: {"prompt_cache_options": {"mode": "explicit"}}, R: {"prompt_cache_options": {"mode": "explicit"}}},
        stands=same({"mode": "explicit"}, (C, "prompt_cache_options"), (R, "prompt_cache_options")), either={X: {"prompt_cache_options.mode": "explicit"}}, words=("prompt_cache_options",)),
    Row(name="what will be said", source="prediction of chat", said={C: {"prediction": {"type": "content", "content": "abc"}}}, stands={C: {"prediction.content": "abc"}}, either={X: {"prediction.content": "abc"}}, words=("prediction",)),
    Row(name="spoken answers", source="modalities and audio of chat, responseModalities and speechConfig", said={C: {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}, G: genconf(responseModalities=["AUDIO"])},
        models={C: "gpt-audio"}, either={C: {"modalities": holding("audio")}, X: {"modalities": holding("audio")}, G: {"generationConfig.responseModalities": has("AUDIO")}}, words=("modalities", "audio", "responseModalities")),
    Row(name="painted answers", source="responseModalities of Gemini; modalities of OpenRouter", said={G: genconf(responseModalities=["TEXT", "IMAGE"])}, models={G: "gemini-2.5-flash-image"},
        stands={G: {"generationConfig.responseModalities": ["TEXT", "IMAGE"]}}, either={X: {"modalities": holding("image")}, C: {"modalities": holding("image")}, R: {"tools": has("image_generation")}}, words=("responseModalities", "modalities")),
    Row(name="moderation", source="moderation of OpenAI", said={C: {"moderation": {"model": "omni-moderation-latest"}}, R: {"moderation": {"model": "omni-moderation-latest"}}},
        either={b: {"moderation.model": "omni-moderation-latest"} for b in (C, R, X)}, words=("moderation",)),
    Row(name="an answer by a schema", source="response_format, text.format, output_config.format, responseJsonSchema, format of Ollama, OutputConfig.textFormat, json_schema of Cohere", reply="json",
        said={C: {"response_format": JSON_SCHEMA}, R: {"text": {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA, "strict": True}}}, A: {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
              G: genconf(responseMimeType="application/json", responseJsonSchema=SCHEMA), L: {"format": SCHEMA}},
        stands=same("string", (C, f"response_format.json_schema.schema.{CITY}"), (R, f"text.format.schema.{CITY}"), (A, f"output_config.format.schema.{CITY}"), (L, f"format.{CITY}"),
                    (H, f"response_format.json_schema.{CITY}|response_format.schema.{CITY}"), (X, f"response_format.json_schema.schema.{CITY}"))
        | {G: {"generationConfig.responseMimeType": "application/json", f"generationConfig.responseJsonSchema.{CITY}|generationConfig.responseSchema.{CITY}": one_of("string", "STRING")},
           B: {"outputConfig.textFormat.structure.jsonSchema.schema": has("city")}}, words=("schema", "format")),
    Row(name="any JSON", source="json_object of OpenAI and Cohere, responseMimeType, format json of Ollama; words elsewhere", reply="json",
        said={C: {"response_format": {"type": "json_object"}}, R: {"text": {"format": {"type": "json_object"}}}, G: genconf(responseMimeType="application/json"), L: {"format": "json"}},
        stands=same("json_object", (C, "response_format.type"), (R, "text.format.type"), (H, "response_format.type"), (X, "response_format.type")) | {G: {"generationConfig.responseMimeType": "application/json"}, L: {"format": "json"}},
        near={A: {"system": has("JSON")}, B: {"system": has("JSON")}}, words=("json", "format", "schema")),
    Row(name="one of some words", source="text/x.enum of Gemini; elsewhere a schema of an enum", reply="enum",
        said={G: genconf(responseMimeType="text/x.enum", responseSchema={"type": "STRING", "enum": ["red", "blue"]})},
        stands={G: {"generationConfig.responseMimeType": "text/x.enum", "generationConfig.responseSchema.enum|generationConfig.responseJsonSchema.enum": ["red", "blue"]}},
        near={C: {"response_format": has("\"red\"")}, R: {"text.format": has("\"red\"")}, A: {"output_config.format": has("\"red\"")}, L: {"format": has("\"red\"")}, B: {"outputConfig": has("red")},
              H: {"response_format": has("\"red\"")}, X: {"response_format": has("\"red\"")}}, words=("schema",)),
    Row(name="a size of the context", source="num_ctx of Ollama", said={L: options(num_ctx=4096)}, stands=same(4096, (L, "options.num_ctx")), words=("num_ctx",)),
    Row(name="min_p", source="min_p of Ollama; " + OPENROUTER, said={L: options(min_p=0.05)}, stands=same(0.05, (L, "options.min_p")), either=same(0.05, (X, "min_p")), words=("min_p",)),
    Row(name="repeat penalty", source="repeat_penalty of Ollama; repetition_penalty of OpenRouter", said={L: options(repeat_penalty=1.2)}, stands=same(1.2, (L, "options.repeat_penalty")), either=same(1.2, (X, "repetition_penalty")), words=("repeat_penalty",)),
    Row(name="mirostat", source="mirostat of Ollama", said={L: options(mirostat=1)}, stands=same(1, (L, "options.mirostat")), words=("mirostat",)),
    Row(name="how long a model stays", source="keep_alive of Ollama", said={L: {"keep_alive": "10m"}}, stands=same("10m", (L, "keep_alive")), words=("keep_alive",)),
    Row(name="what is safe", source="safetySettings of Gemini", said={G: {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]}}, stands={G: {"safetySettings[0].threshold": "BLOCK_NONE"}}, words=("safetySettings",)),
    Row(name="a kept context", source="cachedContent of Gemini", said={G: {"cachedContent": "cachedContents/7"}}, stands=same("cachedContents/7", (G, "cachedContent")), words=("cachedContent",)),
    Row(name="detail of all media", source="mediaResolution of GenerationConfig", said={G: genconf(mediaResolution="MEDIA_RESOLUTION_LOW")}, stands=same("MEDIA_RESOLUTION_LOW", (G, "generationConfig.mediaResolution")), words=("mediaResolution",)),
    Row(name="a voice", source="speechConfig of Gemini", said={G: genconf(speechConfig={"languageCode": "en-GB"})}, stands=same({"languageCode": "en-GB"}, (G, "generationConfig.speechConfig")), words=("speechConfig",)),
    Row(name="labels of a bill", source="labels of Vertex", said={G: {"labels": {"team": "a"}}}, stands=same({"team": "a"}, (G, "labels")), either={B: {"requestMetadata": {"team": "a"}}, C: {"metadata": {"team": "a"}}, R: {"metadata": {"team": "a"}}, X: {"metadata": {"team": "a"}}}, words=("labels",)),
    Row(name="cut what is too long", source="truncation of Responses", said={R: {"truncation": "auto"}}, stands=same("auto", (R, "truncation")), words=("truncation",)),
    Row(name="a limit of tool calls", source="max_tool_calls of Responses", said={R: {"max_tool_calls": 3}}, stands=same(3, (R, "max_tool_calls")), words=("max_tool_calls",)),
    Row(name="a prompt kept by OpenAI", source="prompt of Responses", said={R: {"prompt": {"id": "pmpt_7"}}}, stands=same("pmpt_7", (R, "prompt.id")), words=("prompt",)),
    Row(name="management of the context", source="context_management of Responses and Anthropic", said={R: {"context_management": [{"type": "compaction", "compact_threshold": 9000}]},
        A: {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}}, either={R: {"context_management": has("compact")}, A: {"context_management": has("edits")}}, words=("context_management",)),
    Row(name="a container", source="container of Anthropic", said={A: {"container": "container_7"}}, stands=same("container_7", (A, "container")), words=("container",)),
    Row(name="where it runs", source="inference_geo of Anthropic", said={A: {"inference_geo": "us"}}, stands=same("us", (A, "inference_geo")), words=("inference_geo",)),
    Row(name="speed", source="speed of Anthropic", said={A: {"speed": "fast"}}, stands=same("fast", (A, "speed")), words=("speed",)),
    Row(name="servers of MCP", source="mcp_servers of Anthropic", said={A: {"mcp_servers": [{"type": "url", "url": "https://example.org/mcp", "name": "m"}]}}, stands={A: {"mcp_servers[0].name": "m"}}, words=("mcp",)),
    Row(name="a field nobody knows", source="unknown fields pass on their own wire, and are told elsewhere",
        said={C: {"novelty": 7}, R: {"novelty": 7}, A: {"novelty": 7}, G: {"novelty": 7}, L: {"novelty": 7}}, words=("novelty",), either={b: {"novelty": 7} for b in (C, R, A, G, L, X)}),
)  # fmt: skip
