"""Tools with a type instead of a schema: programs built on them run on a model that has only text."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS, Tools
from dragoman.sim.loopback import serving
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import Stage, streamed_and_whole
from tests.support.upstreams import ScriptedReply, model, sent

PICTURE = base64.b64encode(b"a picture").decode()
BASH = {"type": "bash_20250124", "name": "bash"}
EDITOR = {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 4321}
MEMORY = {"type": "memory_20250818", "name": "memory"}
COMPUTER = {"type": "computer_20251124", "name": "computer", "display_width_px": 1024, "display_height_px": 768}
TOOLSET = {"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}}
PREVIEW = {"type": "computer_use_preview", "display_width": 1024, "display_height": 768, "environment": "browser"}
SQL = {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "regex", "definition": "SELECT .*"}}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    staged = Stage()
    text = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", tools=Tools.TEXT)
    with serving(create_app(GatewayConfig(default=text), staged)) as staged.url:
        yield staged


def fence(name: str, **arguments: Any) -> str:
    return f"~~~tool_call\n{json.dumps({'name': name, 'arguments': arguments})}\n~~~"


def prompt(peer: ScriptedPeer, index: int = -1) -> str:
    return json.dumps(sent(peer, index), ensure_ascii=False)


def claude(stage: Stage) -> Any:
    """Anthropic's client; what it takes and gives is checked by it, not by types."""
    return anthropic.Anthropic(base_url=stage.url, api_key="any", max_retries=0)


def gpt(stage: Stage) -> Any:
    """OpenAI's client."""
    return openai.OpenAI(base_url=f"{stage.url}/v1", api_key="any", max_retries=0)


# ── Anthropic ────────────────────────────────────────────────────────────────

ANTHROPIC: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bash": (BASH, {"command": "ls"}),
    "bash-restart": (BASH, {"restart": True}),
    "view": (EDITOR, {"command": "view", "path": "/a", "view_range": [1, 5]}),
    "insert": (EDITOR, {"command": "insert", "path": "/a", "insert_line": 2, "insert_text": "x\n"}),
    "undo": ({"type": "text_editor_20250124", "name": "str_replace_editor"}, {"command": "undo_edit", "path": "/a"}),
    "remember": (MEMORY, {"command": "create", "path": "/memories/a.md", "file_text": "x"}),
    "rename": (MEMORY, {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}),
    "zoom": (COMPUTER, {"action": "zoom", "region": [0, 0, 9, 9]}),
}


def ask_claude(client: Any, stream: bool, **asked: Any) -> Any:
    if not stream:
        return client.beta.messages.create(model="m", max_tokens=500, **asked)
    with client.beta.messages.stream(model="m", max_tokens=500, **asked) as events:
        return events.get_final_message()


