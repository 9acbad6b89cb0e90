"""Calls written as literals of another language: Python's keyword arguments, Gemma's braces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ...late import late, late_call
from ...lenient.notation import PYTHON, Broken, Cut, Form
from ...lenient.reader import Relaxed
from ...lenient.source import Need, Source
from ...types import IssueKind
from ..judge.candidate import Draft
from ..spec import BraceArgs, Listing
from .arguments_object import members_of
from .call import CALL_NAME, CALL_NAME_BEGUN, MAX_NAME, Attempt, Mismatch

QUOTED_CALL = late(r"[\"'`](?=[A-Za-z_$][\w\\.\-:]*\()")
"""A string that holds a call."""
SET = late(r"\{(?=\s*[\"'`]?[A-Za-z_$][\w\\.\-:]*\()")
"""Braces around a call, as around the one item of a set."""
WITHOUT_QUOTES = frozenset({"bare_string", "variable", "unopened_string"})
"""Mends of values that no quotes hold together."""
QUOTES = ("'", '"', "`")
ESCAPED = late(r"\\.", re.S)
NEXT_CALL = late(r",\s*([A-Za-z_$][\w.\-:]{0,255})\(")
NEAR = 1024
"""Characters in which a list's second call is looked for, where the first is of no declared tool."""
COMPUTED = "an argument is computed, not written out"
MOST_COMPUTED = 64 * 1024
"""Characters of a call that are read as Python."""
_parse: Callable[..., Any] = late_call("ast", "parse")


def keyword_args(attempt: Attempt) -> Need[None]:
    """`name(key=value, …)`, perhaps quoted or printed as a whole; in a list, a list of such calls."""
    src = attempt.src
    c = yield from src.peek()
    if c == "{" and (found := (yield from src.match(SET, MAX_NAME))) is not None:
        src.pos = found.end()
        yield from attempt.nested(lambda: _set(attempt))
        return
    if c == "[" and (attempt.spec.listing is Listing.ARRAY or attempt.row.section_open):
        yield from attempt.array()
        return
    if c and c in "\"'`" and (yield from src.match(QUOTED_CALL, MAX_NAME)) is not None:
        if attempt.is_inner:
            yield from _quoted_call(attempt, c)
        else:
            yield from _perhaps_quoted(attempt, lambda: _quoted_call(attempt, c))
        return
    draft = attempt.new()
    # in a list the text may end in any declared name, however it is spelt
    found = yield from src.match(CALL_NAME, MAX_NAME, None if attempt.items else CALL_NAME_BEGUN)
    if found is None:
        raise Cut if _breaks_off(attempt) else Mismatch
    name = found["name"].replace("\\", "")
    src.pos = found.end()
    if name == "print" and not attempt.judge.known("print"):
        src.pos += 1
        yield from src.space()
        yield from attempt.nested(lambda: keyword_args(attempt))
        yield from src.space()
        if not (yield from src.literal((")",))):
            raise Broken("print( is not closed")
        return
    beside_known = False
    if not attempt.judge.known(name):
        name = name.removesuffix(".call")
        beside_known = attempt.is_inner and not attempt.drafts and (yield from _is_beside_known(attempt))
    attempt.begin(draft, name, beside_known=beside_known)
    reader, start = Relaxed(src, PYTHON, attempt.stops), src.at
    reader.listed, reader.keywords = attempt.is_item, draft.shape.has
    yield from _members(attempt, draft, reader, PYTHON)
    if any(edit.kind == "unescaped_quote" for edit in reader.edits):
        _refuse_computed(attempt, draft, src.behind(src.at - start))
    attempt.finish(draft, reader)


def _members(attempt: Attempt, draft: Draft, reader: Relaxed, form: Form) -> Need[None]:
    """The arguments; without their last bracket only where each value shows its own end."""
    yield from members_of(draft, reader, form)
    mends = {edit.kind for edit in reader.edits}
    if form.python and {"missing_comma", "unescaped_quote"} <= mends:
        raise Broken("where a string ends is not clear: a comma is missing, and quotes are not escaped")
    if "missing_bracket" not in mends:
        return
    if mends & WITHOUT_QUOTES:
        raise Broken("a bracket is missing, and a value has no quotes")
    src = reader.src
    if reader.listed and not src.buf[src.pos + 1 :].strip() and attempt.ends is not None and not attempt.ends():
        src.pos = len(src.buf)
        raise Cut
    texts = [value for value in draft.arguments().values() if isinstance(value, str)]
    if reader.listed and any(text.count("[") > text.count("]") for text in texts):
        raise Broken("a bracket is missing, and a value may go on behind the list's")


