"""Answers that are read at once say what the decoder makes of them, to the order of the fields."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.codecs.anthropic import messages
from dragoman.codecs.anthropic.messages_plain import plain_answer as plain_message
from dragoman.codecs.openai import chat
from dragoman.codecs.openai.chat_plain import plain_answer
from dragoman.errors import DragomanError
from dragoman.events import assemble
from dragoman.types import Response
from tests.support.recordings import VECTORS, rows

BODIES = [row["response"] for row in rows(VECTORS / "openai_chat.jsonl") if isinstance(row.get("response"), dict)]


def by_decoder(body: dict[str, Any]) -> str:
    try:
        return shown(assemble(chat._Decoder().whole(deepcopy(body))))
    except DragomanError as error:
        return repr(error)


def shown(response: Response) -> str:
    """All that is in it, also what no comparison looks at."""
    fields = [getattr(response.extra, "api", ""), response.extra]
    kinds = [getattr(getattr(part, "metadata", None), "api", "") for part in response.message.parts]
    return f"{response!r} {fields} {kinds} {[(c.raw, c.report, c.arguments) for c in response.calls]}"


@pytest.mark.parametrize("body", BODIES)
def test_a_recorded_answer_is_read_alike(body: dict[str, Any]) -> None:
    found = plain_answer(deepcopy(body))
    assert found is None or shown(found) == by_decoder(body)


TEXTS = st.sampled_from([None, "", "Hello.", " ", "a\u2028b", "<tool_call>"])
ODD = st.sampled_from([None, "", 0, 1, 1.5, True, [], {}, ["x"], {"a": 1}, {"a": None}, "word"])
RARE = st.one_of(*[st.sampled_from([None, ""])] * 8, ODD)
ARGUMENTS = st.sampled_from([
    "{}", '{"a": 1}', '{"a": 1} ', ' {"a": 1}', '{"a": 1, "a": 1}', '{"a": 1, "a": 2}', '{"a": 1e999}', '{"a": NaN}',
    "", "}", "{", "[1]", '{"a": "' + "x" * 5000 + '"}', '{"ä": "\\ud800"}', None, {"a": 1}, '{"a": 1}{"b": 2}',
])  # fmt: skip


def objects(fields: dict[str, st.SearchStrategy[Any]], *sure: str) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of the fields, in any order."""
    some = st.fixed_dictionaries(
        {key: fields[key] for key in sure}, optional={key: one for key, one in fields.items() if key not in sure}
    )
    return some.flatmap(lambda made: st.permutations(sorted(made)).map(lambda keys: {key: made[key] for key in keys}))


