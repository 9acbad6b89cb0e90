"""The drafts of one attempt: begun by a name, finished by the last argument, refused where either is not clear.

Knows tools by asking the `Judge`; nothing of markup or of how arguments are written.
Contract: a draft is begun once and stands in `items` from then on, whatever becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...late import late_call
from ...lenient.notation import Broken, Repeated
from ...lenient.source import Source
from ...schema.validation import Shape
from ...types import Edit, IssueKind, Tool
from ..judge.candidate import Draft
from ..judge.judge import Judge, Unknown
from ..spec import ElementArgs, JsonCall, KeywordArgs, Strength, TaggedArgs
from .compiled import Row
from .marked_name import MarkedName, Mismatch, Swallowed

if TYPE_CHECKING:
    from ...events import Event
    from ...lenient.reader import Relaxed

_debris: Callable[..., str] = late_call(".debris", "debris", __name__)
_check_repeated: Callable[[str], Any] = late_call("...lenient.whole_values", "check_repeated", __name__)
_holds_call: Callable[..., bool] = late_call(".swallowed", "holds_call", __name__)
_holds_mark: Callable[[Row, str], bool] = late_call(".swallowed", "holds_mark", __name__)
_unclear: Callable[[Draft], str] = late_call(".misplaced", "unclear", __name__)
"""Asked of calls that were mended."""

MOST_CALLS = 2000
"""So many calls are read in one list or section: no API takes as many, and no model means them."""


class Drafts(MarkedName):
    """What was read so far: `items`, in order, and the `draft` that is not finished."""

    judge: Judge

    def __init__(self, src: Source, row: Row, judge: Judge, begun: Callable[[Draft], None]) -> None:
        super().__init__(src, row)
        self.judge, self._begun = judge, begun
        self.items: list[Draft | Event] = []
        self.draft: Draft | None = None
        self.swallowed: Draft | None = None

    @property
    def drafts(self) -> list[Draft]:
        """The calls read so far."""
        return [i for i in self.items if type(i) is Draft]

    @property
    def last(self) -> Draft | None:
        """The last call read so far."""
        for item in reversed(self.items):
            if isinstance(item, Draft):
                return item
        return None

    def drafts_from(self, first: int) -> list[Draft]:
        """The calls among the items from number `first` on."""
        return [i for i in self.items[first:] if isinstance(i, Draft)]

    def last_edit(self, kind: str) -> None:
        draft = self.last
        if draft is not None:
            draft.edits.append(Edit(kind))
            if kind == "unclosed" and any(e.kind == "missing_bracket" and e.path != "$" for e in draft.edits):
                why = "neither the arguments nor the call is closed: more of them may be missing"
                draft.refuse(IssueKind.MALFORMED, why, self.judge.correction(draft, why))

    def new(self) -> Draft:
        """A draft that begins here."""
        return Draft(self.spec.name, self.src.base + self.src.pos, self.row.strong)

    def begin(self, draft: Draft, name: Any, call_id: Any = None, *, beside_known: bool = False) -> None:
        """The name is known: ask the judge, and let the parser tell it.

        `beside_known`: in its list stands a call of a declared tool, so that it is a call, too, whatever its name.
        """
        if not isinstance(name, str):
            raise Broken("the tool's name is not a string")
        try:
            self.judge.name(draft, name, loose=self._is_set_apart)
        except Unknown as unknown:
            if not (draft.strong or self.judge.asked_by_name or self.drafts or beside_known):
                raise Mismatch from None
            draft.refuse(IssueKind.UNKNOWN_TOOL, str(unknown), unknown.correction)
        if call_id is not None and call_id != "":
            draft.id = str(call_id)
        self._begin(draft)

    @property
    def _is_set_apart(self) -> bool:
        """Do marks or a key say that what stands there is a tool's name, however it is spelt?"""
        return isinstance(self.spec.args, JsonCall) or self.spec.strength is not Strength.WEAK

    def begin_known(self, draft: Draft, name: str, tool: Tool | None, shape: Shape) -> None:
        """The name is known, and which declared tool's it is."""
        draft.name, draft.tool, draft.shape = name, tool, shape
        self._begin(draft)

    def _begin(self, draft: Draft) -> None:
        if len(self.items) >= MOST_CALLS:
            raise Broken(f"one list holds more than {MOST_CALLS} calls")
        draft.begun = True
        self.draft = draft
        self.items.append(draft)
        self._begun(draft)

    def finish(self, draft: Draft, reader: Relaxed | None = None) -> None:
        """The arguments are complete."""
        if reader is not None:
            draft.edits += reader.edits
            reader.edits = []
            if reader.repeated:
                self.refuse_repeated(draft, draft.text())
            if reader.unfit:
                self.judge.refuse_numbers(draft, reader.unfit)
        draft.done, draft.end = True, self.src.base + self.src.pos
        if isinstance(self.spec.args, TaggedArgs | ElementArgs):
            self._refuse_debris(draft, self.spec.args.trim)
        if draft.edits:
            self._refuse_swallowed(draft)
            self._refuse_misplaced(draft)
        self.draft = None

    def _refuse_debris(self, draft: Draft, trim: str) -> None:
        """A damaged mark has left the next argument, or its own end, in a value."""
        why = _debris(self.row, draft.shape, draft.arguments(), draft.edits, trim, known=self.judge.known)
        if why:
            draft.refuse(IssueKind.MALFORMED, why, self.judge.correction(draft, why))

    def _refuse_swallowed(self, draft: Draft) -> None:
        """A quote was taken for a part of a string, and behind it another call stands: a sign is missing."""
        if all(e.kind != "unescaped_quote" for e in draft.edits):
            return
        text, why = draft.text(), "where a string ends is not clear: another call stands in it"
        if not (_holds_mark(self.row, text) or _holds_call(self.spec.args, self.judge.known, text)):
            return
        if not isinstance(self.spec.args, KeywordArgs) or self._is_open(draft):
            raise Swallowed(why)
        self.swallowed = draft
        draft.refuse(IssueKind.MALFORMED, why, self.judge.correction(draft, why))

    def _is_open(self, draft: Draft) -> bool:
        """Was the string read to a bracket that does not close its call: to that of a call in it?"""
        written = self.src.behind(self.src.at - draft.start)
        return written.count("(") > written.count(")")

    def _refuse_misplaced(self, draft: Draft) -> None:
        """Where a value begins or ends is guessed, and may be elsewhere."""
        why = _unclear(draft) if draft.refusal is None else ""
        if why:
            draft.refuse(IssueKind.MALFORMED, why, self.judge.correction(draft, why))

    def refuse_repeated(self, draft: Draft, written: str) -> None:
        """Refuse arguments of which one is given twice and not alike, as they were written."""
        try:
            _check_repeated(written)
        except Repeated as why:
            if not draft.strong:
                raise
            draft.refuse(IssueKind.DUPLICATE_KEYS, str(why), self.judge.correction(draft, str(why)))
