"""`/inspect`: the page, and what it asks: exchanges as they happen, their bytes, readings, repetitions, exports.

Knows ASGI, records and what shows them; nothing of how they are recorded.
Contract: recordings are shown only to whoever may come in: a key where keys are asked for (one sees what was asked
with it, unless it may see all), this machine's own pages where none are; what others' pages ask is refused.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qs, urlsplit

from ...dialects.rows.table import DIALECTS
from ...display import KINDS as TEXT_KINDS
from ...display import stylesheet
from ...errors import CodecError, DragomanError, UsageError
from ...turn.habits import Habits
from ...version import __version__
from ..config.model import Access, Limits
from ..exchange import Head
from ..http.asgi import Receive, Scope, Send, answer
from ..http.endpoints import ACCESS, Endpoint, Guarded, Methods, headers_of, problem, send_json
from ..http.request_body import Gone, read_body, read_json
from ..recordings.store import Unavailable
from .export import curl, curl_upstream, dialect_vector, wire_vector
from .habits import HabitList
from .line import row, session
from .recorder import Recorder
from .recording import Body, Hop, Recording
from .replay_request import reading
from .view import whole, wire

N = TypeVar("N", int, float)

log: logging.Logger = logging.getLogger("dragoman.gateway")

STATIC = Path(__file__).parent / "static"
PAGE = "inspect.html"
COLOURS = "colours.css"
"""A file of the page that is made of the table of colours."""
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
ROOT = "/inspect"
API = f"{ROOT}/api"
LONGEST_WAIT = 2.0
"""Seconds a page may wait for news: no longer than a gateway that ends is held up by it."""
MOST_ASKED = 32 * 1024 * 1024
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "cache-control": "no-store",
    "content-security-policy": CSP,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
OFF = (
    "the inspector is off, because it keeps what is said; turn it on with dragoman serve --inspect, "
    "DRAGOMAN_INSPECT=true, or inspect = true below [server]"
)
FOREIGN = "this was asked by another site's page; open the inspector at its own address"
NAMELESS = (
    "without keys the inspector answers only to an address of this machine, not to the name {host!r}; "
    "open it as http://127.0.0.1:PORT/inspect, or set [[keys]]"
)
NOT_JSON = "send application/json; pages of others cannot"
FORGOTTEN = "exchange {number} is not kept (any more); the newest are in the list"
NO_STEP = "exchange {number} has no step {hop}; see its steps"
WAS_CUT = "the request was longer than is kept, so it cannot be sent again; send it from the client"
FAILED = "the inspector failed here, which is a mistake of ours; the gateway's log says where"
RUNNING = "the exchange still runs; wait for its end"

Handler: TypeAlias = Callable[[Scope, Mapping[str, Any]], Any]


class Off:
    """What the address says where nobody asked for an inspector."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say it."""
        await send_json(send, problem(OFF, "not_found_error"), 404)


