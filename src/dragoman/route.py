"""Where one request goes: a provider's row, this user's key and address, and how tools are spoken of there.

Knows providers and dialects by name; performs nothing.  Contract: `key` is in no repr and in no message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from .dialects.rows import DIALECTS, resolve
from .dialects.spec import Dialect
from .effects import PATIENT, Patience
from .errors import UsageError
from .providers import Provider, Tools
from .version import __version__

VERSION_SEGMENT = re.compile(r"/v\d\w*$")
ASK_FOR_URL = "provider {name!r} has no address of its own; give a base URL (--upstream http://127.0.0.1:8080/v1)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way to a model.

    model      what the provider calls it; "" sends the name the caller asked for
    base_url   the root of the API, where it is not the row's
    tools      overrides the row: Tools.TEXT never sends tools, Tools.NATIVE never falls back to text
    dialects   which dialects are listened for in the model's text: "auto", a name, a row, or several
    speak      the dialect of our prompt and of replayed history, where tools are told in text
    compact    one line per tool in the prompt instead of its schema
    nonce      only calls carrying a code made for this request count (dialects of fences)
    prefix     what the chat template has already opened when the model begins (`<think>\\n`)
    stream     True: always stream from the provider; None: as the caller asked
    """

    provider: Provider
    model: str = ""
    base_url: str = ""
    key: str = field(default="", repr=False)
    tools: Tools | None = None
    dialects: str | Dialect | Sequence[str | Dialect] = "auto"
    speak: str | Dialect = "tool_call_fence"
    compact: bool = False
    nonce: bool = False
    prefix: str = ""
    stream: bool | None = None
    patience: Patience = PATIENT

    @property
    def mode(self) -> Tools:
        """How tools travel, before anything was learnt about the model."""
        return self.tools or self.provider.tools

    @property
    def tongue(self) -> Dialect:
        """The row of `speak`."""
        return self.speak if isinstance(self.speak, Dialect) else DIALECTS[self.speak]

    @property
    def ears(self) -> tuple[Dialect, ...]:
        """The rows of `dialects`."""
        return resolve(self.dialects)

    def root(self) -> str:
        """The API's root, without a slash at its end.  Raises UsageError where there is none."""
        base = (self.base_url or self.provider.base_url).strip().rstrip("/")
        if not base:
            raise UsageError(ASK_FOR_URL.format(name=self.provider.name))
        if "://" not in base:
            base = f"http://{base}"
        return base + self.provider.root if not urlsplit(base).path else base

    def url(self, path: str, model: str = "") -> str:
        """The address of `path`; a root that already ends in it, or in its version, is not doubled."""
        root, path = self.root(), path.format(model=quote(model, safe=":@"))
        if root.endswith(path):
            return root
        version = VERSION_SEGMENT.search(root)
        if version and path.startswith(version.group() + "/"):
            path = path.removeprefix(version.group())
        return root + path

    def headers(self) -> Mapping[str, str]:
        """What every request carries: who we are, the row's own headers, the key."""
        ours = {"content-type": "application/json", "user-agent": f"dragoman/{__version__}"}
        return {**ours, **self.provider.headers, **self.provider.auth.headers(self.key)}
