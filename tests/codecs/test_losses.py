"""What a wire cannot hold is said, and nothing else: found by reading back what was written."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.codecs.fidelity.losses import request_losses, unsupported_parameters
from dragoman.codecs.shared.spec import PLAIN, Quirks, WireFields
from dragoman.errors import CodecError
from dragoman.events import replay
from dragoman.gateway.answer_losses import response_losses, stream_losses
from dragoman.types import (
    IssueKind,
    Media,
    Message,
    Opaque,
    OutputSchema,
    Part,
    Reasoning,
    Request,
    Response,
    Sampling,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
)
from tests.support.recordings import codec, paths_in, streamed
from tests.support.values import WIRES, requests, responses

SERVED = sorted(WIRES)
INTERACTIONS = "gemini_interactions"
laws = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=25)
brief = settings(laws, max_examples=15)

TOOL = Tool(name="f", parameters={"type": "object", "properties": {"x": {"type": "integer"}}})
STRICT_TOOL = replace(TOOL, strict=True, parameters={**TOOL.parameters, "required": ["x"]})
CALL = ToolCall(id="call_1", name="f", arguments={"x": 1})
PDF = Media(mime="application/pdf", data="JVBERi0=", name="a.pdf")


def ask(*messages: Message, **fields: Any) -> Request:
    return Request(model="m", messages=messages or (Message("user", "hi"),), **fields)


def turn(*content: Text | Media, **fields: Any) -> tuple[Message, ...]:
    """A question, a call and its result."""
    result = ToolResult(call_id="call_1", name="f", content=content, **fields)
    return Message("user", "hi"), Message("assistant", [CALL]), Message("tool", [result])


ROWS: Mapping[str, tuple[Request, str, tuple[str, ...]]] = {
    "top_k": (
        ask(sampling=Sampling(top_k=5)),
        "$.sampling.top_k",
        ("openai_responses", "bedrock_converse", INTERACTIONS),
    ),
    "seed": (
        ask(sampling=Sampling(seed=5)),
        "$.sampling.seed",
        ("openai_responses", "anthropic_messages", "bedrock_converse", "bedrock_invoke"),
    ),
    "stop": (ask(sampling=Sampling(stop=("x",))), "$.sampling.stop", ("openai_responses",)),
    "an effort": (ask(sampling=Sampling(effort="xhigh")), "$.sampling.effort", ("ollama_chat", "bedrock_converse", "cohere_chat")),
    "a strict tool": (ask(tools=(STRICT_TOOL,)), "$.tools[0].strict", ("gemini", INTERACTIONS)),
    "one call at a time": (
        ask(parallel=False),
        "$.parallel",
        ("ollama_chat", "gemini", INTERACTIONS, "bedrock_converse", "cohere_chat"),
    ),
    "a call demanded": (ask(tools=(TOOL,), tool_choice=ToolChoice("required")), "$.tool_choice", ("ollama_chat",)),
    "no calls": (ask(tools=(TOOL,), tool_choice=ToolChoice("none")), "$.tool_choice", ()),
    "any JSON": (
        ask(output_schema=OutputSchema()),
        "$.output_schema",
        ("anthropic_messages", "bedrock_converse", "bedrock_invoke"),
    ),
    "the name of an output schema": (
        ask(output_schema=OutputSchema(schema={}, name="n")),
        "$.output_schema.name",
        ("anthropic_messages", "bedrock_invoke", "cohere_chat", "gemini", INTERACTIONS, "ollama_chat"),
    ),
    "a cache marker": (
        ask(Message("user", "hi", cache=True)),
        "$.messages[0].cache",
        ("cohere_chat", "gemini", INTERACTIONS, "ollama_chat", "openai_chat", "openai_responses"),
    ),
    "more cache markers than four": (  # Bedrock's are counted where they are planned
        ask(*(Message(role, "hi", cache=True) for role in ("user", "assistant") * 3)),
        "$.messages[0].cache",
        tuple(api for api in SERVED if api != "bedrock_converse"),
    ),
    "a late instruction": (
        ask(Message("user", "hi"), Message("system", "be brief")),
        "$.messages[1].parts[0]",
        ("anthropic_messages", "bedrock_converse", "bedrock_invoke", "gemini", INTERACTIONS),
    ),
    "reasoning without a signature": (
        ask(Message("user", "hi"), Message("assistant", [Reasoning("hm"), Text("ho")])),
        "$.messages[1].parts[0]",
        ("anthropic_messages", "bedrock_converse", "bedrock_invoke", "openai_responses"),
    ),
    "a file": (
        ask(Message("user", [Text("read"), PDF])),
        "$.messages[0].parts[1]",
        ("ollama_chat", "cohere_chat", "gemini", INTERACTIONS),
    ),
    "a file in a result": (
        ask(*turn(Text("see"), PDF)),
        "$.messages[2].parts[0].content[1]",
        ("ollama_chat", "cohere_chat", "gemini", INTERACTIONS),
    ),
    "an error code": (ask(*turn(Text("no"), is_error=True, error_code="ENOENT")), "$.messages[2].parts[0]", ()),
    "a code without failure": (
        ask(*turn(Text("ok"), error_code="EAGAIN")),
        "$.messages[2].parts[0].error_code",
        tuple(SERVED),
    ),
    "a block of one wire": (
        ask(Message("assistant", [Opaque(api="anthropic_messages", block={"type": "server_tool_use"})])),
        "$.messages[0].parts[0]",
        tuple(api for api in SERVED if api not in ("anthropic_messages", "bedrock_invoke")),
    ),
    "a field of one wire": (
        ask(extra=WireFields("openai_chat", {"store": True})),
        "$.extra.store",
        tuple(api for api in SERVED if api != "openai_chat"),
    ),
    "a tool of one wire's server": (
        ask(extra=WireFields("openai_responses", {"tools": [{"type": "web_search"}]})),
        "$.extra.tools",
        tuple(api for api in SERVED if api != "openai_responses"),
    ),
    "the caller's own notes": (ask(tools=(replace(TOOL, metadata={"note": "mine"}),)), "$.tools", ()),
}
"""What is asked → its path, and the wires that cannot hold it; every other wire can."""


@pytest.mark.parametrize("api", SERVED)
@pytest.mark.parametrize("row", ROWS)
def test_a_wire_says_what_it_cannot_hold(row: str, api: str) -> None:
    request, path, lacking = ROWS[row]
    paths = [issue.path for issue in request_losses(request, codec(api)) if issue.path.startswith(path)]
    assert bool(paths) == (api in lacking)


@pytest.mark.parametrize("api", CODECS)
def test_losses_are_unsupported_and_name_the_wire(api: str) -> None:
    for request, _, _ in ROWS.values():
        for issue in request_losses(request, codec(api)):
            assert issue.kind is IssueKind.UNSUPPORTED
            assert api in issue.message


@pytest.mark.parametrize("api", SERVED)
@brief
@given(data=st.data())
def test_a_request_its_wire_can_tell_loses_nothing(api: str, data: st.DataObject) -> None:
    assert request_losses(data.draw(requests(api)), codec(api)) == ()


@pytest.mark.parametrize("api", SERVED)
@brief
@given(data=st.data())
def test_an_answer_its_wire_can_tell_loses_nothing(api: str, data: st.DataObject) -> None:
    response: Response = data.draw(responses(api))
    assert response_losses(response, codec(api)) == ()
    for whole_calls in (True, False):
        frames = streamed(codec(api), replay(response), whole_calls=whole_calls)
        assert stream_losses(response, codec(api), frames) == ()


@pytest.mark.parametrize("api", SERVED)
@laws
@given(data=st.data())
def test_whatever_is_taken_out_of_a_body_is_noticed(api: str, data: st.DataObject) -> None:
    """A wire with a hole in it: the same codec, but one place of the body is dropped."""
    request: Request = data.draw(requests(api))
    body = json.loads(json.dumps(codec(api).encode_request(request)))
    *path, last = data.draw(st.sampled_from(list(paths_in(body))))
    holed = copy.deepcopy(body)
    inside = holed
    for key in path:
        inside = inside[key]
    del inside[last]
    try:
        got = codec(api).decode_request(holed)
    except CodecError:
        got = None
    leaky = replace(codec(api), encode_request=lambda request, quirks=None: copy.deepcopy(holed))
    assume(request.tool_choice is None)  # "none" and "this one" may be said by offering fewer tools
    assume(got is None or _gist(got) != _gist(request))
    assert request_losses(request, leaky)


def _gist(request: Request) -> Any:
    """What a request says, however its turns are cut; without what may be lost in a hole and is said elsewhere."""
    parts = [(m.role, part) for m in request.messages for part in m.parts if not _says_nothing(part)]
    texts = sorted(
        repr((role, part.text) if isinstance(part, Text) else (type(part), getattr(part, "id", 0)))
        for role, part in parts
    )
    return texts, [tool.name for tool in request.tools], request.sampling


def _says_nothing(part: Part) -> bool:
    return (
        isinstance(part, Text | Reasoning | ToolResult) and not part.text if not isinstance(part, ToolResult) else False
    )


def test_the_same_loss_in_many_places_is_told_once() -> None:
    thoughts = [Message("assistant", [Reasoning(f"hm {i}"), Text("ho")]) for i in range(3)]
    (issue,) = request_losses(ask(*thoughts), codec("anthropic_messages"))
    assert (issue.path, issue.raw) == ("$.messages[0].parts[0]", "hm 0")
    assert issue.message.endswith("(in 3 places)")


def test_what_a_peer_refuses_is_lost_there_too() -> None:
    request = ask(tools=(TOOL,), tool_choice=ToolChoice("required"), sampling=Sampling(max_tokens=7, seed=1))
    quirks = Quirks(omit=frozenset({"seed"}), rename={"max_tokens": "limit"}, choices=frozenset({"auto"}))
    paths = [issue.path for issue in request_losses(request, codec("openai_chat"), quirks)]
    assert paths == ["$.tool_choice", "$.sampling.seed"]


def test_what_moves_is_not_lost() -> None:
    image = Media(mime="image/png", data="iVBORw0KGgo=")
    assert request_losses(ask(*turn(Text("see"), image)), codec("openai_chat")) == ()
    assert request_losses(ask(Message("system", "a"), Message("system", "b")), codec("anthropic_messages")) == ()


def test_repeated_texts_are_each_looked_for() -> None:
    one = [Message("user", "ok"), Message("assistant", "ok"), Message("user", "ok")]
    leaky = replace(
        codec("openai_chat"),
        encode_request=lambda request, quirks=None: {"model": "m", "messages": [{"role": "user", "content": "ok"}]},
    )
    assert len(request_losses(ask(*one), leaky)) == 1
    assert request_losses(ask(*one), leaky)[0].message.endswith("(in 2 places)")


ANSWERS: Mapping[str, tuple[Response, str, tuple[str, ...]]] = {
    "its id": (Response(id="r1", stop=Stop.END), "$.id", ("bedrock_converse", "ollama_chat")),
    "its model": (Response(model="m", stop=Stop.END), "$.model", ("bedrock_converse", "cohere_chat")),
    "a pause": (
        Response(stop=Stop.PAUSE),
        "$.stop",
        tuple(api for api in SERVED if api not in ("anthropic_messages", "bedrock_invoke", INTERACTIONS)),
    ),
    "calls for a reason": (Response(message=Message("assistant", [CALL]), stop=Stop.TOOL_CALLS), "$.stop", ()),
    "cached tokens": (Response(usage=Usage(input=9, cached=3), stop=Stop.END), "$.usage.cached", ("ollama_chat",)),
    "an order": (
        Response(message=Message("assistant", [CALL, Text("done")]), stop=Stop.TOOL_CALLS),
        "$.message.parts",
        ("cohere_chat", "ollama_chat", "openai_chat"),
    ),
}


@pytest.mark.parametrize("api", SERVED)
@pytest.mark.parametrize("row", ANSWERS)
def test_a_wire_says_what_of_an_answer_it_cannot_hold(row: str, api: str) -> None:
    response, path, lacking = ANSWERS[row]
    paths = [issue.path for issue in response_losses(response, codec(api)) if issue.path.startswith(path)]
    assert bool(paths) == (api in lacking)


@pytest.mark.parametrize(("origin", "goal"), [*itertools.product(SERVED, CODECS)])
def test_no_answer_is_too_odd_to_be_reported(origin: str, goal: str) -> None:
    response = codec(origin).decode_response(codec(origin).encode_response(Response()))
    frames = streamed(codec(goal), replay(response))
    for issue in (*response_losses(response, codec(goal)), *stream_losses(response, codec(goal), frames)):
        assert issue.path.startswith("$")


# ── what is told of every request ────────────────────────────────────────────

SPECIAL = codec("openai_chat").decode_request({
    "model": "m", "seed": 3, "logprobs": True, "metadata": {"a": "b"}, "web_search_options": {},
    "tools": [{"type": "function", "function": {"name": "f"}}, {"type": "openrouter:web_search"}],
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "name": "bob", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "file", "file": {"file_id": "f-1"}}]},
    ],
})  # fmt: skip


def unsupported(request: Request, api: str, quirks: Quirks = PLAIN) -> list[str]:
    return [issue.path for issue in unsupported_parameters(request, codec(api), quirks)]


def test_unsupported_parameters_are_reported_at_their_paths() -> None:
    paths = unsupported(SPECIAL, "anthropic_messages")
    assert set(paths) >= {"$.sampling.seed", "$.extra.logprobs", "$.extra.metadata.a", "$.extra.tools"}
    assert "$.messages[2].parts[0]" in paths
    assert "$.messages[1].metadata.name" in paths


def test_own_requests_lose_only_what_quirks_omit() -> None:
    assert unsupported(SPECIAL, "openai_chat") == []
    assert unsupported(SPECIAL, "openai_chat", Quirks(omit=frozenset({"logprobs"}))) == ["$.extra.logprobs"]


@pytest.mark.parametrize("api", SERVED)
def test_plain_talk_with_tools_is_no_wish(api: str) -> None:
    assert unsupported(ask(*turn(Text("see")), tools=(TOOL,)), api) == []


SEVERAL = [
    ("openai_chat", {"messages": [], "n": 2}),
    ("gemini", {"contents": [], "generationConfig": {"candidateCount": 2}}),
]


@pytest.mark.parametrize(("origin", "body"), SEVERAL)
@pytest.mark.parametrize("api", ["openai_chat", "gemini", "anthropic_messages"])
def test_several_answers_are_reported_as_one_unsupported_parameter(origin: str, body: dict[str, Any], api: str) -> None:
    request = codec(origin).decode_request(body)
    path = "$.extra.n" if origin == "openai_chat" else "$.extra.generationConfig.candidateCount"
    all_are_given = origin == api == "openai_chat"
    assert unsupported(request, api) == ([] if all_are_given else [path])


HI = [{"role": "user", "content": "hi"}]
MARKED = [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]
OVERHEARD: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "what the answer will be like": (
        "openai_chat",
        {"messages": HI, "prediction": {"type": "content", "content": "x"}},
        "$.extra.prediction.content",
    ),
    "a summary of the reasoning": (
        "openai_responses",
        {"input": "hi", "reasoning": {"summary": "auto"}},
        "$.extra.reasoning.summary",
    ),
    "a mark on all of it": (
        "anthropic_messages",
        {"max_tokens": 9, "messages": HI, "cache_control": {"type": "ephemeral"}},
        "$.extra.cache_control",
    ),
    "a mark on a message": (
        "anthropic_messages",
        {"max_tokens": 9, "messages": [{"role": "user", "content": MARKED}]},
        "$.messages[0].cache",
    ),
    "a mark on the instructions": (
        "anthropic_messages",
        {"max_tokens": 9, "system": MARKED, "messages": HI},
        "$.messages[0].cache",
    ),
}
"""What is asked in words that stand in blocks too → whose they are, the body, the path that is told."""


@pytest.mark.parametrize("row", OVERHEARD)
@pytest.mark.parametrize("api", ["openai_chat", "openai_responses", "anthropic_messages", "gemini", "ollama_chat"])
def test_fields_named_like_those_of_blocks_are_told_too(row: str, api: str) -> None:
    origin, body, path = OVERHEARD[row]
    request = codec(origin).decode_request({"model": "m", **body})
    assert (path in unsupported(request, api)) == (api != origin)


@pytest.mark.parametrize("api", CODECS)
@pytest.mark.parametrize("given", [[], ["x"], "x", None], ids=["none", "a list", "a word", "nothing"])
def test_words_in_a_list_are_lost_where_those_in_a_tuple_are(api: str, given: Any) -> None:
    words = tuple(given or ())
    listed, tupled = (ask(sampling=Sampling(stop=one)) for one in (given, words))
    assert unsupported_parameters(listed, codec(api)) == unsupported_parameters(tupled, codec(api))
    assert codec(api).encode_request(listed) == codec(api).encode_request(tupled)
    listed, tupled = (ask(tools=(TOOL,), tool_choice=ToolChoice(allowed=one)) for one in (given, words))
    assert request_losses(listed, codec(api)) == request_losses(tupled, codec(api))