CALLS = objects(
    {"id": st.sampled_from(["c1", "c2", "", None, 1]), "type": st.just("function"), "index": st.sampled_from([0, 1]),
     "function": objects({"name": st.sampled_from(["f", "g", "", None]), "arguments": ARGUMENTS, "extra": ODD},
                         "name", "arguments"),
     "custom": RARE, "note": ODD},
    "id", "function",
)  # fmt: skip
MESSAGES = objects(
    {"role": st.just("assistant"), "content": TEXTS | RARE, "reasoning_content": TEXTS | RARE, "reasoning": RARE,
     "refusal": RARE, "tool_calls": st.lists(CALLS, max_size=3) | RARE, "function_call": RARE, "audio": ODD,
     "reasoning_details": RARE, "annotations": ODD},
    "content",
)  # fmt: skip
COUNTS = st.sampled_from([0, 3, 7, -1, None, 2**60, 1.0, True])
USAGES = RARE | objects(
    {"prompt_tokens": COUNTS, "completion_tokens": COUNTS, "total_tokens": st.sampled_from([10, 3, 6, None]),
     "prompt_tokens_details": st.sampled_from([None, {"cached_tokens": 2}, {"cached_tokens": 0, "audio": 0}]),
     "completion_tokens_details": st.sampled_from([None, {"reasoning_tokens": 3}]), "cost": ODD},
)  # fmt: skip
CHOICES = objects(
    {"index": st.sampled_from([0, 1, None]), "message": MESSAGES, "logprobs": ODD, "stop_reason": ODD, "delta": RARE,
     "finish_reason": st.sampled_from(["stop", "tool_calls", "length", "STOP", "content_filter", "eos", "odd", "", None, 1])},
    "message", "finish_reason",
)  # fmt: skip
ANSWERS = objects(
    {"id": TEXTS | ODD, "object": st.just("chat.completion"), "created": COUNTS, "model": TEXTS, "usage": USAGES,
     "choices": st.lists(CHOICES, min_size=1, max_size=1), "system_fingerprint": TEXTS, "base_resp": RARE,
     "x_groq": RARE, "service_tier": ODD, "error": RARE},
    "choices",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(ANSWERS)
def test_any_answer_is_read_alike(body: dict[str, Any]) -> None:
    found = plain_answer(deepcopy(body))
    assert found is None or shown(found) == by_decoder(body)


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


@pytest.mark.parametrize(
    "message", [{"content": "Hello."}, {"content": None, "tool_calls": [CALL]}, {"reasoning_content": "Hm.", "content": "a"}]
)
def test_what_nearly_all_answers_are_is_plain(message: dict[str, Any]) -> None:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop", "logprobs": None}
    body = {"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}
    found = plain_answer(json.loads(json.dumps(body)))
    assert found is not None
    assert shown(found) == by_decoder(body)


# ── Anthropic Messages ───────────────────────────────────────────────────────


MESSAGE_BODIES = [
    row["response"] for row in rows(VECTORS / "anthropic_messages.jsonl") if isinstance(row.get("response"), dict)
]


def by_blocks(body: dict[str, Any]) -> str:
    body = deepcopy(body)
    return shown(assemble(messages._Decoder().whole(body, body["content"])))


@pytest.mark.parametrize("body", MESSAGE_BODIES)
def test_a_recorded_message_is_read_alike(body: dict[str, Any]) -> None:
    found = plain_message(deepcopy(body))
    assert found is None or shown(found) == by_blocks(body)


INPUTS = st.sampled_from([{"a": 1}, {"a": {"b": [1.5, None, "ä\u2028"]}}, {}, None, [1], "x", {"a": float("nan")}])
BLOCKS = st.one_of(
    objects({"type": st.just("text"), "text": TEXTS | RARE, "citations": st.sampled_from([None, [], [{"url": "u"}]])},
            "type", "text"),
    objects({"type": st.just("thinking"), "thinking": TEXTS | RARE, "signature": TEXTS}, "type", "thinking"),
    objects({"type": st.just("tool_use"), "id": st.sampled_from(["a", "b", "c", "", None]), "input": INPUTS,
             "name": st.sampled_from(["f", "g", ""]), "caller": ODD}, "type", "id", "name", "input"),
    objects({"type": st.just("tool_use"), "id": st.sampled_from(["a", "b"]), "name": st.just("f"),
             "input": st.just({"a": 1})}, "type", "id", "name", "input"),
    st.sampled_from([{"type": "redacted_thinking", "data": "x"}, {"type": "server_tool_use", "id": "s"}, {}, {"type": 1}]),
)  # fmt: skip
MESSAGES_OF_CLAUDE = objects(
    {"id": TEXTS, "type": st.just("message"), "role": st.just("assistant"), "model": TEXTS, "container": ODD,
     "content": st.lists(BLOCKS, max_size=3), "stop_sequence": TEXTS, "error": RARE,
     "stop_reason": st.sampled_from(["end_turn", "tool_use", "max_tokens", "refusal", "odd", "", None, 1]),
     "usage": RARE | objects({"input_tokens": COUNTS, "output_tokens": COUNTS, "cache_read_input_tokens": COUNTS,
                              "output_tokens_details": st.sampled_from([None, {"thinking_tokens": 2}]), "tier": ODD})},
    "content", "stop_reason",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(MESSAGES_OF_CLAUDE)
def test_any_message_is_read_alike(body: dict[str, Any]) -> None:
    found = plain_message(deepcopy(body))
    assert found is None or shown(found) == by_blocks(body)


def test_what_nearly_all_messages_are_is_plain() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t", "name": "look", "input": {"at": "sky"}},
    ]  # fmt: skip
    body = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": content, "stop_reason": "tool_use",
            "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 4}}  # fmt: skip
    found = plain_message(deepcopy(body))
    assert found is not None
    assert shown(found) == by_blocks(body)
