"""A LiteLLM proxy's YAML file → what `dragoman.toml` says of the same.

Knows LiteLLM's words and our file's form; nothing of routes or serving.
Contract: what cannot be carried over becomes a notice, never dropped in silence; a key that stands in the file
becomes a reference to a variable, and is in no notice and no text.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import UsageError
from ...fallback import Sharing
from ...jsontext import dumps
from ...providers.rows import PROVIDERS
from .litellm_sharing import AFFINITIES, STRATEGIES, USUAL, Deployment, deployment, shared

FROM_ENVIRONMENT = re.compile(r"os\.environ/(\w+)")
BARE = re.compile(r"[A-Za-z0-9_-]+")

PREFIXES: Mapping[str, str] = {
    "ollama_chat": "ollama", "hosted_vllm": "vllm", "vertex_ai": "vertex", "vertex_ai_beta": "vertex",
    "together_ai": "together", "fireworks_ai": "fireworks", "lm_studio": "lmstudio", "cohere_chat": "cohere",
    "azure": "azure-deployments", "nvidia_nim": "nvidia", "github_copilot": "github-copilot",
    "litellm_proxy": "litellm", "friendliai": "friendli", "vercel_ai_gateway": "vercel", "anthropic_text": "anthropic",
    "openai_like": "compatible", "custom_openai": "compatible", "llamafile": "llamacpp", "text-completion-openai": "",
}  # fmt: skip
"""LiteLLM's prefixes that are not our names; "" for what is no chat (litellm: docs/providers)."""
WITHIN: Mapping[str, str] = {"bedrock/converse/": "bedrock/", "bedrock/invoke/": "bedrock-invoke/",
                             "openai/responses/": "openai-responses/"}  # fmt: skip
"""Ways within a provider that are rows of ours."""
BEGINNINGS = (("claude-", "anthropic"), ("gemini-", "vertex"), ("command-", "cohere"), ("mistral-", "mistral"))
"""Whose a model without a prefix is; OpenAI's where nothing else fits, as there."""
OPENAI = "https://api.openai.com"
ANY = frozenset({"*", "**"})
"""Names and models that stand for all."""
OTHER_MODES = frozenset(
    {"embedding", "image_generation", "audio_transcription", "audio_speech", "rerank", "moderation"}
)

CARRIED = frozenset({"model", "api_base", "base_url", "api_key", "timeout", "stream_timeout", "weight", "order"})
SHORTEST = 0.01
"""Seconds; our form takes no shorter silence for a failure."""
UNHEEDED = {
    "rpm": "it counts as the weight where there is none; limits are kept for keys ([[keys]] per_minute)",
    "tpm": "the weight where there is neither that nor rpm; limits are kept for keys ([[keys]] tokens_per_minute)",
    "api_version": "set the variable that dragoman list providers names",
    "aws_region_name": "set AWS_REGION",
    "vertex_project": "set GOOGLE_CLOUD_PROJECT",
    "vertex_location": "set GOOGLE_CLOUD_LOCATION",
}
"""Fields of a deployment that are not carried over, and what to do instead."""
KEPT = frozenset({"model_list", "general_settings", "router_settings", "litellm_settings", "environment_variables"})
NOT_YAML = "{source} is not YAML: {why}; mend that line"
NO_LIST = "{source} has no model_list; give a LiteLLM proxy's file (model_list: [{{model_name, litellm_params}}])"


@dataclass(slots=True)
class Imported:
    """What came of a file: the same as `dragoman.toml` says it, the values its references need, what was left out."""

    data: dict[str, Any]
    environ: dict[str, str] = field(default_factory=dict, repr=False)
    notices: list[str] = field(default_factory=list)

    @property
    def toml(self) -> str:
        """The text of the file, notices as comments first."""
        head = "".join(f"# {_one_line(notice)}\n" for notice in self.notices)
        return head + "".join(_tables(self.data, ()))