class Inspector:
    """The page and its questions, over what `recorder` keeps; `access` gives the keys that hold now.

    `habits` are what models have confirmed, which the page shows and lets forget.
    """

    def __init__(self, recorder: Recorder, access: Callable[[], tuple[Access, ...]], habits: Habits) -> None:
        self._recorder, self._access, self._habits = recorder, access, HabitList(habits)
        self._repeating: set[asyncio.Task[None]] = set()

    def routes(self) -> Iterator[tuple[str, Endpoint]]:
        """The addresses, and what serves them."""
        files = {path.name: path for path in sorted(STATIC.iterdir()) if path.suffix in KINDS}
        for address, name in [(ROOT, PAGE), (f"{ROOT}/", PAGE), *((f"{ROOT}/{name}", name) for name in files)]:
            yield address, Methods(GET=_File.read(files[name]))
        yield f"{ROOT}/{COLOURS}", Methods(GET=_File(KINDS[".css"], stylesheet().encode()))
        exchange = f"{API}/exchanges/{{number:int}}"
        yield f"{API}/about", self._served(GET=self._about)
        yield f"{API}/exchanges", self._served(GET=self._news, DELETE=self._clear)
        yield f"{API}/search", self._served(GET=self._search)
        yield f"{API}/sessions", self._served(GET=self._sessions)
        yield f"{API}/habits", self._served(GET=self._shown_habits, DELETE=self._forget_habits)
        yield exchange, self._served(GET=self._whole)
        yield f"{exchange}/wire/{{which}}", self._served(GET=self._wire)
        yield f"{exchange}/export/{{form}}", self._served(GET=self._export)
        yield f"{exchange}/again", self._served(POST=self._again)
        yield f"{exchange}/judge", self._served(POST=self._judge)

    def _served(self, **handlers: Handler) -> Endpoint:
        asked = {method: Guarded(_Question(handle), self._access) for method, handle in handlers.items()}
        return _Own(Methods(**asked), lambda: bool(self._access()))

    # ── whose exchanges ──────────────────────────────────────────────────────

    def _seen(self, scope: Scope) -> Iterator[Recording]:
        """The exchanges this asker may see."""
        return (recording for recording in self._recorder if _may_see(scope, recording))

    async def _record(self, scope: Scope) -> Recording:
        number = int(scope["path_params"]["number"])
        recording = self._recorder.get(number)
        if recording is None or not _may_see(scope, recording):
            raise Missing(FORGOTTEN.format(number=number))
        return recording

    def _hop(self, recording: Recording, asked: Any) -> Hop:
        """The step asked for, the last one where none is named."""
        hops, text = recording.hops, str(asked if asked is not None else "")
        at = int(text) if text.lstrip("-").isdigit() else len(hops) - 1
        if not 0 <= at < len(hops):
            raise Missing(NO_STEP.format(number=recording.number, hop=at))
        return hops[at]

    # ── what is asked ────────────────────────────────────────────────────────

    def _about(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        return {
            "version": __version__,
            "process": os.getpid(),
            "dialects": sorted(DIALECTS),
            "kinds": [[name, kind.sign, kind.says] for name, kind in TEXT_KINDS.items()],
            "bytes": self._recorder.size,
            "most_bytes": self._recorder.most_bytes,
            "most": self._recorder.most,
            "stored": False,
        }

    async def _news(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        """The rows that changed since a version; waits for some."""
        since = number_in(asked, "since", int)
        await self._recorder.changed(since, min(number_in(asked, "wait", float), LONGEST_WAIT))
        seen = list(self._seen(scope))
        rows = [row(recording) for recording in seen if recording.version > since]
        return {
            "process": os.getpid(),
            "version": self._recorder.version,
            "numbers": [seen[0].number if seen else 0, len(seen)],
            "dropped": self._recorder.dropped,
            "bytes": self._recorder.size,
            "rows": rows,
        }

    def _clear(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        for recording in self._seen(scope):
            self._recorder.forget(recording.number)
        return {}

    def _search(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        """The numbers of the exchanges in whose words or bytes something stands."""
        wanted = str(asked.get("q", ""))
        seen = list(self._seen(scope))
        return lambda: {"numbers": [recording.number for recording in seen if recording.mentions(wanted)]}

    def _sessions(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        """The sessions of these exchanges, the one last heard of first."""
        seen: dict[str, list[Recording]] = {}
        for recording in reversed(list(self._seen(scope))):
            seen.setdefault(recording.session, []).append(recording)
        return {"sessions": [session(name, each) for name, each in seen.items() if name], "more": False}

    def _shown_habits(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        return {"habits": self._habits.shown(scope.get(ACCESS))}

    def _forget_habits(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        return {"forgotten": self._habits.forget(scope.get(ACCESS), asked)}

    async def _whole(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        recording = await self._record(scope)
        return lambda: whole(recording)

    async def _wire(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        recording, which = await self._record(scope), scope["path_params"]["which"]
        body = self._body(recording, which)
        return lambda: wire(recording, body)

    def _body(self, recording: Recording, which: str) -> Body:
        name, _, number = which.partition("-")
        if name in {"request", "response"} and not number:
            return recording.request if name == "request" else recording.response
        hop = self._hop(recording, number)
        if name not in {"sent", "got"}:
            raise UsageError(f"there are no bytes {which!r}; ask for request, response, sent-N or got-N")
        return hop.sent if name == "sent" else hop.got

    async def _export(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        recording, form, hop = await self._record(scope), scope["path_params"]["form"], asked.get("hop")
        if form == "curl":
            origin = f"{scope.get('scheme', 'http')}://{headers_of(scope).get('host', '127.0.0.1')}"
            return {"text": curl_upstream(self._hop(recording, hop)) if hop else curl(recording, origin)}
        if recording.live:
            raise UsageError(RUNNING)
        if form == "wire":
            return lambda: _as_line(*wire_vector(recording, self._hop(recording, hop)))
        if form == "dialect":
            name = str(asked.get("dialect", ""))
            if name and name not in DIALECTS:
                raise UsageError(f"there is no dialect {name!r}; see dragoman list dialects")
            return lambda: _as_line("", dialect_vector(recording, self._hop(recording, hop), name))
        raise UsageError(f"there is no export {form!r}; ask for dialect, wire or curl")

    async def _judge(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        recording = await self._record(scope)
        hop = self._hop(recording, asked.get("hop"))
        if recording.live:
            raise UsageError(RUNNING)
        return lambda: reading(recording, hop, asked)

    async def _again(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        """Send the client's request once more; the new exchange is found by its number."""
        recording = await self._record(scope)
        if recording.request.is_cut:
            raise UsageError(WAS_CUT)
        repeat = self._recorder.repeat(recording.number, keys_of(scope))
        if repeat is None:
            raise Missing(FORGOTTEN.format(number=recording.number))
        self._run(repeat)
        return {"of": recording.number, "after": self._recorder.count}

    def _run(self, repeat: Callable[[], Awaitable[None]]) -> None:
        """Serve it beside what asked for it."""
        task = asyncio.ensure_future(_awaited(repeat))
        self._repeating.add(task)
        task.add_done_callback(self._repeating.discard)


async def _awaited(repeat: Callable[[], Awaitable[None]]) -> None:
    await repeat()


def _as_line(name: str, vector: Mapping[str, Any]) -> dict[str, Any]:
    """A vector as a line of its file."""
    where = f"codecs/{name}" if name else f"dialects/{vector['id'].partition('-')[0]}"
    return {"file": f"tests/vectors/{where}.jsonl", "text": json.dumps(vector, ensure_ascii=False)}


def _may_see(scope: Scope, recording: Recording) -> bool:
    """What was asked with a key is seen with that key, or with one that may see all."""
    access: Access | None = scope.get(ACCESS)
    if access is None or access.inspect:
        return True
    return recording.exchange is not None and recording.exchange.key == access.name


def keys_of(scope: Scope) -> dict[bytes, bytes]:
    """What of a request says who asks."""
    named = {b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key"}
    return {name: value for name, value in scope["headers"] if name in named}


def number_in(asked: Mapping[str, Any], name: str, kind: Callable[[str], N]) -> N:
    """The number that a parameter gives, 0 where it is not there."""
    given = str(asked.get(name) or 0)
    try:
        return kind(given) if math.isfinite(float(given)) else kind("")
    except (ValueError, OverflowError):
        raise UsageError(f"{name} is {given[:40]!r}; give a number, or leave it out") from None


class Missing(UsageError):
    """What is asked for is not here."""


class _Question:
    """A question with its parameters, or its JSON; what takes long is answered from a thread."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one question."""
        try:
            answer = self._handle(scope, await self._asked(scope, receive))
            answer = await answer if asyncio.iscoroutine(answer) else answer
            answer = await asyncio.to_thread(answer) if callable(answer) else answer
        except Gone:
            return
        except Missing as error:
            await _send(send, problem(str(error), "not_found_error"), 404)
        except Unavailable as error:
            await _send(send, problem(str(error), "overloaded_error"), 503)
        except (DragomanError, ValueError) as error:
            await _send(send, problem(str(error), "invalid_request_error"), 400)
        except Exception:
            log.exception("the inspector failed at %s", scope["path"])
            await _send(send, problem(FAILED, "api_error"), 500)
        else:
            await _send(send, answer)

    async def _asked(self, scope: Scope, receive: Receive) -> Mapping[str, Any]:
        if scope["method"] != "POST":
            query = scope.get("query_string", b"").decode()
            return {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
        if not headers_of(scope).get("content-type", "").startswith("application/json"):
            raise CodecError(NOT_JSON, "")
        return read_json(await read_body(scope, receive, MOST_ASKED, 30.0) or b"{}", Limits())


async def _send(send: Send, body: Any, status: int = 200) -> None:
    """Answer with JSON in ASCII: halves of characters are no trouble in it."""
    data = await asyncio.to_thread(lambda: json.dumps(body, default=str).encode())
    headers = {"content-type": "application/json", "content-length": str(len(data)), **SAFE}
    await answer(send, Head(status, headers), data)


class _Own:
    """An endpoint for our own page only, against pages of others and names that were made to lead here."""

    def __init__(self, endpoint: Endpoint, keyed: Callable[[], bool]) -> None:
        self._endpoint, self._keyed = endpoint, keyed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, unless it is a stranger's."""
        why = stranger(headers_of(scope), keyed=self._keyed())
        if why:
            await _send(send, problem(why, "permission_error"), 403)
            return
        await self._endpoint(scope, receive, send)


def stranger(headers: Mapping[str, str], *, keyed: bool = False) -> str:
    """Why a request with these headers is not our own page's; "" where it may be.

    A browser says whose page asks (`origin`, `sec-fetch-site`), and by which name it found us (`host`): a name that was
    made to lead here is no number, and not `localhost`.
    """
    host, origin, site = headers.get("host", ""), headers.get("origin", ""), headers.get("sec-fetch-site", "")
    if site not in {"", "same-origin", "none"} or (origin and urlsplit(origin).netloc != host):
        return FOREIGN
    return "" if keyed or _is_here(host) else NAMELESS.format(host=host[:100])


def _is_here(host: str) -> bool:
    name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class _File:
    """One file of the page."""

    def __init__(self, kind: str, data: bytes) -> None:
        self._kind, self._data = kind, data

    @classmethod
    def read(cls, path: Path) -> _File:
        """The file at `path`."""
        return cls(KINDS[path.suffix], path.read_bytes())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        headers = {"content-type": f"{self._kind}; charset=utf-8", "content-length": str(len(self._data))}
        await answer(send, Head(200, {**headers, **SAFE, "cache-control": "no-cache"}), self._data)
