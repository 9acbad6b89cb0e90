"""Calls written as literals of another language: Python's keyword arguments, Gemma's braces."""

from __future__ import annotations

from ...lenient.reader import PYTHON, Broken, Form, Relaxed
from ...lenient.source import Need
from ..spec import BraceArgs
from .call import CALL_NAME, MAX_NAME, Attempt, Mismatch
from .json import members_of


def keyword_args(attempt: Attempt) -> Need[None]:
    """`name(key=value, …)`, perhaps quoted or printed as a whole."""
    src = attempt.src
    draft = attempt.new()
    found = yield from src.match(CALL_NAME, MAX_NAME)
    if found is None:
        raise Mismatch
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
    attempt.begin(draft, name.removesuffix(".call") if not attempt.judge.known(name) else name)
    reader = Relaxed(src, PYTHON)
    yield from members_of(draft, reader, PYTHON)
    attempt.finish(draft, reader)

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
    reader = Relaxed(attempt.src, form)
    yield from members_of(draft, reader, form)
    attempt.finish(draft, reader)