@streamed_and_whole
@pytest.mark.parametrize("case", ANTHROPIC)
def test_anthropics_typed_tools_make_the_round_trip(stage: Stage, case: str, stream: bool) -> None:
    tool, arguments = ANTHROPIC[case]
    peer = stage.script(fence(tool["name"], **arguments), "Done.")
    with claude(stage) as client:
        user: dict[str, Any] = {"role": "user", "content": "Go."}
        first = ask_claude(client, stream, messages=[user], tools=[tool])
        assert first.stop_reason == "tool_use"
        (used,) = [block for block in first.content if block.type == "tool_use"]
        assert (used.name, used.input) == (tool["name"], arguments)
        result = {"type": "tool_result", "tool_use_id": used.id, "content": "a-result"}
        answered = [user, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        last = ask_claude(client, stream, messages=answered, tools=[tool])
    assert last.content[-1].text == "Done."
    assert "a-result" in prompt(peer)


@streamed_and_whole
def test_member_of_a_toolset_is_called_in_its_set(stage: Stage, stream: bool) -> None:
    peer = stage.script(fence("left_click", coordinate=[1, 2]), "Done.")
    with claude(stage) as client:
        user: dict[str, Any] = {"role": "user", "content": "Go."}
        first = ask_claude(client, stream, messages=[user], tools=[TOOLSET])
        used = first.content[-1]
        assert (used.name, used.toolset_name) == ("left_click", "computer")
        assert getattr(used.input, "coordinate", None) or used.input["coordinate"] == [1, 2]
        shown = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
        result = {"type": "tool_result", "tool_use_id": used.id, "content": [shown]}
        block = {"type": "tool_use", "id": used.id, "name": used.name, "toolset_name": "computer", "input": {"coordinate": [1, 2]}}
        ask_claude(client, stream, messages=[user, {"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}], tools=[TOOLSET])
    assert PICTURE in prompt(peer)
    assert "hold_key" in prompt(peer)
    assert "zoom" not in prompt(peer)


def test_typed_tool_says_its_settings_to_the_model(stage: Stage) -> None:
    peer = stage.script("Hello.")
    call_front(stage, "/v1/messages", tools=[EDITOR, COMPUTER], max_tokens=5, messages=[{"role": "user", "content": "Go."}])
    assert all(said in prompt(peer) for said in ("4321", "1024", "768"))


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "nothing": (BASH, {}, {"command": "ls"}),
    "no-undo": (EDITOR, {"command": "undo_edit", "path": "/a"}, {"command": "view", "path": "/a"}),
    "no-text": (MEMORY, {"command": "create", "path": "/memories/a"}, {"command": "view", "path": "/memories"}),
    "no-place": (COMPUTER, {"action": "mouse_move"}, {"action": "mouse_move", "coordinate": [1, 2]}),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_typed_tool_does_not_take_is_asked_for_again(stage: Stage, case: str) -> None:
    tool, wrong, right = WRONG[case]
    peer = stage.script(fence(tool["name"], **wrong), fence(tool["name"], **right))
    reply = call_front(stage, "/v1/messages", tools=[tool], max_tokens=5, messages=[{"role": "user", "content": "Go."}])
    assert [block["input"] for block in reply["content"] if block["type"] == "tool_use"] == [right]
    assert len(peer.sent) == 2


def call_front(stage: Stage, path: str, **body: Any) -> Any:
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", tools=Tools.TEXT)
    reply = call(create_app(GatewayConfig(default=route), stage.plays), path, {"model": "m", **body})
    assert reply.status == 200, reply.body
    return reply.json


# ── OpenAI Responses ─────────────────────────────────────────────────────────

SHELL_OUTPUT = [{"stdout": "a-result", "stderr": "oops", "outcome": {"type": "exit", "exit_code": 3}}]
SCREENSHOT = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PICTURE}"}
# tool, name, arguments, fields of the item, fields of its result, what the model is shown of it, events between
RESPONSES: dict[str, tuple[Any, str, Any, Any, Any, tuple[str, ...], list[str]]] = {
    "local_shell": (
        {"type": "local_shell"}, "local_shell", {"command": ["ls", "-a"]},
        {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls", "-a"], "env": {}}},
        {"type": "local_shell_call_output", "output": "a-result"}, ("a-result",), [],
    ),
    "shell": (
        {"type": "shell"}, "shell", {"commands": ["ls", "pwd"]},
        {"type": "shell_call", "action": {"commands": ["ls", "pwd"], "max_output_length": None, "timeout_ms": None}},
        {"type": "shell_call_output", "output": SHELL_OUTPUT}, ("a-result", "oops", "ExitCode:3"),
        ["shell_call_command.added", "shell_call_command.delta", "shell_call_command.done"] * 2,
    ),
    "apply_patch": (
        {"type": "apply_patch"}, "apply_patch", {"type": "create_file", "path": "a.txt", "diff": "+y\n"},
        {"type": "apply_patch_call", "operation": {"type": "create_file", "path": "a.txt", "diff": "+y\n"}},
        {"type": "apply_patch_call_output", "status": "failed", "output": "a-result"}, ("a-result", "[ERROR]"),
        ["apply_patch_call_operation_diff.delta", "apply_patch_call_operation_diff.done"],
    ),
    "computer_use_preview": (
        PREVIEW, "computer", {"type": "click", "button": "left", "x": 3, "y": 4},
        {"type": "computer_call", "action": {"type": "click", "button": "left", "x": 3, "y": 4}},
        {"type": "computer_call_output", "output": SCREENSHOT}, (PICTURE,), [],
    ),
    "computer": (
        {"type": "computer"}, "computer", {"actions": [{"type": "move", "x": 3, "y": 4}, {"type": "screenshot"}]},
        {"type": "computer_call", "actions": [{"type": "move", "x": 3, "y": 4}, {"type": "screenshot"}]},
        {"type": "computer_call_output", "output": SCREENSHOT}, (PICTURE,), [],
    ),
    "custom": (
        SQL, "sql", {"input": "SELECT 1"}, {"type": "custom_tool_call", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "output": "a-result"}, ("a-result", "SELECT .*"),
        ["custom_tool_call_input.delta", "custom_tool_call_input.done"],
    ),
}  # fmt: skip


def ask_openai(client: Any, stream: bool, **asked: Any) -> tuple[Any, list[str]]:
    if not stream:
        return client.responses.create(model="m", **asked), []
    with client.responses.stream(model="m", **asked) as events:
        kinds = [event.type for event in events]
        return events.get_final_response(), kinds


def holds(item: Any, fields: dict[str, Any]) -> bool:
    return all(item.get(key) == value for key, value in fields.items())


@streamed_and_whole
@pytest.mark.parametrize("case", RESPONSES)
def test_openais_typed_tools_make_the_round_trip(stage: Stage, case: str, stream: bool) -> None:
    tool, name, arguments, fields, output, shown, steps = RESPONSES[case]
    peer = stage.script(f"I act.\n{fence(name, **arguments)}", "Done.")
    with gpt(stage) as client:
        user = {"role": "user", "content": "Go."}
        first, kinds = ask_openai(client, stream, input=[user], tools=[tool])
        item = first.output[-1].to_dict()
        assert holds(item, fields), item
        between = ["response.output_item.added", *(f"response.{step}" for step in steps), "response.output_item.done"]
        assert not kinds or kinds[-1 - len(between) : -1] == between
        result = {**output, "call_id": item["call_id"]}
        last, _ = ask_openai(client, stream, input=[user, item, result], tools=[tool])
    assert last.output_text == "Done."
    assert all(said in prompt(peer) for said in shown)


def test_announced_item_is_incomplete_and_under_the_id_of_the_whole(stage: Stage) -> None:
    stage.script(fence("apply_patch", type="update_file", path="a", diff="@@\n-x\n+y\n"))
    with gpt(stage) as client:
        events = list(client.responses.create(model="m", input="Go.", tools=[{"type": "apply_patch"}], stream=True))
    added, done = (next(e.item for e in events if e.type == f"response.output_item.{what}") for what in ("added", "done"))
    assert (added.id, added.status, added.operation.diff) == (done.id, "in_progress", "")
    assert (done.status, done.operation.diff) == ("completed", "@@\n-x\n+y\n")
    assert [event.sequence_number for event in events] == list(range(len(events)))


@pytest.mark.parametrize("key", ["id", "call_id"])
def test_local_shell_is_answered_by_either_key(stage: Stage, key: str) -> None:
    peer = stage.script("Done.")
    item = {"type": "local_shell_call", "id": "lsh_1", "call_id": "c1", "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "env": {}}}  # fmt: skip
    result = {"type": "local_shell_call_output", key: "c1", "output": "a-result"}
    call_front(stage, "/v1/responses", input=[{"role": "user", "content": "Go."}, item, result], tools=[{"type": "local_shell"}])
    assert "a-result" in prompt(peer)


def test_own_function_keeps_its_name_beside_a_typed_tool(stage: Stage) -> None:
    own = {"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}
    stage.script(f"{fence('shell_tool', commands=['ls'])}\n{fence('shell', x='y')}")
    reply = call_front(stage, "/v1/responses", input="Go.", tools=[{"type": "shell"}, own])
    assert [item["type"] for item in reply["output"] if item["type"] != "message"] == ["shell_call", "function_call"]


def test_shell_in_a_container_is_the_servers(stage: Stage) -> None:
    peer = stage.script("Hello.")
    reply = call(
        create_app(GatewayConfig(default=text_route()), peer), "/v1/responses",
        {"model": "m", "input": "Go.", "tools": [{"type": "shell", "environment": {"type": "container_auto"}}]},
    )  # fmt: skip
    assert reply.headers["x-dragoman-unsupported-params"] == "tools"
    assert "commands" not in prompt(peer)


def text_route() -> Route:
    return Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", tools=Tools.TEXT)


# ── Chat, Gemini ─────────────────────────────────────────────────────────────


@streamed_and_whole
def test_custom_tool_of_chat_comes_back_in_its_form(stage: Stage, stream: bool) -> None:
    peer = stage.script(fence("sql", input="SELECT 1"))
    grammar = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "SELECT .*"}}
    tool: Any = {"type": "custom", "custom": {"name": "sql", "description": "Ask.", "format": grammar}}
    with gpt(stage) as client:
        asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": [tool]}
        if stream:
            deltas = [choice.delta for chunk in client.chat.completions.create(**asked, stream=True) for choice in chunk.choices]
            calls = [made.to_dict() for delta in deltas for made in delta.tool_calls or ()]
        else:
            calls = [made.to_dict() for made in client.chat.completions.create(**asked).choices[0].message.tool_calls or ()]
    assert [(made["type"], made["custom"]) for made in calls] == [("custom", {"name": "sql", "input": "SELECT 1"})]
    assert "SELECT .*" in prompt(peer)


def test_geminis_computer_is_offered_by_its_functions(stage: Stage) -> None:
    peer = stage.script(fence("click_at", x=10, y=20))
    tool = {"computer_use": {"environment": "ENVIRONMENT_BROWSER", "excluded_predefined_functions": ["drag_and_drop"]}}
    contents = [{"role": "user", "parts": [{"text": "Go."}]}]
    reply = call_front(stage, "/v1beta/models/m:generateContent", contents=contents, tools=[tool])
    (part,) = reply["candidates"][0]["content"]["parts"]
    assert (part["functionCall"]["name"], part["functionCall"]["args"]) == ("click_at", {"x": 10, "y": 20})
    assert "type_text_at" in prompt(peer)
    assert "drag_and_drop" not in prompt(peer)


# ── backends ─────────────────────────────────────────────────────────────────


def asked_of(back: str, front: str, tools: list[Any], *replies: Any, provider: str = "", **body: Any) -> tuple[Any, Any]:
    peer = model(back, *replies)
    row = PROVIDERS[provider] if provider else COMPATIBLE[back]
    route = Route(provider=row, base_url="http://model.test", key="k", tools=Tools.NATIVE)
    given = {"input": "Go."} if front == "responses" else {"messages": [{"role": "user", "content": "Go."}], "max_tokens": 9}
    reply = call(create_app(GatewayConfig(default=route), peer), f"/v1/{front}", {"model": "m", "tools": tools, **given, **body})
    assert reply.status == 200, reply.body
    return reply.json, sent(peer)


def test_typed_tools_pass_unchanged_to_their_own_api() -> None:
    made = ScriptedReply((), (("c1", "bash", {"command": "ls", "unheard_of": 1}),))
    answer, asked = asked_of("anthropic_messages", "messages", [BASH, EDITOR, MEMORY], made)
    given = [{key: value for key, value in tool.items() if key != "cache_control"} for tool in asked["tools"]]
    assert sorted(given, key=str) == sorted([BASH, EDITOR, MEMORY], key=str)
    assert answer["content"][0]["input"] == {"command": "ls", "unheard_of": 1}


def test_typed_tools_are_functions_to_others_who_speak_their_api() -> None:
    made = ScriptedReply((), (("c1", "bash", {"command": "ls"}),))
    _, asked = asked_of("anthropic_messages", "messages", [BASH], made, provider="zai-anthropic")
    assert asked["tools"][0]["input_schema"]["properties"].keys() == {"command", "restart"}
    assert "type" not in asked["tools"][0]


NATIVE: dict[str, Callable[[Any], Any]] = {
    "openai_chat": lambda body: [tool["function"]["name"] for tool in body["tools"]],
    "anthropic_messages": lambda body: [tool["name"] for tool in body["tools"]],
    "ollama_chat": lambda body: [tool["function"]["name"] for tool in body["tools"]],
}


@pytest.mark.parametrize("back", NATIVE)
def test_openais_typed_tools_are_functions_to_other_apis(back: str) -> None:
    calls = (("c1", "local_shell", {"command": ["ls"]}), ("c2", "apply_patch", {"type": "delete_file", "path": "a"}))
    answer, asked = asked_of(back, "responses", [{"type": "local_shell"}, {"type": "apply_patch"}], ScriptedReply((), calls))
    assert sorted(NATIVE[back](asked)) == ["apply_patch", "local_shell"]
    assert [item["type"] for item in answer["output"]] == ["local_shell_call", "apply_patch_call"]
