"""`/inspect` over the store of recordings: the exchanges of every process and machine that writes into it.

Knows the questions of `api.py` and those a store answers; nothing of databases.
Contract: as in memory: who may see what, and what is shown of it; a store that is away is a 503 that says so, and
nothing waits for it but the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from threading import Lock
from typing import Any, TypeVar

from ...errors import UsageError
from ...redaction import HIDDEN
from ...turn.habits import Habits
from ..config.model import Access
from ..http.asgi import Receive, Scope, Send
from ..http.endpoints import ACCESS
from ..recordings.store import Line, RecordingStore, Session
from ..recordings.table import Query
from .api import FORGOTTEN, WAS_CUT, Inspector, Missing, keys_of, number_in
from .columns import fields_of
from .recorder import AGAIN, once, sent_nowhere
from .recording import Recording
from .restored import restored
from .storing import StoringRecorder

T = TypeVar("T")
PAGE = 100
"""Rows of a page unless it asks for another number."""
BY_AGE = "recordings are not cleared here: they go by their age, [recordings] days"
NO_CONTENT = "what was said was not recorded; set [recordings] content = true, and send it from the client again"
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class StoredInspector(Inspector):
    """The page over what `recorder` stores; `app` serves what is asked again."""

    def __init__(
        self, recorder: StoringRecorder, access: Callable[[], tuple[Access, ...]], habits: Habits, app: App
    ) -> None:
        super().__init__(recorder, access, habits)
        self._store, self._namespace, self._app = recorder.store, recorder.namespace, app
        self._content, self._lock = recorder.content, Lock()

    def _about(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        return {**super()._about(scope, asked), "stored": True, "content": self._content}

    async def _record(self, scope: Scope) -> Recording:
        number = int(scope["path_params"]["number"])
        found = await self._asked(lambda store: store.get(number))
        owner = _owner(scope)
        if found is None or (owner is not None and (found.row.owner, found.row.namespace) != (owner, self._namespace)):
            raise Missing(FORGOTTEN.format(number=number))
        return restored(found)

    async def _news(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        """A page of rows, newest first, and whether there are more."""
        query = self._query(scope, asked)
        lines = await self._asked(lambda store: store.lines(query))
        return {"rows": [_row(line) for line in lines], "more": len(lines) == query.rows}

    async def _sessions(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        query = self._query(scope, asked)
        found = await self._asked(lambda store: store.sessions(query))
        return {"sessions": [_session(each) for each in found if each.session], "more": len(found) == query.rows}

    async def _search(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        query = self._query(scope, {"limit": "500", **asked})
        lines = await self._asked(lambda store: store.lines(query))
        return {"numbers": [line.number for line in lines]}

    def _clear(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        raise UsageError(BY_AGE)

    async def _again(self, scope: Scope, asked: Mapping[str, Any]) -> Any:
        """Send the client's request once more, by this process."""
        recording = await self._record(scope)
        if not recording.content:
            raise UsageError(NO_CONTENT)
        if recording.request.is_cut:
            raise UsageError(WAS_CUT)
        newest = await self._asked(lambda store: store.lines(Query(limit=1)))
        again = _scope_of(recording, scope)
        self._run(lambda: self._app(again, once(recording.request.data), sent_nowhere))
        return {"of": recording.number, "after": newest[0].number if newest else 0}

    def _query(self, scope: Scope, asked: Mapping[str, Any]) -> Query:
        return Query(
            before=number_in(asked, "before", int),
            limit=number_in(asked, "limit", int) or PAGE,
            marks=tuple(filter(None, str(asked.get("marks", "")).split(","))),
            words=str(asked.get("q", "")).strip(),
            owner=_owner(scope),
            namespace=self._namespace,
            model=str(asked.get("model", "")),
            route=str(asked.get("route", "")),
            session=str(asked.get("session", "")),
        )

    async def _asked(self, ask: Callable[[RecordingStore], T]) -> T:
        """What the store answers, beside the event loop; one question at a time."""

        def work() -> T:
            with self._lock:
                return ask(self._store)

        return await asyncio.to_thread(work)


def _owner(scope: Scope) -> str | None:
    """Whose exchanges this asker may see; None for everybody's."""
    access: Access | None = scope.get(ACCESS)
    return None if access is None or access.inspect else access.name


def _row(line: Line) -> dict[str, Any]:
    marks = [mark for mark in line.marks.split("|") if mark]
    shown = {"number": line.number, "version": 1, "live": False, "content": bool(line.content), "marks": marks}
    return {**fields_of(line), **shown}


def _session(found: Session) -> dict[str, Any]:
    fields = {name: getattr(found, name) for name in ("session", "first", "last", "newest")}
    marks = list(dict.fromkeys(mark for mark in found.marks.replace(",", "|").split("|") if mark))
    return {**fields, "count": found.exchanges, "tokens": [found.input_tokens, found.output_tokens], "marks": marks}


def _scope_of(recording: Recording, asking: Scope) -> Scope:
    """The request that was recorded, with the key of who asks for it again."""
    shown = {name: value for name, value in recording.headers.items() if HIDDEN not in value and name not in LEFT_OUT}
    headers = {name.encode("latin-1"): value.encode("latin-1", "replace") for name, value in shown.items()}
    headers |= {**keys_of(asking), b"content-length": str(len(recording.request.data)).encode()}
    fields = ("type", "asgi", "http_version", "scheme", "client", "server")
    return {
        **{name: asking[name] for name in fields if name in asking},
        "method": recording.method,
        "path": recording.path,
        "raw_path": recording.path.encode(),
        "root_path": "",
        "query_string": recording.query.encode(),
        "headers": list(headers.items()),
        AGAIN: recording.number,
    }


LEFT_OUT = frozenset(
    {"content-length", "transfer-encoding", "x-request-id", "traceparent", "tracestate", "host", "origin", "expect"}
    | {"content-encoding", "connection"}
)
"""Headers that belong to one sending."""
