"""A LiteLLM proxy's file: what it says holds here, and what cannot be carried over is told."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import ProviderError, UsageError
from dragoman.gateway.config.json_schema import FORM
from dragoman.gateway.config.litellm import PREFIXES, WITHIN, Imported, convert
from dragoman.gateway.config.load import load, read
from dragoman.providers.rows import PROVIDERS
from dragoman.schema.validation import faults
from tests.support.litellm import ENVIRON, FILE, LITERAL


def listed(*rows: dict[str, Any], **more: Any) -> Imported:
    return convert(yaml.safe_dump({"model_list": list(rows), **more}))


def row(name: str, model: str, **params: Any) -> dict[str, Any]:
    return {"model_name": name, "litellm_params": {"model": model, **params}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "config.yaml"
    made.write_text(FILE)
    return made


def test_a_whole_file_is_served_as_it_was_meant(file: Path) -> None:
    config = load(file, ENVIRON).config
    places = {
        name: [f"{to.provider.name}/{to.model} {to.root()}" for to in config.routes(name)]
        for name in (*config.models, "anything")
    }
    llama = "ollama/llama3.1 http://box:11434"
    claude = "anthropic/claude-sonnet-4-5 https://api.anthropic.com"
    assert places == {
        "gpt": ["groq/llama https://api.groq.com/openai/v1", "openai/gpt-5 https://api.openai.com/v1", claude, llama],
        "local": ["server-1/qwen3 http://vllm:8000/v1", llama],
        "claude": [claude, llama],
        "llama": [llama],
        "anything": ["openrouter/ https://openrouter.ai/api/v1"],
    }
    groq, openai, *_ = config.routes("gpt")
    assert (groq.key, openai.key, config.routes("local")[0].key) == ("g" * 12, LITERAL, LITERAL)
    assert config.routes("local")[0].timeouts.idle == 60
    assert (config.rules.retries, config.rules.cooldown) == (1, 5)
    assert [access.name for access in config.access] == ["master"]


def test_settings_left_behind_are_listed_without_their_keys() -> None:
    imported = convert(FILE)
    notices = "\n".join(imported.notices)
    for word in ("rpm", "tpm", "drop_params", "database_url", "'nobody'", "embedding", "GPT_KEY"):
        assert word in notices
    assert LITERAL not in notices + imported.toml + repr(imported)
    assert imported.environ == {"TEAM": "red", "GPT_KEY": LITERAL}


def test_the_text_that_is_printed_says_the_same(file: Path) -> None:
    imported = convert(FILE)
    again = tomllib.loads(imported.toml)
    assert again == imported.data
    assert faults(FORM, again) == []
    assert read(again, {**ENVIRON, **imported.environ}).config.models == load(file, ENVIRON).config.models


def test_a_reference_to_an_unset_variable_is_reported_by_name(file: Path) -> None:
    with pytest.raises(UsageError, match="MASTER"):
        load(file, {name: value for name, value in ENVIRON.items() if name != "MASTER"})


def test_deployments_with_other_keys_get_rows_of_their_own() -> None:
    imported = listed(
        row("a", "openai/x"), row("b", "openai/x", api_key="os.environ/B"), row("c", "openai/y", api_key="os.environ/B")
    )
    assert [imported.data["models"][name]["route"] for name in "abc"] == ["openai/x", "openai-2/x", "openai-2/y"]
    config = read(imported.data, {"OPENAI_API_KEY": "first-key", "B": "other-key"}).config
    assert [config.routes(name)[0].key for name in "abc"] == ["first-key", "other-key", "other-key"]
    assert config.routes("b")[0].root() == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("model", "route"),
    [
        ("gpt-5", "openai/gpt-5"),
        ("claude-opus-4-5", "anthropic/claude-opus-4-5"),
        ("hosted_vllm/qwen", "vllm/qwen"),
        ("bedrock/converse/us.anthropic.claude", "bedrock/us.anthropic.claude"),
        ("openrouter/z-ai/glm-5", "openrouter/z-ai/glm-5"),
        ("together_ai/meta/llama", "together/meta/llama"),
        ("github/gpt-5", "github-models/gpt-5"),
        ("openai/responses/gpt-5", "openai-responses/gpt-5"),
    ],
)
def test_a_models_prefix_names_its_provider(model: str, route: str) -> None:
    assert listed(row("m", model)).data["models"]["m"] == {"route": route}


def test_every_prefix_is_of_a_row() -> None:
    assert {name for name in PREFIXES.values() if name and name not in PROVIDERS} == set()
    assert {after for after in WITHIN.values() if after.removesuffix("/") not in PROVIDERS} == set()


WRONG: list[tuple[str, str, str]] = [
    ("no YAML", "model_list: [", "not YAML"),
    ("a tag that runs code", "model_list: !!python/object/apply:os.system ['true']", "not YAML"),
    ("nothing", "", "no model_list"),
    ("a list", "- a", "no model_list"),
    ("no list", "model_list: 7", "no model_list"),
    ("a row that is none", "model_list: [7]", "model_list[0]"),
    ("no params", "model_list: [{model_name: a}]", "model_list[0]"),
    ("a model that is none", "model_list: [{model_name: a, litellm_params: {model: 7}}]", "model_list[0]"),
]


@pytest.mark.parametrize(("text", "message"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_what_is_no_such_file_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(UsageError) as wrong:
        convert(text, "config.yaml")
    assert message in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("model", ["nobody/x", "text-completion-openai/x", "openai/*"])
def test_what_cannot_be_asked_is_left_out_and_told(model: str) -> None:
    imported = listed(row("m", model))
    assert imported.data == {}
    assert len(imported.notices) == 1


TEXTS = st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXTS, v, max_size=3),
    max_leaves=8,
)
ROWS = st.fixed_dictionaries(
    {"model_name": TEXTS.filter(bool), "litellm_params": st.fixed_dictionaries(
        {"model": st.sampled_from(["openai/x", "gpt-5", "ollama/a/b", "xai/y", "vllm/z"])},
        optional={"weight": VALUES, "rpm": VALUES, "order": VALUES, "api_key": TEXTS, "api_base": st.sampled_from(["http://a.test/v1", "http://b.test"]), "timeout": VALUES},
    )}, optional={"model_info": VALUES},
)  # fmt: skip


@settings(max_examples=50)
@given(
    st.lists(ROWS, max_size=5),
    st.fixed_dictionaries({}, optional={"litellm_settings": VALUES, "general_settings": VALUES, "x": VALUES}),
)
def test_any_imported_file_reads_back_and_fits_the_schema(rows: list[Any], more: dict[str, Any]) -> None:
    imported = listed(*rows, **more)
    again = tomllib.loads(imported.toml)
    assert again == imported.data
    assert faults(FORM, again) == []


def test_model_patterns_are_carried_over() -> None:
    rows = [
        row("anthropic/*", "anthropic/*"),
        row("any-*", "groq/llama-*"),
        row("fixed/*", "groq/one"),
        row("*", "openrouter/*"),
    ]
    config = read(listed(*rows).data, {**ENVIRON, "GROQ_API_KEY": "g" * 12}).config
    routes = {
        "anthropic/claude-x": "anthropic/claude-x",
        "any-3": "groq/llama-3",
        "fixed/what": "groq/one",
        "else/x": "openrouter/",
    }
    for name, goes in routes.items():
        (to,) = config.routes(name)
        assert f"{to.provider.name}/{to.model}" == goes


def test_exact_names_count_before_patterns_and_longer_ones_first() -> None:
    data = {"models": {n: {"route": f"ollama/{r}"} for n, r in (("q*", "a-*"), ("qwen*", "b"), ("qwen-1", "c"))}}
    config = read(data, {}).config
    assert [config.routes(n)[0].model for n in ("qwen-1", "qwen-2", "q3")] == ["c", "b", "a-3"]
    with pytest.raises(ProviderError, match="not served here"):
        config.routes("llama")


def test_other_names_of_models_are_models_too() -> None:
    aliases = {"small": "a", "both": ["a", "b"], "hidden": {"model": "b", "hidden": True}, "none": "c", "b": "a"}
    notices = listed(
        row("a", "ollama/a"),
        row("b", "ollama/b"),
        router_settings={"model_group_alias": aliases, "fallbacks": {"a": ["b"]}},
    )
    assert notices.data["models"]["small"] == {"routes": ["ollama/a", "ollama/b"]}
    assert notices.data["models"]["both"] == {"routes": ["ollama/a", "ollama/b"]}  # one deployment, then the others
    assert notices.data["models"]["hidden"] == {"route": "ollama/b"}
    assert "none" not in notices.data["models"]
    assert len([notice for notice in notices.notices if "model_group_alias" in notice]) == 2


HOSTS = ("openai/a", "openai/b", "openai/c")
# (what, parameters of three deployments of one name, settings of the router, balance, route → weight)
SHARED: list[tuple[str, list[dict[str, Any]], dict[str, Any], str, dict[str, float]]] = [
    ("alike", [{}, {}, {}], {}, "weighted", {"a": 1, "b": 1, "c": 1}),
    ("by weight", [{"weight": 9, "rpm": 1}, {"weight": 1}, {"weight": 2}], {}, "weighted", {"a": 9, "b": 1, "c": 2}),
    ("by requests a minute", [{"rpm": 900, "tpm": 1}, {"rpm": 10}, {}], {}, "weighted", {"a": 900, "b": 10, "c": 0}),
    ("by tokens a minute", [{"tpm": 1e5}, {"tpm": 3e5}, {"tpm": 1e5}], {}, "weighted", {"a": 1e5, "b": 3e5, "c": 1e5}),
    ("huge numbers", [{"tpm": 1e9}, {"tpm": 3e9}, {"tpm": 3e9}], {}, "weighted", {"a": 1e6 / 3, "b": 1e6, "c": 1e6}),
    ("all the same", [{"rpm": 6}, {"rpm": 6}, {"rpm": 6}], {}, "weighted", {"a": 1, "b": 1, "c": 1}),
    ("in an order", [{"order": 2}, {"order": 1, "weight": 3}, {"order": 1, "weight": 1}], {}, "weighted",
     {"b": 3, "c": 1, "a": 0}),
    ("the least busy", [{"weight": 9}, {"rpm": 5}, {}], {"routing_strategy": "least-busy"}, "least_in_flight",
     {"a": 1, "b": 1, "c": 1}),
    ("the cheapest, which is not known here", [{}, {}, {}], {"routing_strategy": "cost-based-routing"}, "weighted",
     {"a": 1, "b": 1, "c": 1}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "router", "balance", "weights"), [each[1:] for each in SHARED], ids=[each[0] for each in SHARED]
)
def test_deployments_of_one_name_share_its_requests(
    params: list[dict[str, Any]], router: dict[str, Any], balance: str, weights: dict[str, float]
) -> None:
    rows = [row("gpt", host, **one) for host, one in zip(HOSTS, params, strict=True)]
    imported = listed(*rows, router_settings=router)
    assert tomllib.loads(imported.toml) == imported.data
    config = read(imported.data, {"OPENAI_API_KEY": "k" * 12}).config
    found, _ = config.balance("gpt")
    assert found is not None
    assert (str(found.sharing), found.affinity) == (balance, True)
    assert {to.model: to.weight for to in config.routes("gpt")} == pytest.approx(weights)
    assert [to.model for to in config.routes("gpt")] == list(weights)


def test_fallbacks_are_asked_after_those_that_share() -> None:
    rows = [row("gpt", "openai/a", weight=2), row("gpt", "openai/b", weight=1), row("big", "openai/c")]
    aliases = {"model_group_alias": {"other": "gpt"}, "fallbacks": [{"gpt": ["big"]}]}
    models = listed(*rows, router_settings=aliases).data["models"]
    assert models["gpt"]["routes"] == [
        {"route": "openai/a", "weight": 2},
        {"route": "openai/b", "weight": 1},
        {"route": "openai/c", "weight": 0},
    ]
    assert models["other"] == models["gpt"]
    assert models["big"] == {"route": "openai/c"}


def test_one_deployment_twice_has_both_its_weights() -> None:
    rows = [row("gpt", "openai/a", weight=2), row("gpt", "openai/a", weight=1), row("gpt", "openai/b", weight=1)]
    assert [one["weight"] for one in listed(*rows).data["models"]["gpt"]["routes"]] == [3, 1]


def test_checks_that_keep_conversations_need_no_words() -> None:
    checks = {"optional_pre_call_checks": ["session_affinity", "enforce_model_rate_limits"]}
    imported = listed(row("gpt", "openai/a"), router_settings=checks)
    assert imported.notices == [
        "router_settings.optional_pre_call_checks: enforce_model_rate_limits is not carried over"
    ]


def test_two_deployments_of_one_provider_are_both_asked() -> None:
    hosts = [f"https://{where}.openai.azure.test/" for where in ("eu", "ca")]
    rows = [row("gpt", "azure/gpt-eu", api_base=h, api_key=f"os.environ/{n}") for n, h in zip("AB", hosts, strict=True)]
    notices = listed(*rows)
    assert notices.data["providers"]["azure-deployments-2"]["extends"] == "azure-deployments"
    environ = {**ENVIRON, "A": "a" * 12, "B": "b" * 12}
    with pytest.raises(UsageError, match="set OPENAI_API_VERSION"):
        read(notices.data, environ)
    first, second = read(notices.data, {**environ, "OPENAI_API_VERSION": "2024-10-21"}).config.routes("gpt")
    assert second.request_url("/chat", "gpt-eu") == first.request_url("/chat", "gpt-eu").replace("//eu.", "//ca.")
    assert (second.provider.quirks, second.provider.requirements) == (
        first.provider.quirks,
        first.provider.requirements,
    )
    assert set(second.headers()) == set(first.headers())


def test_a_provider_like_another_is_told_where_there_is_none() -> None:
    for wrong, mistakes in (
        ({"extends": "opnai"}, "take 'openai' or"),
        ({"extends": "openai", "api": "gemini"}, "leave one"),
    ):
        with pytest.raises(UsageError, match=mistakes):
            read({"providers": {"x": wrong}, "models": {"m": {"route": "x/m"}}}, {"OPENAI_API_KEY": "k" * 12})