def _is_beside_known(attempt: Attempt) -> Need[bool]:
    """Does a call of a declared tool follow soon, in a list whose first call is none of one?"""
    src, at = attempt.src, 0
    while True:
        near, end, _ = src.buf[src.pos : src.pos + NEAR].partition("\n\n")
        for found in NEXT_CALL.finditer(near, at):
            if attempt.judge.known(found[1]):
                return True
        if end or src.eof or len(near) == NEAR:
            return False
        at = max(0, near.rfind(","))
        yield


def _refuse_computed(attempt: Attempt, draft: Draft, written: str) -> None:
    """A string that Python reads up to a quote was not damaged there: what stands behind it computes the argument."""
    if len(written) > MOST_COMPUTED:
        return
    try:
        _parse(f"f{ESCAPED.sub('__', written)}", mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    draft.refuse(IssueKind.MALFORMED, COMPUTED, attempt.judge.correction(draft, COMPUTED))


def _breaks_off(attempt: Attempt) -> bool:
    """Does the text end in the name of a call behind others of a list?"""
    src = attempt.src
    begun = src.buf[src.pos :].rstrip() if src.eof and attempt.items else ""
    return bool(begun) and any(name.startswith(begun) for name in attempt.judge.declared)


def _set(attempt: Attempt) -> Need[None]:
    """Calls between braces, each with what is left of its quotes: `{'f(a=1)}`."""
    src = attempt.src
    while True:
        yield from src.space()
        yield from _perhaps_quoted(attempt, lambda: keyword_args(attempt))
        size, mark = yield from src.glance((",",))
        if not mark:
            break
        src.pos += size
    yield from src.space()
    if not (yield from src.literal(("}",))):
        raise Broken("the braces around the call are not closed")


def _perhaps_quoted(attempt: Attempt, read: Callable[[], Need[None]]) -> Need[None]:
    """A call in its quotes, as `read` reads it, or behind a quote that nothing closes."""
    src = attempt.src
    depth = src.hold()
    try:
        yield from read()
        src.release()
    except Mismatch:
        src.unwind(depth)
        src.rewind()
        yield from src.literal(QUOTES)
        yield from keyword_args(attempt)
        attempt.last_edit("call_in_string")


def _quoted_call(attempt: Attempt, quote: str) -> Need[None]:
    """One call in a string of its own: `"f(a='x')"`."""
    src = attempt.src
    start, known = src.at, len(attempt.items)
    src.pos += 1
    text = yield from _to_quote(src, quote)
    inner = Source()
    inner.feed(_unquoted(text, quote))
    inner.eof = True
    attempt.src = inner
    try:
        yield from attempt.nested(lambda: keyword_args(attempt))
        while (yield from inner.glance((",", ";")))[1]:
            yield from inner.space()
            inner.pos += 1
            yield from inner.space()
            yield from attempt.nested(lambda: keyword_args(attempt))
        if inner.buf[inner.pos :].strip():
            raise Broken("text stands behind the call in its string")
    finally:
        attempt.src = src
        for draft in attempt.drafts_from(known):
            draft.start, draft.end = start, src.at
    attempt.last_edit("call_in_string")


def _to_quote(src: Source, quote: str) -> Need[str]:
    """The text up to the quote that ends the string: one behind a `)`, with the list's signs or nothing behind."""
    got: list[str] = []
    while True:
        if not (yield from src.until((f"){quote}",), got.append)):
            raise Mismatch
        got.append(")")
        _, mark = yield from src.glance((",", "]", ";", ")", "}"))
        if mark or (yield from src.peek()) == "\n" or src.ends_within(("\n",), (yield from src._over_space(0))):
            return "".join(got)
        got.append(quote)


def _unquoted(text: str, quote: str) -> str:
    """The text in a string without the string's own escapes."""
    if quote == '"' and "\\" in text:
        try:
            return str(json.loads(f'"{text}"'))
        except ValueError:
            return text
    return text.replace(f"\\{quote}", quote)


def brace_args(attempt: Attempt) -> Need[None]:
    """`NAME{key:value}` with the row's own string delimiters."""
    args = attempt.spec.args
    assert isinstance(args, BraceArgs)
    draft = attempt.new()
    name, call_id, mark = yield from attempt.tool()
    if mark == "{":
        attempt.src.pos -= 1
    if (yield from attempt.src.peek()) != "{":
        raise Mismatch
    attempt.begin(draft, name, call_id)
    form = Form(quotes=args.quotes, bare=True)
    reader = Relaxed(attempt.src, form, attempt.stops)
    yield from _members(attempt, draft, reader, form)
    attempt.finish(draft, reader)
