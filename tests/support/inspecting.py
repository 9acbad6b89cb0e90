"""What the tests of the inspector share: a gateway that records, and what its page asks."""

from __future__ import annotations

from typing import Any

from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.inspector.recorder import Recorder
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import ScriptedPeer

from .asgi import Reply, call

SECRET = "the-providers-own-secret"
HERE = {"host": "127.0.0.1:4242"}
JSON = {**HERE, "content-type": "application/json"}


def recording(
    memory: ScriptedPeer,
    back: str = "openai_chat",
    *,
    config: dict[str, Any] | None = None,
    recorder: Any = None,
    **route: Any,
) -> tuple[Any, Recorder]:
    """A gateway before a scripted model, and what is recorded of it."""
    to = Route(provider=COMPATIBLE[back], base_url="http://model.test", key=SECRET, **route)
    kept = recorder or Recorder()
    return create_app(GatewayConfig(**{"default": to, **(config or {})}), memory, observers=[kept]), kept


def see(app: Any, path: str, **headers: str) -> Any:
    """What the page is told."""
    reply = look(app, path, **headers)
    assert reply.status == 200, reply.body
    return reply.json


def look(app: Any, path: str, **headers: str) -> Reply:
    """The whole answer to the page."""
    return call(app, f"/inspect/api/{path}", method="GET", headers={**HERE, **headers})


def tell(app: Any, path: str, body: Any, **headers: str) -> Reply:
    """What the page sends."""
    return call(app, f"/inspect/api/{path}", body, headers={**JSON, **headers})
