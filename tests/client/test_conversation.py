"""What a caller may give for a conversation: ours, or the messages of any API, and nothing is left out of it."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.client.conversation import conversation
from dragoman.codecs import CODECS
from dragoman.codecs.shared.message_shapes import FIELDS, WRITTEN_FOR
from dragoman.errors import CodecError, UsageError
from dragoman.types import Media, Message, Request, Text, ToolCall, ToolResult

CALL = ToolCall(id="c1", name="look", arguments={"at": "sky"})
TALK = (
    Message("user", "What colour?"),
    Message("assistant", [Text("I look."), CALL]),
    Message("tool", [ToolResult(call_id="c1", name="look", content="blue")]),
    Message("user", [Text("And this?"), Media(mime="image/png", data="aGk=")]),
)
APIS = [api for api in CODECS if api not in ("ollama_generate", "stackspot")]  # which have no messages


def written(api: str, messages: tuple[Message, ...]) -> list[Any]:
    body = CODECS[api].encode_request(Request(model="m", messages=messages))
    return [*body[FIELDS.get(api, "messages")]]


def said(messages: tuple[Message, ...]) -> list[Any]:
    return [(one.role, one.text, [call.name for call in one.calls], [r.text for r in one.results]) for one in messages]


@pytest.mark.parametrize("api", APIS)
def test_the_messages_of_every_api_are_read_as_what_they_say(api: str) -> None:
    found = conversation("", written(api, TALK), None)
    assert said(found) == said(TALK)
    assert [part for part in found[-1].parts if isinstance(part, Media)]
    [call], [result] = found[1].calls, found[2].results
    assert (call.arguments, result.call_id) == (CALL.arguments, call.id)


@pytest.mark.parametrize("api", APIS)
def test_messages_of_ours_may_stand_between(api: str) -> None:
    mixed = [TALK[0], *written(api, TALK[1:3]), TALK[3]]
    assert said(conversation("", mixed, None)) == said(TALK)


@pytest.mark.parametrize("api", sorted({api for api, _ in WRITTEN_FOR}))
def test_messages_of_two_apis_are_refused(api: str) -> None:
    other = {"role": "user", "parts": [{"text": "x"}]} if api != "gemini" else {"role": "user", "content": [{"text": "x"}]}
    marked: dict[str, list[Any]] = {
        "ollama_chat": [{"role": "user", "content": "x", "images": ["aGk="]}],
        "cohere_chat": [{"role": "assistant", "tool_plan": "x", "content": "y"}],
    }
    with pytest.raises(UsageError, match="stand in one conversation; give all"):
        conversation("", [*(marked.get(api) or written(api, TALK)), other], None)


@pytest.mark.parametrize("given", [{"role": "usr", "content": "x"}, {"role": "model", "content": "x"}, {"content": "x"}, {}])
def test_a_role_there_is_not_is_named_and_is_not_the_users(given: Any) -> None:
    with pytest.raises(UsageError, match="give one of system, developer, user"):
        conversation([given], (), None)


@pytest.mark.parametrize("given", [{"role": "user"}, {"role": "user", "text": "x"}, {"role": "assistant", "name": "x"}])
def test_a_message_that_says_nothing_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="give it role and content"):
        conversation(given, (), None)


@pytest.mark.parametrize("given", [None, 5, b"x", [None], [b"x"], ["x"], {"role": "user", "content": 5}])
def test_what_is_no_message_is_refused(given: Any) -> None:
    with pytest.raises((UsageError, CodecError), match=r"give|send"):
        conversation(given, (), None)


@pytest.mark.parametrize("api", ["anthropic_messages", "bedrock_converse", "gemini"])
def test_messages_of_one_api_and_of_openai_are_refused(api: str) -> None:
    """No codec of these APIs reads what an answer in OpenAI's form says: it would be lost without a word."""
    for openai in (written("openai_chat", TALK[1:2]), written("openai_chat", TALK[2:3])):
        with pytest.raises(UsageError, match=r"one conversation|has no role"):
            conversation("", [*written(api, TALK), *openai], None)


def test_the_own_system_prompt_of_a_client_stands_before_that_of_a_conversation() -> None:
    talk = [Message("system", "OTHER"), Message("user", "Hi.")]
    assert [each.text for each in conversation("", talk, None, "SYS")] == ["SYS", "OTHER", "Hi."]
    assert [each.text for each in conversation("", talk, "NEW", "SYS")] == ["NEW", "Hi."]
    again = conversation("More.", conversation("", talk, None, "SYS"), None, "SYS")
    assert [each.text for each in again] == ["SYS", "OTHER", "Hi.", "More."]
