"""Recordings as rows of a corpus: what a model was asked, its tools, what it answered, and what was judged of that.

Knows stored exchanges and canonical values; nothing of pages.  Contract: newest first, a page in memory at a time; an
exchange without content, without a chat or without an answer is no row; one that cannot be read is counted, not raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...codecs import CODECS
from ...errors import DragomanError
from ...types import Request, Response
from ..recordings.store import RecordingStore
from ..recordings.table import Query, Recorded
from .restored import document_of, request_in, response_in

CHAT = "openai_chat"
PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRow:
    """One exchange of a corpus.

    number    in its store;  began  seconds since 1970
    front, model, route, session, owner  as in the inspector's list;  marks  words that it is filtered by
    request   what the model was asked (messages and tools, before anything of ours was added)
    answer    what the client got, calls with the reports of the judge
    verdicts  of its calls, in order, "native" for those that nobody had to judge
    """

    number: int
    began: float
    front: str
    model: str
    route: str
    session: str
    owner: str
    marks: tuple[str, ...]
    request: Request
    answer: Response

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdict of each call."""
        return tuple(str(call.report.verdict) if call.report is not None else "native" for call in self.answer.calls)


def recorded_rows(store: RecordingStore, query: Query = Query(content=True)) -> Iterator[RecordedRow]:  # noqa: B008
    """The rows that fit `query`, all of them (its `limit` is the size of a page).  Raises `Unavailable`."""
    query = replace(query, content=True, limit=min(query.limit, PAGE))
    while found := store.rows(query):
        yield from (row for row in map(row_of, found) if row is not None)
        query = replace(query, before=found[-1].number)


def row_of(stored: Recorded) -> RecordedRow | None:
    """The row of one exchange; None where it is none."""
    row = stored.row
    try:
        document = document_of(stored)
        request, answer = request_in(document), response_in(document)
    except (DragomanError, LookupError, TypeError, ValueError, AttributeError):
        return None
    if request is None or answer is None or not row.content:
        return None
    return RecordedRow(
        number=stored.number,
        began=row.began,
        front=row.front,
        model=row.model,
        route=row.route,
        session=row.session,
        owner=row.owner,
        marks=tuple(filter(None, row.marks.split("|"))),
        request=request,
        answer=answer,
    )


def chat_row(row: RecordedRow) -> dict[str, Any]:
    """The row in the form of OpenAI's chat API: `messages` with the answer, `tools`, and where it comes from."""
    asked = replace(row.request, messages=(*row.request.messages, row.answer.message), extra={})
    body = CODECS[CHAT].encode_request(asked)
    reports = [call.report for call in row.answer.calls]
    rules = [report.rule if report is not None else "" for report in reports]
    judged = [{"verdict": verdict, "rule": rule} for verdict, rule in zip(row.verdicts, rules, strict=True)]
    return {
        "messages": body["messages"],
        **({"tools": body["tools"]} if body.get("tools") else {}),
        "id": f"recording-{row.number}",
        "model": row.model,
        "metadata": {
            "began": row.began,
            "front": row.front,
            "route": row.route,
            "session": row.session,
            "marks": list(row.marks),
            "verdicts": judged,
            "issues": [str(issue.kind) for issue in row.answer.issues],
        },
    }