def convert(text: str, source: str = "the file") -> Imported:
    """What the YAML in `text` says.  Raises UsageError for what is not LiteLLM's."""
    yaml: Any = importlib.import_module("yaml")
    try:
        data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        why = _one_line(f"{getattr(error, 'problem', None) or error} {getattr(error, 'problem_mark', None) or ''}")
        raise UsageError(NOT_YAML.format(source=source, why=why.strip())) from None
    if not isinstance(data, Mapping) or not isinstance(data.get("model_list"), list):
        raise UsageError(NO_LIST.format(source=source))
    return _Import(data).done()


class _Import:
    """Reads one file."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._groups: dict[str, list[Deployment]] = {}
        self._timeouts: dict[str, float] = {}
        self._providers: dict[str, dict[str, Any]] = {}
        self._plain: dict[str, dict[str, str]] = {}
        self._default: list[Deployment] = []
        self._sharing = Sharing.WEIGHTED
        self._out = Imported({})

    def done(self) -> Imported:
        """Everything, read in the order in which it is needed."""
        for name, value in _mapping(self._data, "environment_variables").items():
            if not FROM_ENVIRONMENT.fullmatch(str(value)):
                self._out.environ[str(name)] = str(value)
        for place, row in enumerate(self._data["model_list"]):
            self._deployment(f"model_list[{place}]", row)
        fallbacks = self._fallbacks()
        settings = self._fallback_settings()
        data = self._out.data
        sections: dict[str, Any] = {
            "fallback": settings,
            "keys": self._keys(),
            "providers": self._providers,
            "models": {name: self._routes_of([name], fallbacks) for name in self._groups} | self._aliases(fallbacks),
            "default": shared(self._default, (), self._sharing) if self._default else {},
        }
        data.update({name: value for name, value in sections.items() if value})
        for name in sorted(set(self._data) - KEPT):
            self._notice(f"{name}: not carried over")
        return self._out

    def _notice(self, text: str) -> None:
        if text not in self._out.notices:
            self._out.notices.append(text)

    # ── deployments ──────────────────────────────────────────────────────────

    def _deployment(self, path: str, row: Any) -> None:
        name, params = _named(path, row)
        mode = _mapping(row, "model_info").get("mode")
        if mode in OTHER_MODES:
            self._notice(f"{path} ({name}): {mode} is not served here")
            return
        found = self._route(f"{path} ({name})", name, params)
        if not found:
            return
        if name in ANY:
            self._default.append(deployment(found, params, _mapping(row, "model_info")))
        else:
            self._groups.setdefault(name, []).append(deployment(found, params, _mapping(row, "model_info")))
            timeout = params.get("stream_timeout", params.get("timeout"))
            if _is_number(timeout) and timeout > 0:
                self._timeouts[name] = max(float(timeout), SHORTEST, self._timeouts.get(name, 0.0))

    def _route(self, path: str, name: str, params: Mapping[str, Any]) -> str:
        """`provider/model`; "" for a deployment that cannot be asked, with a notice."""
        for key in sorted(set(params) - CARRIED):
            self._notice(f"{path}: {key} is not carried over; {UNHEEDED.get(key, 'set it with the provider')}")
        provider, model = _split(params["model"], params.get("custom_llm_provider"))
        if provider not in PROVIDERS:
            self._notice(f"{path}: {params['model']!r} is of no provider known here; give it an api in [providers]")
            return ""
        if "*" in model and "*" not in name:
            self._notice(f"{path}: {model!r} is a pattern, and {name!r} is none; name the model that is asked for")
            return ""
        called = self._provider(provider, self._own_settings(name, params))
        return called if not model or (name in ANY and model == "*") else f"{called}/{model}"

    def _own_settings(self, name: str, params: Mapping[str, Any]) -> dict[str, str]:
        """The address and the key that a deployment has of its own."""
        base = self._filled(params.get("api_base") or params.get("base_url"))
        own = {"base_url": base, "key": self._key(name, params.get("api_key"))}
        return {key: value for key, value in own.items() if value}

    def _provider(self, provider: str, given: dict[str, str]) -> str:
        """The name of the row with these settings: the provider's own, or one more."""
        if provider == "openai" and not given.get("base_url", OPENAI).startswith(OPENAI):
            provider = "compatible"  # `openai/` with an address of its own is how LiteLLM says: anything like it
        row = PROVIDERS[provider]
        if provider == "compatible":
            return self._one_more("server", given)
        if self._plain.setdefault(row.name, given) != given:
            return self._one_more(row.name, {"extends": row.name} | given)
        if given:
            self._providers[row.name] = given
        return row.name

    def _one_more(self, name: str, made: dict[str, Any]) -> str:
        """The name of the row of the file that says this, by now."""
        known = next((name for name, value in self._providers.items() if value == made), "")
        called = known or self._free(name)
        self._providers[called] = made
        return called

    def _free(self, name: str) -> str:
        numbered = (f"{name}-{number}" for number in range(2 if name in PROVIDERS else 1, 10_000))
        return next(called for called in numbered if called not in self._providers and called not in PROVIDERS)

    # ── values ───────────────────────────────────────────────────────────────

    def _filled(self, value: Any) -> str:
        """A text with LiteLLM's references as ours."""
        return FROM_ENVIRONMENT.sub(r"${\1}", value).strip() if isinstance(value, str) else ""

    def _key(self, name: str, value: Any) -> str:
        """A key as a reference; one that stands in the file gets a variable of its own."""
        if not isinstance(value, str) or not value.strip():
            return ""
        if FROM_ENVIRONMENT.fullmatch(value.strip()):
            return self._filled(value)
        known = next((var for var, known_value in self._out.environ.items() if known_value == value.strip()), "")
        variable = known or self._variable(name)
        self._out.environ[variable] = value.strip()
        self._notice(f"a key stands in the file: {name}'s; set {variable} to it, keys do not belong into files")
        return f"${{{variable}}}"

    def _variable(self, name: str) -> str:
        stem = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper() or "MODEL"
        names = [f"{stem}_KEY", *(f"{stem}_KEY_{number}" for number in range(2, 10_000))]
        return next(one for one in names if one not in self._out.environ)

    def _keys(self) -> list[dict[str, Any]]:
        general = _mapping(self._data, "general_settings")
        for key in sorted(set(general) - {"master_key"}):
            self._notice(f"general_settings.{key}: not carried over")
        master = self._key("master", general.get("master_key"))
        return [{"name": "master", "key": master}] if master else []

    # ── fallbacks ────────────────────────────────────────────────────────────

    def _settings(self) -> Iterator[tuple[str, str, Any]]:
        for section in ("router_settings", "litellm_settings"):
            for key, value in _mapping(self._data, section).items():
                yield section, str(key), value

    def _fallbacks(self) -> dict[str, list[str]]:
        """Model → the models asked after it; "*" for every model."""
        fallbacks: dict[str, list[str]] = {}
        for _, key, value in self._settings():
            if key in {"fallbacks", "context_window_fallbacks"}:
                for name, others in _pairs(value):
                    fallbacks.setdefault(name, []).extend(map(str, others if isinstance(others, list) else [others]))
            elif key == "default_fallbacks" and isinstance(value, list):
                fallbacks.setdefault("*", []).extend(map(str, value))
        return fallbacks

    def _routes_of(self, names: Sequence[str], fallbacks: Mapping[str, list[str]]) -> dict[str, Any]:
        """The row whose requests the deployments of the first share; the others and the fallbacks are asked after."""
        after = [each.route for name in names[1:] for each in self._groups[name]]
        for name in names:
            for other in (*fallbacks.get(name, ()), *fallbacks.get("*", ())):
                if other not in self._groups:
                    self._notice(f"the fallback {other!r} of {name!r} is no model of the list; it is left out")
                after += [each.route for each in self._groups.get(other, ())]
        row = shared(self._groups[names[0]], after, self._sharing)
        timeouts = [self._timeouts[name] for name in names if name in self._timeouts]
        return row | ({"timeout": max(timeouts)} if timeouts else {})

    def _aliases(self, fallbacks: Mapping[str, list[str]]) -> dict[str, dict[str, Any]]:
        """Other names of models; several for one name are asked in order."""
        aliases: dict[str, dict[str, Any]] = {}
        for section, key, value in self._settings():
            for alias, target in _pairs(value) if key == "model_group_alias" and isinstance(value, Mapping) else ():
                names = [name for name in _targets(target) if name in self._groups]
                if alias in self._groups:
                    self._notice(f"{section}.{key}: {alias!r} is a model of the list already; that one holds")
                elif not names:
                    self._notice(f"{section}.{key}: {alias!r} stands for no model of the list; left out")
                else:
                    aliases[alias] = self._routes_of(names, fallbacks)
        return aliases

    def _fallback_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        taken = {"num_retries": "retries", "cooldown_time": "cooldown"}
        heeded = {"fallbacks", "context_window_fallbacks", "default_fallbacks", "model_group_alias"}
        for section, key, value in self._settings():
            if key in taken and _is_number(value) and value >= 0:
                settings[taken[key]] = int(value) if key == "num_retries" else value
            elif key == "routing_strategy":
                self._sharing = STRATEGIES.get(str(value), STRATEGIES[USUAL])
                if str(value) not in STRATEGIES:
                    self._notice(f"{section}.routing_strategy: {value}: requests are shared by weight instead")
            elif key == "optional_pre_call_checks":
                self._checks(f"{section}.{key}", value)
            elif key not in heeded:
                self._notice(f"{section}.{key}: not carried over")
        return settings

    def _checks(self, path: str, value: Any) -> None:
        for check in value if isinstance(value, list) else [value]:
            if str(check) not in AFFINITIES:
                self._notice(f"{path}: {check} is not carried over")


