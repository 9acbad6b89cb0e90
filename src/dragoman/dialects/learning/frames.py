"""What stands around a model's text beside calls: its reasoning, its answer, its role, and the results it is told.

Each is found by a word of ours between marks of the template's.  Knows nothing of calls' notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..engine.common_marks import QUIET, THINK
from ..spec import Dialect, span
from .marks import first, is_marker, prefix
from .samples import ONE, body
from .voice import REASON, RESULT, TEXT, CannotWrite, Voice

UNMARKED = "reasoning is written without marks of its own"
FORGOTTEN = "the template does not write the reasoning of past turns"
OWN_TURN = "results have turns of their own in this template; told as text they are framed as by default"


def with_reasoning(row: Dialect, voice: Voice) -> tuple[Dialect, list[str]]:
    """The row with the marks of reasoning, from a turn that has some."""
    for calls, text in (((), TEXT), ((ONE,), "")):
        try:
            turn = voice.turn(calls, text, REASON)
        except CannotWrite:
            continue
        if REASON in turn:
            tags = _around(turn, voice)
            return (row, [UNMARKED]) if tags is None else (replace(row, reasoning=(span(*tags),)), [])
    return row, [FORGOTTEN]


def _around(turn: str, voice: Voice) -> tuple[str, str] | None:
    """The marks around the reasoning: the nearest before it, with what touches it, and the nearest after."""
    before, _, after = turn.partition(REASON)
    closer = re.match(r"\s*(?:<[^<>\n]+>|\[/?[A-Z_]+\]|◁[^▷]*▷)", after)
    role = prefix(voice.role, before)
    own = before[len(role) :] if is_marker(before[len(role) :]) else before
    opener = re.search(r"(?:(?:<[^<>\n]+>|\[[A-Z_]+\]|◁[^▷]*▷)\w*)+\s*$", own)
    if closer is None or opener is None:
        return None
    return opener.group(), closer.group()


def text_frame(voice: Voice, row: Dialect) -> Iterator[str]:
    """What stands around plain text: `<|START_RESPONSE|>` … `<|END_RESPONSE|>`."""
    try:
        before, found, after = body(voice, [], TEXT).partition(TEXT)
    except CannotWrite:
        return
    opener = first(row.section.open or row.call.open).strip()
    if opener and voice.header.endswith(opener):  # the prompt had opened it
        before = opener + before
    for frame in (before, until_end(after, voice)) if found else ():
        if is_marker(frame) and frame.strip() not in {*QUIET, *THINK, *(r.open[0].strip() for r in row.reasoning)}:
            yield frame.strip()


def roles(voice: Voice) -> Iterator[str]:
    """The role's header, where one turn is written as several messages."""
    for text, reasoning in ((TEXT, REASON), (TEXT, ""), ("", REASON)):
        try:
            turn = voice.turn([ONE], text, reasoning)
        except CannotWrite:
            continue
        if is_marker(voice.role) and turn.count(voice.role.strip()) > 1:
            yield voice.role.strip()


def result_form(voice: Voice) -> tuple[str, list[str]]:
    """How a result is told inside a user's turn."""
    try:
        before, found, after = voice.result(ONE, RESULT).partition(RESULT)
    except CannotWrite as why:
        return "", [f"the template tells no results ({why})"]
    turn = before.strip().replace("tool", "user") == voice.asker.strip()
    frame = _frame(before, after) if found and not turn else None
    if frame is None:
        return "", [OWN_TURN] if before else []
    form = (frame[0] + RESULT + frame[1]).strip().replace("{", "{{").replace("}", "}}")
    for word, slot in ((RESULT, "{content}"), (ONE.name, "{name}"), (ONE.id, "{id}")):
        form = form.replace(word, slot)
    return form, []


ROLE = re.compile(r"role|header|im_start|turn|user|observation", re.IGNORECASE)
TAG = re.compile(r"<(?P<word>[^<>/\s|｜][^<>\s]*)>")
SIGN = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]|\s")


def _frame(before: str, after: str) -> tuple[str, str] | None:
    """The marks around a result that are not those of a turn: the outermost pair of tags, or nothing but marks."""
    for tag in TAG.finditer(before):
        closer = f"</{tag['word']}>"
        if closer in after and not ROLE.search(tag["word"]):
            return before[tag.start() :], after[: after.index(closer) + len(closer)]
    bare = SIGN.sub("", before.replace(ONE.id, "").replace(ONE.name, ""))
    marks = SIGN.findall(before)
    if bare or not "".join(marks).strip() or any(ROLE.search(m) for m in marks):
        return None
    ends = [m.end() for m in SIGN.finditer(after) if m.group().strip() and m.group() not in QUIET]
    return before, after[: max(ends, default=0)]


def until_end(text: str, voice: Voice) -> str:
    """`text` up to what ends a turn or begins another."""
    stops = [*QUIET, *(m for m in re.findall(r"<[^<>\s]+>", voice.role))]
    ends = [at for stop in stops if (at := text.find(stop)) > 0]
    return text[: min(ends)] if ends else text
