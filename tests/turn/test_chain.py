"""Pieces that take the course are handled as those that every stage handles, whatever stands among them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from dragoman.dialects.writing.neutralise import JOINER
from dragoman.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    PartEnded,
    ReasoningDelta,
    Started,
    TextDelta,
    assemble,
)
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.answer import AnswerStream
from dragoman.turn.chain import Course
from dragoman.turn.compiled import compiled
from dragoman.turn.plan import Plan
from dragoman.types import Message, Request, Response, Stop
from tests.support.drawn_texts import drawn

from .test_plain_answers import NOTICED, TOOLS, WAYS, mint, plan_of

DELTAS = (TextDelta, ReasoningDelta)
CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py", "n": [1, 2]}}\n</tool_call>'
AMONG = (
    CALL,
    "```json\n{\"name\": \"bash\", \"arguments\": {}}\n```\n",
    '{"thought": "so", "action": {"tool": "bash", "args": {}}}',
    'read_file {"path": 1}',
    "<think>\nIt may {be} so.\n</think>\n",
    f"<{JOINER}tool_call> is {JOINER}{JOINER} said",
    "\n    indented < and {\n",
)
NATIVE: Sequence[Event] = (CallStarted(0, "c1", "bash"), CallDelta(0, '{"a":'), CallDelta(0, "1}"), CallEnded(0))


def _events(seed: int) -> list[Event]:
    """An answer in pieces: prose, and what may stand among it."""
    chance = random.Random(seed)
    text = "".join(chance.choice((drawn(seed * 7 + n), chance.choice(AMONG))) for n in range(chance.randrange(1, 5)))
    size = chance.choice((1, 3, 3, 7, 40))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    events: list[Event] = [Started("m"), *map(TextDelta, pieces)]
    if seed % 3 == 0:
        events[1:1] = [*(ReasoningDelta(f"thought {n} {{<") for n in range(4)), PartEnded()]
    if seed % 7 == 0:
        events[6:6] = [*(ReasoningDelta(f"thought of {n} ") for n in range(4)), PartEnded()]
    if seed % 5 == 0:
        events += [PartEnded(), *(TextDelta(f"more {n} ") for n in range(4))]
    if seed % 4 == 0:
        events += [*NATIVE, *(TextDelta(f" behind {n} {{}}") for n in range(4))]
    return [*events, Ended((Stop.END, Stop.LENGTH, None)[seed % 3])]


def _handled(plan: Plan, events: Sequence[Event], *, course: bool) -> tuple[list[Event], Response]:
    """What goes out, piece by piece, and the answer it is said to be."""
    answer = AnswerStream(NOTICED, plan, mint)
    out: list[Event] = []
    for event in events:
        last = out[-1] if out else None
        if course and isinstance(last, DELTAS) and isinstance(event, DELTAS):
            made = answer.more(event.text, type(event), type(last))
            out += made if isinstance(made, list) else [type(last)(made)] if made else []
        else:
            out += answer.take_all([event])[0]
    return out, answer.response()


@pytest.mark.parametrize("way", WAYS)
def test_the_course_changes_nothing(way: str) -> None:
    _compare(plan_of(way))


def test_it_changes_nothing_where_the_text_is_presumed_to_begin_in_reasoning() -> None:
    asked = Request(model="deepseek-r1", messages=(Message("user", "Hello"),), tools=tuple(TOOLS))
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:1/v1")
    plan = compiled(asked, route, text=False, nonce="")
    assert plan.family.prefix(thinking=False)
    _compare(plan)


def _compare(plan: Plan) -> None:
    for seed in range(300):
        events = _events(seed)
        taken, answer = _handled(plan, events, course=True)
        handled, wanted = _handled(plan, events, course=False)
        assert taken == handled, events
        assert answer == wanted == assemble(taken)


def test_most_pieces_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Course] = []
    end = Course.end

    def counted(self: Course) -> list[Event]:
        ended.append(self)
        return end(self)

    monkeypatch.setattr(Course, "end", counted)
    words: list[Event] = [TextDelta(f"word {n} ") for n in range(500)]
    for way in ("native", "in text", "without tools"):
        ended.clear()
        out, _ = _handled(plan_of(way), [*words, Ended(Stop.END)], course=True)
        assert len(out) == len(words) + len(NOTICED) + 1
        assert len(ended) <= 3
