"""A stage that says of a text that it passes would make nothing of it but that text, and nothing of it later."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.dialects.judge.declared import NO_TOOLS, declared
from dragoman.events import Ended, Event, TextDelta
from dragoman.turn.overlooked_text import OverlookedText
from dragoman.turn.protocol import ProtocolAnswer
from dragoman.turn.running import Stage
from dragoman.turn.stream_parser import Restorer
from dragoman.types import Stop, Tool

TOOLS = (Tool(name="read_file", parameters={"type": "object", "properties": {"path": {"type": "string"}}}),)
STAGES: dict[str, Callable[[], Stage | Restorer]] = {
    "overlooked": lambda: OverlookedText(declared(TOOLS) or NO_TOOLS),
    "protocol": lambda: ProtocolAnswer(TOOLS, told=False),
    "restorer": Restorer,
}
PIECES = (
    "a < b", "dict{}", "{", "<", "x[1]", " ", "\n", '"', "name", '{"name": "read_file"', ', "arguments": {"path": "a"}}',
    "<read_file>", "<read_file", "</", "`", "```json\n", "[", "{ ", "{'", "action", "final", '{"thought": ', "\u2060", "}",
    "<div>", "{{", "read_", "file", ": ", "words and ",
)  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
END = Ended(Stop.END)



def made(stage: Stage | Restorer, texts: list[str]) -> list[Event]:
    return stage.handle_all([TextDelta(text) for text in texts])


@pytest.mark.parametrize("name", STAGES)
@given(before=TEXT, text=TEXT.filter(bool))
def test_a_text_that_passes_is_all_that_comes_of_it(name: str, before: str, text: str) -> None:
    stage = STAGES[name]()
    made(stage, ["Words. ", before])
    if stage.passes(text):
        assert made(stage, [text]) == [TextDelta(text)]


@pytest.mark.parametrize("name", STAGES)
@given(before=TEXT, text=TEXT.filter(bool), behind=TEXT)
def test_a_text_that_passed_leaves_what_follows_as_it_would_be(name: str, before: str, text: str, behind: str) -> None:
    gone, handled = STAGES[name](), STAGES[name]()
    for stage in (gone, handled):
        made(stage, ["Words. ", before])
    if gone.passes(text):
        gone.went_out(text)
        handled.handle(TextDelta(text))
        assert gone.handle_all([TextDelta(behind), END]) == handled.handle_all([TextDelta(behind), END])


@pytest.mark.parametrize("text", ["if a < b", "an empty dict{}", "x{+1} <div>"])
@pytest.mark.parametrize("name", STAGES)
def test_signs_that_begin_nothing_do_not_hold_a_text_up(name: str, text: str) -> None:
    stage = STAGES[name]()
    made(stage, ["Words. "])
    assert stage.passes(f"{text} and so on.")
