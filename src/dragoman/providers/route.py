"""One request's way: a provider's row, this user's key and address, and the dialects of tools there.

Knows providers and dialects by name; performs nothing.  Contract: `key` is in no repr and in no message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ..dialects.rows.nonce import carries_a_nonce
from ..dialects.rows.table import DIALECTS, resolve, row_of
from ..dialects.spec import Dialect
from ..effects import DEFAULT_TIMEOUTS, Timeouts
from ..errors import UsageError, one_of
from ..memo import CONSTANTS, memoize
from ..types import NOTHING, Issue
from ..version import __version__
from .auth import KeyHeader, SignedKey
from .families import Profile, order, profile
from .spec import Provider, Tools

VERSION_SEGMENT = re.compile(r"/v\d\w*$")
IN_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Characters a setting may put into an address: any other could lead the key to another host."""
GEMINI_NAME = "models/"
OURS = "tool_call_fence"
"""The dialect of a model of which nothing better is known."""
CONTROL = re.compile(r"[|｜]|\[TOOL_CALLS\]|\]<\]")
"""Marks that are special tokens: servers leave them out of the text they hand on."""
SHARE = 4
"""The tool prompt may take one token of so many of the context; the rest is for the conversation."""
NONCE_IN_TEXT = (
    'a nonce stands in calls that are written as text, and tools = "native" lets none be; leave out one of the two'
)
NO_FENCE = (
    "calls of the dialect {name!r} have no fence, and cannot carry a nonce; take {ours!r}, or leave out one of the two"
)
NO_ROW = (
    "route: provider is {given!r}; give a row, as COMPATIBLE['openai_chat'] of dragoman.providers.rows, or name the "
    "model as 'provider/model'"
)
DOUBTS = ("ask", "run", "text")
SWITCHES = ("compact", "strict", "nonce", "stream")
ASK_FOR_URL = "provider {name!r} has no address of its own; give a base URL (base_url, --upstream): http://127.0.0.1:8080/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way to a model.

    model           what the provider calls it; "" sends the name the caller asked for
    base_url        the root of the API, where it is not the row's
    tools           overrides the row: Tools.TEXT never sends tools, Tools.NATIVE never falls back to text
    dialects        the dialects looked for in the model's text: "auto" (all, those of its family first), a
                    name, a row, or several
    prompt_dialect  the dialect of our prompt and of replayed history, where tools travel as text; "" for the family's
                    own
    compact         one line per tool in the prompt instead of its schema; None: where the full prompt is over `budget`
    budget          tokens the tool prompt may take; 0: a quarter of the context the model's family is known to have
    profiles        rows of your own about models, before ours
    doubt           what becomes of calls in the text that were perhaps not meant: "ask" (they are in
                    `Response.doubtful`), "run" or "text"
    strict          calls in the text must be as they were asked for, to the letter: what needs mending is asked for
                    again, and in the JSON protocol so is every answer that is not one action or one final
    nonce           only calls carrying a code made for this request count (dialects of fences).  They are written as
                    text, so tools are told in text, whatever the provider can do
    key             the provider's key;  `secrets` and `settings` what else it needs: a client's id, a region
    fields          fields of the body that go out with every request, as the environment asks
    issues          issues to report with every answer: values of the environment that could not be read
    prefix          what the chat template has already opened when the model begins (`<think>\\n`); "": as its family's
                    does
    stream          True: always stream from the provider; None: as the caller asked
    timeouts        seconds to wait for a connection, and for a sign of life
    weight          its share of a model's requests, where its routes share them; 0: asked after all others
    """

    provider: Provider
    model: str = ""
    base_url: str = ""
    key: str = field(default="", repr=False)
    secrets: Mapping[str, str] = field(default=NOTHING, repr=False)
    settings: Mapping[str, str] = NOTHING
    fields: Mapping[str, Any] = NOTHING
    issues: tuple[Issue, ...] = ()
    tools: Tools | None = None
    dialects: str | Dialect | Sequence[str | Dialect] = "auto"
    prompt_dialect: str | Dialect = ""
    compact: bool | None = None
    budget: int = 0
    profiles: Sequence[Profile] = ()
    doubt: str = "ask"
    strict: bool = False
    nonce: bool = False
    prefix: str = ""
    stream: bool | None = None
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Raises UsageError for what is no way to a model, and for a nonce that no call could carry.

        It would be asked for, and not hold.
        """
        self._check()
        rows = resolve(self.dialects) if self.dialects != "auto" else ()
        own = (row_of(self.prompt_dialect),) if self.prompt_dialect else ()
        if not self.nonce:
            return
        if self.tools is Tools.NATIVE:
            raise UsageError(NONCE_IN_TEXT)
        for row in (*rows, *own):
            if not carries_a_nonce(row):
                raise UsageError(NO_FENCE.format(name=row.name, ours=OURS))

    def _check(self) -> None:
        if not isinstance(self.provider, Provider):
            raise UsageError(NO_ROW.format(given=self.provider))
        if self.tools is not None:
            object.__setattr__(self, "tools", one_of(Tools, self.tools, "route: tools"))
        if self.doubt not in DOUBTS:
            raise UsageError(f"route: doubt is {self.doubt!r}; give one of {', '.join(DOUBTS)}")
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool | None):
                raise UsageError(f"route: {name} is {getattr(self, name)!r}; give True or False")

    @property
    def mode(self) -> Tools:
        """Ways for tools, before anything was learnt about the model.  A call by the wire cannot carry a nonce."""
        return Tools.TEXT if self.nonce else self.tools or self.provider.tools

    def family(self, model: str) -> Profile:
        """The family of this model, wherever it is served."""
        return profile(model, tuple(self.profiles))

    def prompt_dialect_for(self, model: str) -> Dialect:
        """The row of `prompt_dialect`; by default the family's own where ordinary text can carry it, else our fence.

        A nonce asks for the fence: nothing else can carry one.
        """
        if self.prompt_dialect:
            return self.prompt_dialect if isinstance(self.prompt_dialect, Dialect) else DIALECTS[self.prompt_dialect]
        own = self.family(model).dialect
        row = DIALECTS[own] if own and not self.nonce else DIALECTS[OURS]
        return DIALECTS[OURS] if _of_control_tokens(row) else row

    def parser_dialects(self, model: str) -> tuple[Dialect, ...]:
        """The rows of `dialects`."""
        return order(model, tuple(self.profiles)) if self.dialects == "auto" else resolve(self.dialects)

    def allowance(self, model: str) -> int:
        """Tokens the tool prompt may take; 0 where nothing is known."""
        return self.budget or self.family(model).context // SHARE

    def root(self) -> str:
        """The API's root, without a slash at its end.  Raises UsageError where there is none."""
        base = (self.base_url or self._own_root()).strip().rstrip("/")
        if not base:
            raise UsageError(ASK_FOR_URL.format(name=self.provider.name))
        if "://" not in base:
            base = f"http://{base}"
        return base + self.provider.root if not urlsplit(base).path else base

    def _own_root(self) -> str:
        """The row's address with this user's settings in it."""
        for setting in self._named_in(self.provider.base_url):
            value = self.setting(setting)
            if not IN_HOST.fullmatch(value):
                why = "cannot stand in a host name; give letters, digits, dots and dashes"
                raise UsageError(f"{setting} {value!r} {why}")
        return self._filled(self.provider.base_url)

    def _filled(self, form: str) -> str:
        """`form` with the settings it names."""
        return form.format_map({name: self.setting(name) for name in self._named_in(form)})

    def _named_in(self, form: str) -> list[str]:
        return [setting.name for setting in self.provider.settings if f"{{{setting.name}}}" in form]

    def setting(self, name: str) -> str:
        """The value of a setting of the row.  Raises UsageError where it is wanted and missing."""
        row = next(setting for setting in self.provider.settings if setting.name == name)
        if row.of:
            value = self.setting(row.of)
            return row.words.get(value) or row.form.format_map({row.of: value})
        value = self.settings.get(name) or row.default
        if not value and row.required:
            names = " or ".join(row.env) or name
            raise UsageError(f"provider {self.provider.name!r} wants its {name}; set {names}")
        return value

    def url(self, path: str, model: str = "") -> str:
        """The address of `path`; a root that already ends in it, or in its version, is not doubled."""
        name = model.removeprefix(GEMINI_NAME) if path.startswith(f"/{GEMINI_NAME}") else model
        root, path = self.root(), path.format(model=quote(name, safe=":@", errors="replace"))
        if root.endswith(path):
            return root
        version = VERSION_SEGMENT.search(root)
        if version and path.startswith(version.group() + "/"):
            path = path.removeprefix(version.group())
        return root + path

    def request_url(self, path: str, model: str, *, stream: bool = False) -> str:
        """The address requests go to, or those for a `stream`; `path` is the codec's."""
        own = (self.provider.stream_path if stream else "") or self.provider.path
        url = self.url(own or path, model)
        query = urlencode({name: self._filled(form) for name, form in self.provider.query.items()})
        return f"{url}{'&' if '?' in url else '?'}{query}" if query else url

    def headers(self) -> Mapping[str, str]:
        """The headers of every request: who we are, the row's own headers, the key where it is sent as it is."""
        ours = {"content-type": "application/json", "user-agent": f"dragoman/{__version__}"}
        auth = self.provider.auth
        key = auth.headers(self.key) if isinstance(auth, KeyHeader) else {}
        fixed = self.provider.headers.items()
        given = {name: self._filled(form) if self._named_in(form) else form for name, form in fixed}
        return {**ours, **given, **key}

    @property
    def hidden(self) -> tuple[str, ...]:
        """Values that must not be shown."""
        signing = self.key.partition(".")[2] if isinstance(self.provider.auth, SignedKey) else ""
        return tuple(filter(None, (self.key, signing, *self.secrets.values())))


@memoize(CONSTANTS)
def _of_control_tokens(row: Dialect) -> bool:
    marks = (mark for span in (row.section, row.call, row.tool) for mark in span.open[:1])
    return row.segments is not None or any(map(CONTROL.search, marks))
