"""The table of providers: every row complete, every provider of the documents there, every switch read."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from dragoman import Client
from dragoman.codecs import CODECS
from dragoman.conversation.requirements import REQUIREMENTS
from dragoman.effects import run
from dragoman.errors import ProviderError, UsageError
from dragoman.io.environment import route_to
from dragoman.providers.auth import ClientCredentials, KeyHeader, SignedKey, SigV4
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS, ROWS, Tools
from dragoman.providers.spec import Provider, Signal
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import IssueKind, Message, Request, Response, Stop, Tool, ToolChoice, ToolResult
from tests.support.upstreams import ScriptedReply, model, refusal, sent, text_reply

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)

# ── the rows ─────────────────────────────────────────────────────────────────

PENDING: frozenset[str] = frozenset()
"""Codecs that rows name and that are not written yet."""


@every_row
def test_a_row_speaks_a_wire_there_is(row: Provider) -> None:
    assert row.codec in CODECS or row.codec in PENDING
    assert row.codec in REQUIREMENTS


def test_nothing_is_pending_that_is_there() -> None:
    assert not PENDING & set(CODECS)


def test_every_wire_has_a_row_and_names_differ() -> None:
    assert {row.codec for row in ROWS} == set(CODECS)
    names = Counter(name for row in ROWS for name in (row.name, *row.aliases))
    assert [name for name, count in names.items() if count > 1] == []
    assert [name for name in names if "/" in name or ":" in name or name != name.lower()] == []


@every_row
def test_a_row_says_where_it_was_read(row: Provider) -> None:
    assert row.docs.startswith("https://") or row is PROVIDERS["compatible"]
    assert row.base_url == row.base_url.rstrip("/")
    assert row.base_url.startswith("https://") or row.port or not row.base_url


@every_row
def test_what_an_address_needs_is_a_setting_of_the_row(row: Provider) -> None:
    places = [row.base_url, row.path, *row.query.values(), *row.headers.values(), getattr(row.auth, "url", "")]
    places += [f"{{{setting.of}}}" for setting in row.settings]
    names = [setting.name for setting in row.settings]
    assert [name for name in names if not any(f"{{{name}}}" in place for place in places)] == []
    filled = Route(provider=row, base_url="https://h", settings=dict.fromkeys(names, "x")).request_url("/{model}", "m")
    assert not set("{}") & set(filled)


@every_row
def test_a_key_of_one_provider_goes_to_no_other(row: Provider) -> None:
    """Rows share variables only where their hosts belong to one house."""
    mine = _key_variables(row)
    for other in ROWS:
        shared = mine & _key_variables(other)
        assert not shared or _house(row) == _house(other), (other.name, shared)


def _key_variables(row: Provider) -> set[str]:
    return {name for way in (row.auth, *row.or_auth) for name in way.env}


HOUSES = {"api.aws": "amazonaws.com"}
"""Hosts of one house under another name."""


def _house(row: Provider) -> str:
    host = row.base_url.partition("://")[2].partition("/")[0]
    return HOUSES.get(".".join(host.split(".")[-2:]), ".".join(host.split(".")[-2:])) if host else row.docs


@every_row
def test_a_rows_variables_look_like_variables(row: Provider) -> None:
    names = [*_key_variables(row), *row.url_env, *row.model_env, *(n for s in row.settings for n in s.env)]
    assert [name for name in names if name != name.upper() or not name.replace("_", "").isalnum()] == []


def test_a_row_says_in_words_what_it_does_not_support() -> None:
    lacks = PROVIDERS["moonshot"].lacks
    assert "tool_choice required" in lacks
    assert "a named tool_choice" in lacks
    assert "tool_choice none" not in lacks
    assert "the field parallel_tool_calls" in lacks
    assert "tools (told as text)" in PROVIDERS["perplexity"].lacks
    assert PROVIDERS["together"].lacks == ()


def test_apis_that_others_serve_have_compatible_rows() -> None:
    assert set(COMPATIBLE) <= set(CODECS)
    for codec, row in COMPATIBLE.items():
        assert (row.codec, row.base_url, row.auth.env, row.or_auth, row.url_env) == (codec, "", (), (), ())


def test_a_provider_that_speaks_openais_api_is_one_row() -> None:
    mine = Provider(name="mine", codec="openai_chat", base_url="https://mine.test/v1", auth=KeyHeader(env=("MINE",)))
    memory = model("openai_chat", text_reply("hi"))
    assert run(turn(ASK, route_to(mine, environ={"MINE": "k"})), memory.sync_performer()).text == "hi"
    assert memory.sent[0].url == "https://mine.test/v1/chat/completions"
    assert memory.sent[0].headers["authorization"] == "Bearer k"


# ── the providers the documents name ─────────────────────────────────────────

BEARER, CHAT = "authorization", "openai_chat"
NAMED: list[tuple[str, str, str, str, str]] = [
    # name, codec, address of a request for the model "m", the variable of its key, the header of the key
    ("openai", CHAT, "https://api.openai.com/v1/chat/completions", "OPENAI_API_KEY", BEARER),
    ("openai-responses", "openai_responses", "https://api.openai.com/v1/responses", "OPENAI_API_KEY", BEARER),
    ("anthropic", "anthropic_messages", "https://api.anthropic.com/v1/messages", "ANTHROPIC_API_KEY", "x-api-key"),
    ("gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
     "GEMINI_API_KEY", "x-goog-api-key"),
    ("bedrock", "bedrock_converse", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse",
     "AWS_SECRET_ACCESS_KEY", BEARER),
    ("bedrock-invoke", "bedrock_invoke", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke",
     "AWS_SECRET_ACCESS_KEY", BEARER),
    ("ollama", "ollama_chat", "http://127.0.0.1:11434/api/chat", "OLLAMA_API_KEY", BEARER),
    ("openrouter", CHAT, "https://openrouter.ai/api/v1/chat/completions", "OPENROUTER_API_KEY", BEARER),
    ("xai", CHAT, "https://api.x.ai/v1/chat/completions", "XAI_API_KEY", BEARER),
    ("zai", CHAT, "https://api.z.ai/api/paas/v4/chat/completions", "ZAI_API_KEY", BEARER),
    ("minimax", CHAT, "https://api.minimax.io/v1/chat/completions", "MINIMAX_API_KEY", BEARER),
    ("minimax-anthropic", "anthropic_messages", "https://api.minimax.io/anthropic/v1/messages",
     "MINIMAX_API_KEY", BEARER),
    ("moonshot", CHAT, "https://api.moonshot.ai/v1/chat/completions", "MOONSHOT_API_KEY", BEARER),
    ("github-copilot", CHAT, "https://api.githubcopilot.com/chat/completions", "GITHUB_COPILOT_API_KEY", BEARER),
    ("github-models", CHAT, "https://models.github.ai/inference/chat/completions", "GITHUB_TOKEN", BEARER),
    ("stackspot", "stackspot", "https://genai-inference-app.stackspot.com/v1/agent/m/chat",
     "STACKSPOT_CLIENT_KEY", BEARER),
    ("llamacpp", CHAT, "http://127.0.0.1:8080/v1/chat/completions", "LLAMA_API_KEY", BEARER),
    ("vllm", CHAT, "http://127.0.0.1:8000/v1/chat/completions", "VLLM_API_KEY", BEARER),
    ("sglang", CHAT, "http://127.0.0.1:30000/v1/chat/completions", "SGLANG_API_KEY", BEARER),
    ("lmstudio", CHAT, "http://127.0.0.1:1234/v1/chat/completions", "LMSTUDIO_API_KEY", BEARER),
    ("groq", CHAT, "https://api.groq.com/openai/v1/chat/completions", "GROQ_API_KEY", BEARER),
    ("mistral", CHAT, "https://api.mistral.ai/v1/chat/completions", "MISTRAL_API_KEY", BEARER),
    ("deepseek", CHAT, "https://api.deepseek.com/chat/completions", "DEEPSEEK_API_KEY", BEARER),
    ("together", CHAT, "https://api.together.ai/v1/chat/completions", "TOGETHER_API_KEY", BEARER),
    ("cerebras", CHAT, "https://api.cerebras.ai/v1/chat/completions", "CEREBRAS_API_KEY", BEARER),
    ("cohere", "cohere_chat", "https://api.cohere.com/v2/chat", "COHERE_API_KEY", BEARER),
    ("fireworks", CHAT, "https://api.fireworks.ai/inference/v1/chat/completions", "FIREWORKS_API_KEY", BEARER),
    ("huggingface", CHAT, "https://router.huggingface.co/v1/chat/completions", "HF_TOKEN", BEARER),
    ("perplexity", CHAT, "https://api.perplexity.ai/chat/completions", "PERPLEXITY_API_KEY", BEARER),
    ("nvidia", CHAT, "https://integrate.api.nvidia.com/v1/chat/completions", "NVIDIA_API_KEY", BEARER),
    ("alibaba", CHAT, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
     "DASHSCOPE_API_KEY", BEARER),
    ("databricks", CHAT, "", "DATABRICKS_TOKEN", BEARER),
    ("snowflake", CHAT, "", "SNOWFLAKE_TOKEN", BEARER),
    ("azure", CHAT, "", "AZURE_OPENAI_API_KEY", "api-key"),
    ("azure-deployments", CHAT, "", "AZURE_OPENAI_API_KEY", "api-key"),
    ("writer", CHAT, "https://api.writer.com/v1/chat", "WRITER_API_KEY", BEARER),
    ("crusoe", CHAT, "https://api.inference.crusoecloud.com/v1/chat/completions", "CRUSOE_API_KEY", BEARER),
    ("exo", CHAT, "http://127.0.0.1:52415/v1/chat/completions", "EXO_API_KEY", BEARER),
    ("zai-anthropic", "anthropic_messages", "https://api.z.ai/api/anthropic/v1/messages", "ZAI_API_KEY", BEARER),
    ("moonshot-anthropic", "anthropic_messages", "https://api.moonshot.ai/anthropic/v1/messages",
     "MOONSHOT_API_KEY", BEARER),
    ("deepseek-anthropic", "anthropic_messages", "https://api.deepseek.com/anthropic/v1/messages",
     "DEEPSEEK_API_KEY", "x-api-key"),
    ("azure-anthropic", "anthropic_messages", "", "ANTHROPIC_FOUNDRY_API_KEY", "x-api-key"),
    ("xai-responses", "openai_responses", "https://api.x.ai/v1/responses", "XAI_API_KEY", BEARER),
    ("vertex", "gemini", "", "GOOGLE_OAUTH_ACCESS_TOKEN", BEARER),
    ("cloudflare", CHAT, "", "CLOUDFLARE_API_TOKEN", BEARER),
]  # fmt: skip


@pytest.mark.requirement("003-providers")
@pytest.mark.parametrize(("name", "codec", "url", "variable", "header"), NAMED, ids=[row[0] for row in NAMED])
def test_every_provider_named_has_a_row(name: str, codec: str, url: str, variable: str, header: str) -> None:
    row = PROVIDERS[name]
    assert row.codec == codec
    assert not url or Route(provider=row).request_url(CODECS[codec].path, "m") == url
    assert variable in row.auth.env
    assert getattr(row.auth, "header", BEARER) == header


@every_row
def test_both_spellings_name_a_rows_model(row: Provider) -> None:
    for name in (row.name, *row.aliases):
        assert PROVIDERS.split(f"{name}/a/b:c") == (row, "a/b:c")
        assert PROVIDERS.split(f"{name}:a/b:c") == (row, "a/b:c")


WAYS: list[tuple[str, type, tuple[str, ...]]] = [
    ("zai", SignedKey, ()),
    ("stackspot", ClientCredentials, ("client_id",)),
    ("bedrock", SigV4, ("access_key_id", "session_token")),
]


@pytest.mark.parametrize(("name", "way", "parts"), WAYS, ids=[way[0] for way in WAYS])
def test_a_row_says_how_it_is_told_who_asks(name: str, way: type, parts: tuple[str, ...]) -> None:
    auth = PROVIDERS[name].auth
    assert isinstance(auth, way)
    assert tuple(part.name for part in auth.parts) == parts


def test_providers_without_tools_are_told_them_in_text() -> None:
    assert {row.name for row in ROWS if row.tools is Tools.TEXT} == {"stackspot", "perplexity", "ollama-generate"}


def test_copilot_is_told_who_began_and_whether_it_must_see() -> None:
    row = PROVIDERS["copilot"]
    assert row.signals == {"x-initiator": Signal.INITIATOR, "copilot-vision-request": Signal.VISION}
    assert {"editor-version", "editor-plugin-version", "openai-intent"} <= set(row.headers)


# ── switches of the environment ──────────────────────────────────────────────

LOOK = Tool(name="look")
ASK = Request(model="m", messages=(Message("user", "hi"),), tools=(LOOK,))
KEYS = {"OPENROUTER_API_KEY": "k", "MINIMAX_API_KEY": "k", "AZURE_OPENAI_API_KEY": "k"}
OWN = '[{"type": "openrouter:web_search", "parameters": {"$odd": [1, {}]}}]'


def exchanged(name: str, request: Request = ASK, **environ: str) -> tuple[dict[str, Any], Response]:
    memory = model("openai_chat", text_reply("hi"))
    response = run(turn(request, route_to(PROVIDERS[name], environ=KEYS | environ)), memory.sync_performer())
    return sent(memory), response


@pytest.mark.requirement("003-openrouter-tools")
def test_openrouters_own_tools_go_out_word_for_word_after_ours() -> None:
    body, response = exchanged("openrouter", OPENROUTER_TOOLS=OWN)
    assert [tool.get("function", {}).get("name") for tool in body["tools"]] == ["look", None]
    assert body["tools"][1] == {"type": "openrouter:web_search", "parameters": {"$odd": [1, {}]}}
    assert response.issues == ()
    alone, _ = exchanged("openrouter", Request(model="m", messages=ASK.messages), OPENROUTER_TOOLS=OWN)
    assert len(alone["tools"]) == 1


@pytest.mark.requirement("003-openrouter-tools")
def test_openrouters_own_tools_are_called_by_the_caller() -> None:
    own = json.dumps([{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}])
    memory = model("openai_chat", ScriptedReply((), (("c1", "search", {"q": "x"}), ("c2", "look", {}))))
    route = route_to(PROVIDERS["openrouter"], environ=KEYS | {"OPENROUTER_TOOLS": own})
    response = run(turn(ASK, route), memory.sync_performer())
    assert [(call.name, call.arguments) for call in response.calls] == [("search", {"q": "x"}), ("look", {})]
    memory = model("openai_chat", ScriptedReply((), (("c1", "search", {"q": "x"}),)))
    response = run(turn(ASK, route_to(PROVIDERS["openrouter"], environ=KEYS)), memory.sync_performer())
    assert [(i.kind, i.name) for i in response.issues] == [(IssueKind.UNKNOWN_TOOL, "search")]


SEARCH = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
LOOK_TOO = [{"type": "function", "function": {"name": "look", "description": "Another.", "parameters": {}}}]


@pytest.mark.requirement("003-openrouter-tools")
def test_a_function_is_declared_once_and_the_requests_own_counts() -> None:
    body, _ = exchanged("openrouter", OPENROUTER_TOOLS=json.dumps([*SEARCH, *LOOK_TOO]))
    assert [tool["function"]["name"] for tool in body["tools"]] == ["look", "search"]
    assert "description" not in body["tools"][0]["function"]


@pytest.mark.requirement("003-openrouter-tools")
@pytest.mark.parametrize("mode", [Tools.NATIVE, Tools.TEXT, None])
@pytest.mark.parametrize("request_", [ASK, replace(ASK, tools=())], ids=["beside_own", "alone"])
def test_openrouters_own_tools_are_called_in_text_too(request_: Request, mode: Tools | None) -> None:
    memory = model("openai_chat", text_reply('<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>'))
    route = route_to(PROVIDERS["openrouter"], environ=KEYS | {"OPENROUTER_TOOLS": json.dumps(SEARCH)}, tools=mode)
    response = run(turn(request_, route), memory.sync_performer())
    assert [(call.name, call.arguments) for call in response.calls] == [("search", {"q": "x"})]
    assert ("search" in str(sent(memory)["messages"])) == (mode is Tools.TEXT)


@pytest.mark.requirement("003-openrouter-tools")
@pytest.mark.parametrize("call", [
    ScriptedReply((), (("c1", "search", {"q": "x"}),)),
    text_reply('<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>'),
], ids=["native", "text"])  # fmt: skip
def test_a_run_answers_the_call_of_a_tool_it_has_no_function_for(call: ScriptedReply) -> None:
    memory = model("openai_chat", call, text_reply("I answer without it."))
    environ = KEYS | {"OPENROUTER_TOOLS": json.dumps(SEARCH)}
    with Client("openrouter/m", environ=environ, performer=memory.sync_performer) as client:
        run_ = client.run("?")
    assert run_.text == "I answer without it."
    assert "[ERROR:NotExecuted] The tool 'search' cannot be run here." in str(sent(memory)["messages"])
    assert [issue.message for issue in run_.issues if "take the definition out" in issue.message]


@pytest.mark.parametrize("written", ["{", "[1, 2", '{"a": 1}', "null", "3", "[" * 100_000], ids=len)
def test_openrouters_odd_tools_are_reported_and_left_out(written: str) -> None:
    body, response = exchanged("openrouter", OPENROUTER_TOOLS=written)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["look"]
    (issue,) = response.issues
    assert issue.kind is IssueKind.WIRE_FAULT
    assert "OPENROUTER_TOOLS is not a JSON array" in issue.message


def test_openrouters_fallback_models_go_out_with_their_route() -> None:
    body, _ = exchanged("openrouter", OPENROUTER_FALLBACK_MODELS=" a/b , c/d:free,, ")
    assert (body["models"], body["route"]) == (["a/b", "c/d:free"], "fallback")
    body, _ = exchanged("openrouter")
    assert not {"models", "route"} & set(body)


VARIANTS = [
    ("minimax", {}, "minimax"),
    ("minimax", {"MINIMAX_API_COMPAT": "anthropic"}, "minimax-anthropic"),
    ("minimax", {"MINIMAX_API_COMPAT": " Anthropic "}, "minimax-anthropic"),
    ("minimax", {"MINIMAX_API_COMPAT": "openai"}, "minimax"),
    ("minimax", {"MINIMAX_API_COMPAT": ""}, "minimax"),
    ("azure", {}, "azure"),
    ("azure", {"OPENAI_API_VERSION": "2024-10-21"}, "azure-deployments"),
]


@pytest.mark.parametrize(("name", "environ", "wanted"), VARIANTS)
def test_a_variable_may_choose_another_row(name: str, environ: dict[str, str], wanted: str) -> None:
    assert route_to(PROVIDERS[name], environ=KEYS | environ).provider.name == wanted


@pytest.mark.requirement("003-minimax-compat")
def test_minimax_may_be_reached_by_anthropics_api() -> None:
    environ = {"MINIMAX_API_KEY": "k", "MINIMAX_API_COMPAT": "anthropic"}
    memory = model("anthropic_messages", ScriptedReply((), (("c1", "look", {}),)))
    response = run(turn(ASK, route_to(PROVIDERS["minimax"], environ=environ)), memory.sync_performer())
    assert [call.name for call in response.calls] == ["look"]
    (opened,) = memory.sent
    assert opened.url == "https://api.minimax.io/anthropic/v1/messages"
    assert (opened.headers["authorization"], opened.headers["anthropic-version"]) == ("Bearer k", "2023-06-01")
    assert sent(memory)["tools"][0] == {"name": "look", "input_schema": {"type": "object", "properties": {}}}


def test_minimax_tells_errors_with_status_200() -> None:
    body = {"base_resp": {"status_code": 1004, "status_msg": "login fail"}}
    memory = ScriptedPeer([refusal(200, body)])
    with pytest.raises(ProviderError, match="login fail"):
        run(turn(ASK, route_to(PROVIDERS["minimax"], environ=KEYS)), memory.sync_performer())
    assert memory.sent[0].url == "https://api.minimax.io/v1/chat/completions"


def test_azure_is_configured_by_the_environment() -> None:
    environ = {"AZURE_OPENAI_ENDPOINT": "https://me.openai.azure.com/", "OPENAI_API_VERSION": "2024-10-21"}
    route = route_to(PROVIDERS["azure"], environ=KEYS | environ)
    assert route.headers()["api-key"] == "k"
    assert route.request_url("/chat/completions", "gpt").endswith("/gpt/chat/completions?api-version=2024-10-21")
    token = route_to(PROVIDERS["azure"], environ={**environ, "AZURE_OPENAI_AD_TOKEN": "t"})
    assert token.headers()["authorization"] == "Bearer t"


def test_anthropic_takes_a_key_or_a_token() -> None:
    key, token = {"ANTHROPIC_API_KEY": "k"}, {"ANTHROPIC_AUTH_TOKEN": "t"}
    assert route_to(PROVIDERS["anthropic"], environ=key | token).headers()["x-api-key"] == "k"
    only = route_to(PROVIDERS["anthropic"], environ=token).headers()
    assert only["authorization"] == "Bearer t"
    assert "x-api-key" not in only
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"):
        route_to(PROVIDERS["anthropic"], environ={})


AWS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-west-1"}


def test_bedrock_takes_its_keys_and_region_from_the_environment() -> None:
    route = route_to(PROVIDERS["bedrock"], environ=AWS | {"AWS_SESSION_TOKEN": "t"})
    assert (route.key, dict(route.secrets)) == ("s", {"access_key_id": "AKIDEXAMPLE", "session_token": "t"})
    assert route.root() == "https://bedrock-runtime.eu-west-1.amazonaws.com"
    bearer = route_to(PROVIDERS["bedrock"], environ={"AWS_BEARER_TOKEN_BEDROCK": "b"})
    assert bearer.headers()["authorization"] == "Bearer b"
    with pytest.raises(UsageError, match="wants its access_key_id; set AWS_ACCESS_KEY_ID"):
        route_to(PROVIDERS["bedrock"], environ={"AWS_SECRET_ACCESS_KEY": "s"})


def test_stackspots_agent_is_the_model_where_nobody_names_one() -> None:
    environ = {"STACKSPOT_CLIENT_ID": "c", "STACKSPOT_CLIENT_KEY": "k", "STACKSPOT_REALM": "acme"}
    environ["STACKSPOT_AGENT_ID"] = "agent"
    assert route_to(PROVIDERS["stackspot"], environ=environ).model == "agent"
    assert route_to(PROVIDERS["stackspot"], environ=environ, model="mine").model == "mine"


def test_one_variable_moves_a_server_with_two_apis() -> None:
    for name in ("ollama", "ollama-generate"):
        route = route_to(PROVIDERS[name], environ={"OLLAMA_HOST": "0.0.0.0"})
        assert route.root() == "http://127.0.0.1:11434"


def test_addresses_are_filled_from_the_environment() -> None:
    vertex = {"GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_CLOUD_LOCATION": "europe-west4", "GOOGLE_OAUTH_ACCESS_TOKEN": "t"}
    route = route_to(PROVIDERS["vertex"], environ=vertex)
    assert route.request_url(CODECS["gemini"].path, "gemini-3-pro") == (
        "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/mine/locations/europe-west4/publishers/google"
        "/models/gemini-3-pro:generateContent"
    )
    cloudflare = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "t"}
    route = route_to(PROVIDERS["cloudflare"], environ=cloudflare)
    assert route.root() == "https://api.cloudflare.com/client/v4/accounts/acc/ai/v1"
    with pytest.raises(UsageError, match="wants its project; set GOOGLE_CLOUD_PROJECT"):
        route_to(PROVIDERS["vertex"], environ={"GOOGLE_OAUTH_ACCESS_TOKEN": "t"}).root()


# ── OpenRouter's calls and results ───────────────────────────────────────────


@pytest.mark.requirement("weak-chatcli-13")
def test_openrouters_calls_are_calls_and_stay_with_their_results() -> None:
    memory = model("openai_chat", ScriptedReply((), (("c1", "look", {}),)), text_reply("done"))
    route = route_to(PROVIDERS["openrouter"], environ=KEYS)
    first = run(turn(ASK, route), memory.sync_performer())
    (call,) = first.calls
    result = Message("tool", [ToolResult(call_id=call.id, name=call.name, content="blue")])
    again = Request(model="m", messages=(*ASK.messages, first.message, result), tools=(LOOK,))
    assert run(turn(again, route), memory.sync_performer()).text == "done"
    _, spoken, answered = sent(memory)["messages"]
    assert [c["id"] for c in spoken["tool_calls"]] == [answered["tool_call_id"]]


@pytest.mark.requirement("weak-chatcli-13")
def test_openrouter_gets_no_result_without_its_call() -> None:
    memory = model("openai_chat", text_reply("done"))
    orphan = Message("tool", [ToolResult(call_id="c1", name="look", content="blue")])
    request = Request(model="m", messages=(*ASK.messages, orphan), tools=(LOOK,))
    run(turn(request, route_to(PROVIDERS["openrouter"], environ=KEYS)), memory.sync_performer())
    messages = sent(memory)["messages"]
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == ids


@pytest.mark.requirement("003-minimax-compat")
def test_calls_in_the_text_of_minimaxs_other_api_are_read() -> None:
    memory = model("anthropic_messages", text_reply("<tool_call name=\"look\" args='{}' />"))
    route = route_to(PROVIDERS["minimax"], environ=KEYS | {"MINIMAX_API_COMPAT": "anthropic"})
    assert [call.name for call in run(turn(ASK, route), memory.sync_performer()).calls] == ["look"]


SAYS_HI = Response(message=Message("assistant", "hi"), stop=Stop.END)


@pytest.mark.requirement("003-native-today")
@pytest.mark.requirement("001-forced-text")
@pytest.mark.parametrize("name", ["xai", "github-copilot", "github-models", "gemini", "ollama"])
def test_tools_go_natively_where_they_are_taken_today_and_one_option_forces_text(name: str) -> None:
    provider, api = PROVIDERS[name], PROVIDERS[name].codec
    environ = dict.fromkeys(provider.auth.env, "k")
    for mode, natively in ((None, True), (Tools.TEXT, False)):
        memory = ScriptedPeer([Answer((json.dumps(CODECS[api].encode_response(SAYS_HI)).encode(),))])
        run(turn(ASK, route_to(provider, environ=environ, tools=mode)), memory.sync_performer())
        assert ("tools" in sent(memory)) is natively
        assert ("look" in json.dumps({k: v for k, v in sent(memory).items() if k != "tools"})) is not natively


@pytest.mark.requirement("003-tool-choice")
def test_auto_goes_out_where_it_is_said_and_is_left_out_where_not() -> None:
    assert "tool_choice" not in exchanged("openai", OPENAI_API_KEY="k")[0]
    said = replace(ASK, tool_choice=ToolChoice("auto"))
    assert exchanged("openai", said, OPENAI_API_KEY="k")[0]["tool_choice"] == "auto"
