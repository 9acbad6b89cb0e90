"""Headers of ours: what happened to an answer, and what of its request nobody supported.

Knows answers, their reports and issues; nothing of HTTP.  Contract: a value holds what a header may hold, whatever a
client or a model wrote, and is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...codecs.shared.issues import OTHER_ANSWERS
from ...jsontext import to_json
from ...turn.reask import loses_a_call
from ...types import Issue, IssueKind, Response, Tier
from .exchange_record import reports

HEADERS: Mapping[str, str] = {
    "x-dragoman-route": "`provider/model` that answered, or that failed last",
    "x-dragoman-dialect": "dialect of its calls",
    "x-dragoman-tier": "tier of its calls: the API's own field, text with strong marks, or weaker text",
    "x-dragoman-edits": "kinds of edits that mended them",
    "x-dragoman-refused": "number of refused calls",
    "x-dragoman-reasks": "number of times the model was asked again",
    "x-dragoman-asked": "what the model said of calls in doubt: `confirmed`, `denied`",
    "x-dragoman-doubtful": "number of calls in doubt that nobody asked about",
    "x-dragoman-ignored-tools": "the backend ignores tools, and got them as text: how that was found out",
    "x-dragoman-unsupported-params": "fields of the request that its route does not support",
    "x-dragoman-unsupported-fields": "fields of the answer that the API of its client has no place for",
    "x-dragoman-server-tools": "tools of MCP servers that the gateway executed for it",
    "x-dragoman-missing-servers": "optional MCP servers the model did without, since they could not be used",
    "x-dragoman-renamed-tools": "names of the client's tools that MCP tools have too; those got others",
    "x-dragoman-session": "the request's: name of the conversation it belongs to; no answer carries it",
}
"""Every header of ours, and what it says.  None stands in an answer it has nothing to say of."""

MOST_SHOWN = 500
"""Characters of one of our headers: what made it longer is in the answer itself."""


def unsupported_parameters(issues: Iterable[Issue]) -> list[str]:
    """The fields of a request that its route does not support, but for what was cut from a tool's schema."""
    unsupported = [issue for issue in issues if issue.kind is IssueKind.UNSUPPORTED and issue.path.startswith("$.")]
    paths = [issue.path for issue in unsupported if not issue.path.startswith(("$.tools[", OTHER_ANSWERS))]
    return [path.removeprefix("$.").removeprefix("extra.") for path in paths]


_NATIVE = {"x-dragoman-tier": Tier.NATIVE.value}
"""Of an answer with nothing but calls that nobody had to judge."""


def audit(response: Response) -> dict[str, str]:
    """What the calls of an answer went through, as headers; none where there were no calls."""
    if not (response.issues or response.calls or response.doubtful):
        return {}
    known = reports(response)
    if not (known or response.issues or response.doubtful):
        return _NATIVE
    values = {
        "x-dragoman-dialect": [report.dialect for report in known],
        "x-dragoman-tier": [(call.report.tier if call.report else Tier.NATIVE).value for call in response.calls],
        "x-dragoman-edits": [edit.kind for report in known for edit in report.edits],
        **_losses(response.issues),
        **_doubts(response),
    }
    joined = {name: ",".join(dict.fromkeys(filter(None, each))) for name, each in values.items()}
    return {name: printable(value) for name, value in joined.items() if value}


def comments(response: Response, lost: Sequence[Issue] = ()) -> Iterator[bytes]:
    """What a stream can say at its end alone, whose head has gone out: how often it was asked again, and about what;
    and what its client's API has no place for."""
    for name, values in {**_losses(response.issues), **_doubts(response), **lost_fields(lost)}.items():
        if values:
            yield f": {name}: {printable(','.join(dict.fromkeys(values)))}\n\n".encode()


def with_lost(line: bytes, lost: Sequence[Issue]) -> bytes:
    """The last line of a stream of JSON, in which no comment may stand, with what was lost as a field of its own."""
    told = next(iter(lost_fields(lost).values()), [])
    return line.rstrip().removesuffix(b"}") + f',"unsupported_fields":{to_json(told)}}}\n'.encode()


def lost_fields(lost: Iterable[Issue]) -> dict[str, list[str]]:
    """Where in the answer stood what its client's API has no place for."""
    paths = dict.fromkeys(issue.path.removeprefix("$.").removeprefix("extra.") for issue in lost)
    return {"x-dragoman-unsupported-fields": [*paths]} if paths else {}


def _losses(issues: Sequence[Issue]) -> dict[str, list[str]]:
    """How many calls were refused, and how often the model was asked again."""
    refused = sum(map(loses_a_call, issues))
    return {
        "x-dragoman-refused": [str(refused)] if refused else [],
        "x-dragoman-reasks": [issue.raw for issue in issues if issue.kind is IssueKind.REASKED],
    }


def _doubts(response: Response) -> dict[str, list[str]]:
    """What the model said of the calls it was asked about, and how many nobody asked about."""
    said = [str(issue.kind) for issue in response.issues if issue.kind in {IssueKind.CONFIRMED, IssueKind.DENIED}]
    return {"x-dragoman-asked": said, "x-dragoman-doubtful": [str(len(response.doubtful))] if response.doubtful else []}


def printable(text: str) -> str:
    """`text` as a header may carry it: a model's name comes from a client and may hold anything."""
    shown = text[:MOST_SHOWN].strip()  # a blank at either end is no part of a header's value
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join([c if " " <= c <= "~" else "?" for c in shown])
