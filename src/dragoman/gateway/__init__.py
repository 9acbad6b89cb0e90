"""The gateway: anybody's client in front, any model behind.

`exchange.py` is the machine that serves one request and performs nothing; `gateway/http/asgi.py` runs it for one
ASGI call; `app.py` puts the endpoints together; `discovery.py` finds servers on this machine.  A name is loaded when it
is first used: who reads settings needs no server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..late import late_names, names_shown

if TYPE_CHECKING:
    from .app import create_app as create_app
    from .app import serve as serve
    from .config.model import Access as Access
    from .config.model import GatewayConfig as GatewayConfig
    from .config.model import Limits as Limits
    from .discovery import Found as Found
    from .discovery import discover as discover

_FACE = {
    ".app": "create_app serve",
    ".config.model": "Access GatewayConfig Limits",
    ".discovery": "Found discover",
}
_find = late_names(__name__, _FACE)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return names_shown(globals(), _FACE)
