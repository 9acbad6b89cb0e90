"""What a parser listens for and how it judges, as far as no text bears on it: prepared once for the same request.

Knows tools, rows and a caller's options; reads no text.
Contract: two parsers that were asked the same of the same tools may be given the same, since nothing in it changes as a
message is read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...errors import UsageError
from ...late import late_call
from ...records import NamedTuple
from ...types import Tool
from ..judge.declared import NO_TOOLS, Declared, declared
from ..judge.judge import Judge
from ..rows.table import ALL, resolve
from ..spec import Dialect
from .markers import NONE, Table, table

if TYPE_CHECKING:
    from ..judge.provenance import Provenance, Reading, ShownText

_provenance: Callable[..., Provenance] = late_call("..judge.provenance", "Provenance", __name__)
_reads: Callable[[Declared | None], Reading] = late_call(".shown_calls", "reads", __name__)
"""For a model that was shown texts: what was in them, and what calls they hold."""
listens_for: Callable[[str, Dialects, str], Dialect] = late_call("..rows.nonce", "listens_for", __name__)
"""For a model that was told a code: the one row that asks for it."""

Tools: TypeAlias = Iterable[Tool | Mapping[str, Any]] | Declared | None
Dialects: TypeAlias = str | Dialect | Sequence[str | Dialect]
AUTO = "auto"
DOUBTS = ("ask", "run", "text")
MANY = 64
"""So many ways of asking are remembered, of each set of tools."""


class Listening(NamedTuple):
    """The rows that listen, their table, the tools' names, and the judge."""

    rows: tuple[Dialect, ...]
    table: Table
    names: Declared
    judge: Judge


_UNTOLD: dict[Hashable, Listening] = {}
"""What was prepared while the tools were not known."""


def listening(
    tools: Tools, dialects: Dialects, prompted: str, shown: Iterable[str | ShownText], confirmed: Iterable[str],
    *, strict: bool, doubt: str, native: bool,
) -> Listening:  # fmt: skip
    """What these options come to.  Raises UsageError for names there are not."""
    if doubt not in DOUBTS:
        raise UsageError(f"doubt is {doubt!r}; give one of {', '.join(DOUBTS)}")
    known = declared(tools)
    rows = ALL if dialects is AUTO else resolve(dialects)
    if shown != () or confirmed != ():
        shown, confirmed = _texts(shown), _words(confirmed)
        provenance = None if shown == () else _provenance(shown, _reads(known), known)
        return _made(known, rows, prompted, provenance, confirmed, strict=strict, doubt=doubt, native=native)
    prepared = _UNTOLD if known is None else known.prepared
    key = id(rows), prompted, strict, doubt, native
    try:
        found: Listening | None = prepared.get(key)
    except TypeError:  # what has no hash is no name
        raise UsageError(NO_PROMPTED.format(kind=type(prompted).__name__)) from None
    if found is None or found.rows is not rows:
        if len(prepared) >= MANY:
            prepared.clear()
        found = _made(known, rows, prompted, None, (), strict=strict, doubt=doubt, native=native)
        prepared[key] = found
    return found


NO_PROMPTED = "prompted_dialect is the name of a dialect, not {kind} (see: dragoman list dialects)"
NO_SHOWN = "shown are the texts that the model was shown, in a list, not {kind}; give texts, or ShownText"
NO_CONFIRMED = "confirmed are ways of writing, in a list, not {kind}; give those that reports name (evidence: habit)"


def _texts(shown: Any) -> Iterable[str | ShownText]:
    """Texts, or the only one; what comes as it is asked for is not looked at before."""
    if isinstance(shown, str) or hasattr(shown, "text"):
        return (shown,)
    listed = shown if type(shown) in (list, tuple) else ()
    wrong = [one for one in listed if not isinstance(one, str) and not hasattr(one, "text")]
    if wrong or not isinstance(shown, Iterable) or isinstance(shown, bytes):
        raise UsageError(NO_SHOWN.format(kind=type(wrong[0] if wrong else shown).__name__))
    return shown


def _words(confirmed: Any) -> Iterable[str]:
    if isinstance(confirmed, str):
        return (confirmed,)
    if not isinstance(confirmed, Iterable):
        raise UsageError(NO_CONFIRMED.format(kind=type(confirmed).__name__))
    return confirmed


def _made(
    known: Declared | None, rows: tuple[Dialect, ...], prompted: str, shown: Provenance | None,
    confirmed: Iterable[str], *, strict: bool, doubt: str, native: bool,
) -> Listening:  # fmt: skip
    named = len(rows) < len(ALL)  # all of them in another order are still nobody's choice
    marks = table(rows, calls=known is None or known.some, asked=named, spoken=prompted)
    judge = Judge(
        known, shown=shown, strict=strict, asked_by_name=named, native=native, doubt=doubt,
        asked=frozenset(row.name for row in resolve(prompted)) if prompted else NONE,
        protocol=named and all(row.is_protocol for row in rows), habits=frozenset(confirmed),
    )  # fmt: skip
    return Listening(rows, marks, known if known is not None else NO_TOOLS, judge)
