"""A provider: one frozen record, every field data.

Knows codecs by name, `Quirks` and `WireRequirements` by field, ways to prove who asks; performs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..codecs.shared.spec import PLAIN, Quirks
from ..conversation.cache_markers import Caches
from ..conversation.requirements import REQUIREMENTS, UNRESTRICTED, WireRequirements
from ..types import NOTHING
from .auth import Auth, KeyHeader, Setting


class Tools(StrEnum):
    """Ways for tools to a provider: by its wire, by text only, or by its wire and, where the model cannot, by text."""

    NATIVE = "native"
    TEXT = "text"
    BOTH = "both"


class ConstraintKind(StrEnum):
    """Constraints that a server can put on decoding."""

    SCHEMA = "schema"    # a schema of the whole answer, as its API writes one (`response_format`, `format`)
    TAGS = "tags"        # schemas between tags, text elsewhere free: `response_format` of type `structural_tag`
    GRAMMAR = "grammar"  # GBNF in the field `grammar`


class Signal(StrEnum):
    """Facts about a request that a header states."""

    INITIATOR = "initiator"  # "user" where the user spoke last, else "agent": results go back
    VISION = "vision"  # "true" where there are images, else not sent
    BETAS = "betas"  # the unfinished features of Anthropic's API that the client asks for


class SwitchFormat(StrEnum):
    """Formats of a switch's value."""

    JSON_ARRAY = "json_array"
    NAMES = "names"  # separated by commas


@dataclass(frozen=True, slots=True)
class Switch:
    """An environment variable that puts something into every request: into the body's field `field`.

    `besides` are fields sent along with it.
    """

    env: str
    field: str
    format: SwitchFormat
    besides: Mapping[str, str] = NOTHING


@dataclass(frozen=True, slots=True)
class Variant:
    """An environment variable that chooses another row: where `env` is `value` ("" for anything), `row` is meant."""

    env: str
    value: str
    row: str


@dataclass(frozen=True, slots=True)
class ModelList:
    """The list of a provider's models: the path below the root, the key of the list, the key of a name."""

    path: str = "/models"
    items: str = "data"
    name: str = "id"


class EvidenceKind(StrEnum):
    """Kinds of evidence for a row, the best first."""

    RECORDED = "recorded traffic"
    SDK = "official SDK source"
    DOCS = "vendor documentation"
    OTHERS = "third-party source"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something a row rests on: its kind, where it stands, the day it was read (2026-11-22)."""

    kind: EvidenceKind
    address: str
    read: str


OPENAI_LIST = ModelList()
OLLAMA_LIST = ModelList("/api/tags", "models", "name")
ANTHROPIC_LIST = ModelList("/v1/models")
GEMINI_LIST = ModelList("/models", "models", "name")
COHERE_LIST = ModelList("/v1/models", "models", "name")
NO_LIST = ModelList("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One row.

    base_url  the root of its API, settings in braces; `url_env` are the environment variables that may replace it
    root      completes a base URL without a path (people write http://127.0.0.1:8080)
    path      the place of requests below the root, where that is not the codec's path; `stream_path` that of streams,
              where it is another; `query` follows the address
    auth      how a key is sent, and where it is looked for; `or_auth` are other ways, taken where their key is set
    settings  values the address needs: a region, an account
    typed     does it know the typed tools of its API's maker (`bash_20250124`, `local_shell`)?  Else they are functions
    tools     see `Tools`;  `quirks` departures of its wire;  `requirements` its own, in place of the codec's
    constraints  those it can put on decoding, to hold a model to its dialect where tools travel as text
    headers   sent with every request, settings in braces;  `signals` headers that describe the request
    caches    cache markers it takes of a model of which nothing is known
    endpoints  endpoints beside chat that it has (`providers/endpoints.py`), and their paths below the root
    port      its usual port on one's own machine, 0 for services
    model_env variables that name the model where nobody does
    notes     features it does not support or has in its own way, where no field says so
    evidence  on what we know its address, its wire and its proof of who asks; rows of ours have some
    """

    name: str
    codec: str
    base_url: str = ""
    root: str = "/v1"
    path: str = ""
    stream_path: str = ""
    query: Mapping[str, str] = NOTHING
    auth: Auth = KeyHeader(required=False)  # noqa: RUF009
    or_auth: tuple[Auth, ...] = ()
    settings: tuple[Setting, ...] = ()
    tools: Tools = Tools.BOTH
    typed: bool = False
    constraints: frozenset[ConstraintKind] = frozenset()
    quirks: Quirks = PLAIN
    requirements: WireRequirements | None = None
    headers: Mapping[str, str] = NOTHING
    signals: Mapping[str, Signal] = NOTHING
    models: ModelList = OPENAI_LIST
    caches: Caches = Caches.ALL
    endpoints: Mapping[str, str] = NOTHING
    url_env: tuple[str, ...] = ()
    model_env: tuple[str, ...] = ()
    switches: tuple[Switch, ...] = ()
    variant: Variant | None = None
    port: int = 0
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    docs: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def wire_requirements(self) -> WireRequirements:
        """Its requirements of a conversation: its own, or its codec's."""
        return self.requirements or REQUIREMENTS.get(self.codec, UNRESTRICTED)

    @property
    def lacks(self) -> tuple[str, ...]:
        """Features it does not support, in words, for people."""
        refused = {
            "tools (told as text)": self.tools is Tools.TEXT,
            "tool_choice required": "required" not in self.quirks.choices,
            "a named tool_choice": "named" not in self.quirks.choices,
            "tool_choice none": "none" not in self.quirks.choices,
            "a list of its models": not self.models.path,
            **{f"the field {field}": True for field in sorted(self.quirks.omit)},
        }
        return (*(word for word, missing in refused.items() if missing), *self.notes)
