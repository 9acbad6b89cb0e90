"""Providers' refusals, read: of tools, schemas or demands they do not take, of a call they could not read.

Knows errors as providers word them, and plans; nothing of wires.  Contract: pure, and careful: what is not clearly one
of these is none of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import ErrorKind, ProviderError
from ..lenient.notation import Broken, Cut
from ..lenient.reader import mend
from ..providers.spec import Tools
from ..providers.thinking import WORDS
from ..types import JsonObject, Request, Tool
from .capabilities import NOTHING, Refusals, signed
from .instructions import form_key, form_kind
from .model_state import state_of
from .plan import Plan
from .thinking import REFUSED, WHILE_TOOLS

_TOOLS = r"\b(?:tools?|functions?)(?:_(?:use|calls?|calling))?\b(?![_ ]choice)"
TOOLS_REFUSED = re.compile(
    rf"{_TOOLS}[^.;]{{0,60}}?\b(?:not|n't|never|un)\W?(?:currently )?"
    r"(?:supported|support|available|enabled|allowed|implemented)"
    rf"|\b(?:not|n't|un)\s?support(?:ed|s|ing)?\b[^.;]{{0,40}}?{_TOOLS}"
    r"|\b(?:unrecognized|unknown|unexpected|extra) (?:request )?(?:argument|field|input|key|parameter)s?\b"
    r"[^.;\[]{0,60}?\b(?:tools|functions)\b(?![.\[])|\bextra_forbidden\b.{0,40}\btools\b(?!\", \d)",
    re.IGNORECASE,
)
"""How servers without a machine field say that a model takes no tools."""
NOT_IMPLEMENTED = 501
UNSUPPORTED_TOOLS = re.compile(r"\bunsupported param(?:eter)?:? ['\"`]?tools?\b", re.IGNORECASE)
"""Old llama.cpp says it with status 500: "Unsupported param: tools" (ggml-org/llama.cpp#10920)."""
REFUSALS = frozenset({ErrorKind.BAD_REQUEST, ErrorKind.NOT_FOUND, ErrorKind.UNKNOWN})


def refuses_tools(error: ProviderError) -> bool:
    """Does this refusal of a request that carried tools say that the model takes none?"""
    if error.kind is ErrorKind.SERVER and error.status != NOT_IMPLEMENTED:
        return bool(UNSUPPORTED_TOOLS.search(error.message))
    refused = error.kind in REFUSALS or error.status == NOT_IMPLEMENTED
    return error.kind is ErrorKind.NO_TOOLS or (refused and bool(TOOLS_REFUSED.search(error.message)))


ABOUT_A_SCHEMA = re.compile(r"schema|\bparameters\b|function_?declarations", re.IGNORECASE)
ABOUT_TOOLS = re.compile(r"\b(?:tools?|functions?)\b", re.IGNORECASE)
ABOUT_A_CALL = re.compile(r"did not match|tool_use_failed|failed_generation|tool call validation", re.IGNORECASE)
BY_DECLARATION = re.compile(r"function_?declarations\[(\d+)\]", re.IGNORECASE)
BY_TOOL = re.compile(r"\btools?(?:\[|\.)(\d+)", re.IGNORECASE)
"""Gemini: `tools[0].function_declarations[69]`; Anthropic: `tools.9.custom.input_schema`; OpenAI: `tools[0]`."""


def refused_schemas(error: ProviderError, tools: Sequence[Tool]) -> list[Tool]:
    """The tools, as sent, whose schemas this refusal is about: those it names, else all; none if it is not about them.

    Its words are all there is: no API has a machine field for this.
    """
    words = error.message
    if error.kind is not ErrorKind.BAD_REQUEST or not ABOUT_A_SCHEMA.search(words) or ABOUT_A_CALL.search(error.body):
        return []
    named = [tool for tool in tools if re.search(rf"['\"`]{re.escape(tool.name)}['\"`]", words)]
    return named or _placed(words, tools) or (list(tools) if ABOUT_TOOLS.search(words) else [])


def _placed(words: str, tools: Sequence[Tool]) -> list[Tool]:
    places = sorted({int(at) for at in BY_DECLARATION.findall(words) or BY_TOOL.findall(words)})
    return [tools[at] for at in places if at < len(tools)]


ABOUT_A_CHOICE = re.compile(
    r"\btool[_ ]?choice\b|\btoolChoice\b|\bforces? tool use\b|\bfunction_?calling_?config\b|\bRequired function\b",
    re.IGNORECASE,
)
"""Alibaba "The tool_choice parameter does not support being set to required or object in thinking mode", DeepSeek
"Thinking mode does not support this tool_choice", OpenRouter (404) "No endpoints found that support the provided
'tool_choice' value", Anthropic "Thinking may not be enabled when tool_choice forces tool use", xAI "Required function
is not present" (cloudwego/eino#994, deepseek-ai/DeepSeek-V3#1376, zed-industries/zed#36094, wire-quirks.md)."""
ABOUT_A_FORM = re.compile(
    r"\bresponse[_ ]?(?:format|schema|mime|json)|\boutput[_ ]?(?:config|format|schema)|\bstructured[_ ]outputs?\b"
    r"|\bjson[_ ](?:mode|schema|object)\b|\btext[._]?format\b|\bgrammar\b",
    re.IGNORECASE,
)
"""LM Studio "'response_format.type' must be 'json_schema' or 'text'", OpenAI "'response_format' of type 'json_schema'
is not supported with this model", DeepSeek "This response_format type is unavailable now", Gemini "Function calling
with a response mime type: 'application/json' is unsupported", "Json mode is not enabled for models/gemini-pro"
(lmstudio-ai/lmstudio-bug-tracker#189, web-infra-dev/midscene#259, google-gemini/deprecated-generative-ai-python#137).
"""
ONE_SCHEMA = re.compile(r"\binvalid\b.{0,20}\bschema\b|\bschema\b.{0,60}\b(?:invalid|not|un)", re.IGNORECASE)
"""OpenAI "Invalid schema for response_format 'r': …": another schema may be taken."""
DEMAND_REFUSALS = REFUSALS | {ErrorKind.SERVER}


def refused_demand(error: ProviderError, sent: Request) -> str:
    """The demand of `sent` that this refusal is about: a mode of tool choice, or a kind of form; "" for none.

    Its words are all there is, as for schemas.
    """
    if error.kind not in DEMAND_REFUSALS or ABOUT_A_CALL.search(error.body):
        return ""
    choice = sent.tool_choice
    if choice is not None and choice.mode != "auto" and ABOUT_A_CHOICE.search(error.message):
        return choice.mode
    if not ABOUT_A_FORM.search(error.message):
        return ""
    return form_key(sent) if ONE_SCHEMA.search(error.message) else form_kind(sent)


ABOUT_EFFORT = re.compile(
    r"reasoning[._ ]?effort|\beffort\b|thinking[ _.]?(?:level|budget|config|type)|\bthinking\.type\b"
    r"|\b(?:support|not)\w* (?:adaptive )?thinking\b|\badaptive thinking\b|enable_thinking",
    re.IGNORECASE,
)
"""xAI "Model … does not support parameter reasoningEffort.", Gemini "Thinking level is not supported for this model.",
Anthropic "This model does not support the effort parameter", Ollama '"m" does not support thinking'."""
LIMIT = "max_tokens"
WITHOUT_TOOLS = re.compile(r"\bfunction tools with reasoning", re.IGNORECASE)
"""OpenAI "Function tools with reasoning_effort are not supported for … in /v1/chat/completions …"."""
ABOUT_A_VALUE = re.compile(r"unsupported[ _]value|supported values", re.IGNORECASE)
"""OpenAI "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', …"; in
the field `param` stands what it is about."""
QUOTED_WORD = re.compile(r"['\"`](\w+)['\"`]")
TAKEN = re.compile(
    r"\b(?:supported values|valid|allowed|accepts?|one of|input should be|expected)\b(.*)", re.IGNORECASE | re.DOTALL
)


def refused_effort(error: ProviderError, sent: Request) -> str:
    """The wish to think of `sent` that this refusal is about: the words that are taken, the one that is not, or all.

    In the words of `turn/thinking.py`; "" where it is about something else.
    """
    effort, words = sent.sampling.effort, error.message
    if sent.tools and error.kind in DEMAND_REFUSALS and WITHOUT_TOOLS.search(words):
        return WHILE_TOOLS
    if error.kind not in DEMAND_REFUSALS or (effort is None and sent.sampling.thinking_budget is None):
        return ""
    if LIMIT in words:
        return ""  # of this one request
    about = ABOUT_EFFORT.search(words) or (ABOUT_A_VALUE.search(words) and ABOUT_EFFORT.search(error.body))
    if not about:
        return ""
    tail = TAKEN.search(words)
    listed = [word for word in QUOTED_WORD.findall(tail[1] if tail else "") if word in WORDS and word != effort]
    if listed:
        return f"{REFUSED}:{','.join(listed)}"
    return f"{REFUSED}:-{effort}" if effort is not None and effort in QUOTED_WORD.findall(words) else REFUSED


ABOUT_STATE = re.compile(
    r"\bsignature\W{1,3}in\W{1,3}thinking|thinking\W{1,3}blocks\b.{0,60}\bcannot be modified|\bbound to a different\b"
    r"|\bencrypted[_ ]content\b.{0,200}\bcould not be|could not decrypt"
    r"|(?:corrupted|invalid) thought signature|thought signature is not valid|\bwithout its required\b"
    r"|\bItem with id '(?:rs|fc|msg)_\S+' not found",
    re.IGNORECASE | re.DOTALL,
)
"""Anthropic "Invalid `signature` in `thinking` block", "`thinking` or `redacted_thinking` blocks in the latest
assistant message cannot be modified", OpenAI "The encrypted content … could not be verified", "Item 'fc_…' of type
'function_call' was provided without its required 'reasoning' item: 'rs_…'", xAI "Could not decrypt the provided
encrypted_content", Gemini "Corrupted thought signature." (claude-code#63256, opencodex#2229, codex#35739)."""


def _state(error: ProviderError, plan: Plan) -> Refusals:
    """The state of earlier turns, where this refusal is about it: the next asking goes without."""
    if error.kind not in DEMAND_REFUSALS or plan.text or not ABOUT_STATE.search(error.message):
        return NOTHING
    return Refusals(demands=state_of(plan.asked.messages) - plan.refused.demands)


GENERATION = "failed_generation"
"""Groq's field: what the model wrote, where its server could not make a call of it (recorded: errors.jsonl)."""


def refused_generation(error: ProviderError) -> str:
    """The model's own text, where a provider gives that instead of an answer; "" for any other error."""
    if GENERATION not in error.body:
        return ""
    try:
        body = json.loads(error.body)
    except (ValueError, RecursionError):
        return ""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    written = inner.get(GENERATION) if isinstance(inner, Mapping) else None
    return written if isinstance(written, str) else ""


NAMES = ("name", "tool", "tool_name")
ARGUMENTS = ("arguments", "parameters", "args", "input")


def calls_written(written: str) -> list[tuple[str, JsonObject]]:
    """The calls, names and arguments, where what was written is JSON for calls and nothing else; none where it is not.

    Its server took it for calls, so that they are meant, also where names or arguments are wrong.
    """
    try:
        value, _ = mend(written)
    except (Broken, Cut):
        return []
    made = [_call(item) for item in (value if isinstance(value, list) else [value])]
    return [call for call in made if call is not None] if all(made) else []


def _call(item: Any) -> tuple[str, JsonObject] | None:
    if not isinstance(item, Mapping):
        return None
    name = next((item[key] for key in NAMES if isinstance(item.get(key), str)), "")
    arguments = next((item[key] for key in ARGUMENTS if isinstance(item.get(key), Mapping)), None)
    return (name, arguments) if name and arguments is not None else None


# ── what the next request goes without ───────────────────────────────────────

CONSTRAINT_REFUSALS = frozenset({ErrorKind.BAD_REQUEST, ErrorKind.SERVER, ErrorKind.UNKNOWN})
"""How servers refuse a grammar or schema they cannot compile (llama.cpp: 400; older vLLM: 500)."""


def refused_by(error: ProviderError, plan: Plan) -> Refusals:
    """The parts of `plan` that this error refuses and a weaker one goes without; `NOTHING` for no way around."""
    return next(filter(None, (refused(error, plan) for refused in WEAKER)), NOTHING)


def _constraint(error: ProviderError, plan: Plan) -> Refusals:
    return Refusals(constraint=bool(plan.constraint) and error.kind in CONSTRAINT_REFUSALS)


def _demand(error: ProviderError, plan: Plan) -> Refusals:
    return Refusals(demands=frozenset(filter(None, (refused_demand(error, plan.request),))))


def _effort(error: ProviderError, plan: Plan) -> Refusals:
    refused = refused_effort(error, plan.request)
    return NOTHING if refused in {"", *plan.refused.demands} else Refusals(demands=frozenset((refused,)))


def _tools(error: ProviderError, plan: Plan) -> Refusals:
    native = bool(plan.asked.tools) and not plan.text and plan.route.mode is Tools.BOTH
    return Refusals(tools=native and refuses_tools(error))


def _schemas(error: ProviderError, plan: Plan) -> Refusals:
    if plan.text or not plan.asked.tools:
        return NOTHING
    names = {plan.names.original(tool.name) for tool in refused_schemas(error, plan.request.tools)}
    schemas = frozenset(signed(tool) for tool in plan.asked.tools if tool.name in names)
    return Refusals(schemas=schemas - plan.refused.schemas)


WEAKER: tuple[Callable[[ProviderError, Plan], Refusals], ...] = (
    _constraint, _state, _effort, _demand, _tools, _schemas,
)  # fmt: skip
"""In this order: an error may read like several refusals, and the first is asked around."""
