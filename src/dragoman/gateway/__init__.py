"""The gateway: anybody's client in front, any model behind.

`exchange.py` is the machine that serves one request and performs nothing; `gateway/http/asgi.py` runs it for one
ASGI call; `app.py` puts the endpoints together; `discovery.py` finds servers on this machine.
"""

from __future__ import annotations

from .app import create_app as create_app
from .app import serve as serve
from .config.model import Access as Access
from .config.model import GatewayConfig as GatewayConfig
from .config.model import Limits as Limits
from .discovery import Found as Found
from .discovery import discover as discover