def _named(path: str, row: Any) -> tuple[str, Mapping[str, Any]]:
    """The name and the parameters of a deployment.  Raises UsageError for what is none."""
    name, params = (row.get("model_name"), row.get("litellm_params")) if isinstance(row, Mapping) else ("", None)
    if isinstance(name, str) and isinstance(params, Mapping) and isinstance(params.get("model"), str):
        return name, params
    raise UsageError(f"{path}: wants model_name and litellm_params with a model; add them")


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """The pairs of a mapping, or of a list of mappings."""
    for row in value if isinstance(value, list) else [value]:
        yield from ((str(name), one) for name, one in (row.items() if isinstance(row, Mapping) else ()))


def _targets(target: Any) -> list[Any]:
    """The models an alias stands for."""
    meant = target.get("model") if isinstance(target, Mapping) else target
    return meant if isinstance(meant, list) else [meant]


def _split(model: str, provider: Any) -> tuple[str, str]:
    """LiteLLM's name of a model as our provider and its model."""
    for before, after in WITHIN.items():
        if model.startswith(before):
            model = after + model.removeprefix(before)
    if isinstance(provider, str) and provider:
        model = f"{provider}/{model}"
    prefix, found, rest = model.partition("/")
    if not found:
        return _owner(model), model
    if prefix in PREFIXES:
        return PREFIXES[prefix], rest
    return (PROVIDERS[prefix].name, rest) if prefix in PROVIDERS else ("", model)


def _owner(model: str) -> str:
    """Whose a model without a prefix is; "" for a pattern of all."""
    if model in ANY:
        return ""
    return next((owner for beginning, owner in BEGINNINGS if model.startswith(beginning)), "openai")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _mapping(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


# ── TOML ─────────────────────────────────────────────────────────────────────


def _tables(data: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Plain values first, then tables, then tables of tables; parents without values of their own are not written."""
    plain = {key: value for key, value in data.items() if not _is_table(value)}
    if plain and path:
        yield f"\n[{_dotted(path)}]\n"
    yield from _lines(plain)
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _tables(value, (*path, key))
        elif _is_table(value):
            for row in value:
                yield f"\n[[{_dotted((*path, key))}]]\n"
                yield from _lines(row)


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_key_of(key)} = {_value(value)}\n" for key, value in row.items())


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and isinstance(value[0], Mapping))


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_key_of, path))


def _key_of(name: str) -> str:
    return name if BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """A JSON text is a TOML value too, but for the control character that JSON leaves bare."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return dumps(value).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
