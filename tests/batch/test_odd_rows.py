"""Rows in which anything may stand anywhere: each is judged, and none ends the run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.batch.formats.table import ROWS
from dragoman.batch.judging.row_judge import judge
from dragoman.batch.options import Options

ODD: tuple[Any, ...] = (
    None,
    0,
    1.5,
    True,
    "",
    [],
    {},
    [[]],
    [None],
    ["x"],
    [{}],
    {"a": 1},
    "x",
    [["a"]],
    [["a", "b", "c"]],
    {"role": {}},
)
MORE = ("history", "messages", "tools", "input", "system", "context", "completion", "chosen", "role", "content")
SAMPLES = [json.loads(one.sample) for one in ROWS if one.sample.startswith("{")]


def changed(value: Any, data: st.DataObject) -> Any:
    """The value, with odd ones for some of those in it."""
    if data.draw(st.integers(0, 4)) == 0:
        return data.draw(st.sampled_from(ODD))
    if isinstance(value, dict):
        made = {key: changed(one, data) for key, one in value.items()}
        more = {data.draw(st.sampled_from(MORE)): data.draw(st.sampled_from(ODD))} if data.draw(st.booleans()) else {}
        return made | more
    return [changed(one, data) for one in value] if isinstance(value, list) else value


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_no_row_ends_the_run(sample: dict[str, Any], data: st.DataObject) -> None:
    row = {key: changed(value, data) for key, value in sample.items()}
    assert judge(json.dumps(row).encode(), Options(), ("x", 0)).verdict


@pytest.mark.parametrize(
    "row",
    [
        {"instruction": "a", "input": "", "output": "b", "history": [["asked"]]},
        {"instruction": "a", "input": "", "output": "b", "history": [["one", "two", "three"]]},
        {
            "attributes": {
                "llm.model_name": "m",
                "llm.input_messages.0.message.role": {},
                "llm.input_messages.0.message.content": "hi",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "x",
            }
        },
    ],
)
def test_a_pair_of_three_and_a_role_that_is_no_text_break_their_row_alone(row: dict[str, Any]) -> None:
    assert judge(json.dumps(row).encode(), Options(), ("x", 0)).findings
