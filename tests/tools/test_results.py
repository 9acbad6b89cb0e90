"""Whatever a tool returns becomes a result: text, JSON, parts, files."""

from __future__ import annotations

import base64
import collections
import datetime as dt
import decimal
import enum
import json
import pathlib
import re
import uuid
from dataclasses import dataclass
from typing import Any, NamedTuple

import attrs
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Media, Text, ToolCall, ToolError, ToolResult
from dragoman.tools import FileResult, Unwritable, result_of
from dragoman.tools.to_json import plain

CALL = ToolCall(id="c1", name="t")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@dataclass
class Point:
    x: int
    when: dt.date


class Pair(NamedTuple):
    a: int
    b: str


@attrs.define
class Crate:
    size: int


class Model(pydantic.BaseModel):
    when: dt.datetime
    path: pathlib.Path


class Color(enum.Enum):
    RED = "red"


class Shade(enum.Enum):
    DARK = object()


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Array:
    def tolist(self) -> list[int]:
        return [1, 2]


class Frame:
    def to_dict(self) -> dict[str, Any]:
        return {"a": Array()}


class Plot:
    def _repr_png_(self) -> bytes:
        return PNG


# (what was returned, the JSON it is)
JSON: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (3, 3),
    (2**80, 2**80),
    (1.5, 1.5),
    (float("nan"), "NaN"),
    ([float("inf"), -float("inf")], ["Infinity", "-Infinity"]),
    ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
    ((1, 2), [1, 2]),
    ({3, 1, 2}, [1, 2, 3]),
    (frozenset({"b", "a"}), ["a", "b"]),
    (collections.deque([1]), [1]),
    (range(3), [0, 1, 2]),
    ({"a": 1}.keys(), ["a"]),
    (map(str, [1]), ["1"]),
    ({1: "a", None: "b", 1.5: "c", Color.RED: "d", dt.date(2024, 1, 2): "e"},
     {"1": "a", "null": "b", "1.5": "c", "red": "d", "2024-01-02": "e"}),
    (Point(1, dt.date(2024, 1, 2)), {"x": 1, "when": "2024-01-02"}),
    (Pair(1, "b"), {"a": 1, "b": "b"}),
    (Crate(2), {"size": 2}),
    (Model(when=dt.datetime(2024, 1, 2), path=pathlib.Path("/a")), {"when": "2024-01-02T00:00:00", "path": "/a"}),
    (Color.RED, "red"),
    (Shade.DARK, "DARK"),
    (Rights.READ | Rights.WRITE, ["READ", "WRITE"]),
    (dt.timedelta(days=1, seconds=1.5), "P1DT1.5S"),
    (dt.timedelta(), "PT0S"),
    (decimal.Decimal("1.10"), "1.10"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (pathlib.Path("/a/b"), "/a/b"),
    (re.compile("a+"), "a+"),
    (Array(), [1, 2]),
    (Frame(), {"a": [1, 2]}),
    ({"inner": b"hi"}, {"inner": "aGk="}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "written"), JSON, ids=[f"{i}-{type(row[0]).__name__}" for i, row in enumerate(JSON)])
def test_a_value_is_shown_as_its_json(value: Any, written: Any) -> None:
    found = result_of(CALL, value)
    assert found == ToolResult(call_id="c1", name="t", content=found.text, metadata={"value": written})
    assert written == (found.text if isinstance(written, str) else json.loads(found.text))


def test_text_is_shown_as_it_stands() -> None:
    assert result_of(CALL, "Füße\n").content == (Text("Füße\n"),)
    assert result_of(CALL, "").content == (Text(""),)
    assert result_of(CALL, {"a": "Füße"}).text == '{"a": "Füße"}'
    assert result_of(CALL, "a\ud800b").text == "a\ufffdb"


IMAGE = Media(mime="image/png", data=base64.b64encode(PNG).decode())

# (what was returned, the parts it is)
PARTS: list[tuple[Any, tuple[Text | Media, ...]]] = [
    (Text("a"), (Text("a"),)),
    (IMAGE, (IMAGE,)),
    (["see:", IMAGE], (Text("see:"), IMAGE)),
    ((Text("a"), b"b"), (Text("a"), Text("b"))),
    (b"plain text", (Text("plain text"),)),
    (b"\xef\xbb\xbfmarked", (Text("marked"),)),
    (bytearray(PNG), (IMAGE,)),
    (Plot(), (IMAGE,)),
    (b"%PDF-1.7 \xff", (Media(mime="application/pdf", data=base64.b64encode(b"%PDF-1.7 \xff").decode()),)),
    (b"\xff\x00", (Media(mime="application/octet-stream", data="/wA="),)),
    (FileResult("/x/shot.png"), (Media(mime="image/png", data=IMAGE.data, name="shot.png"),)),
    (FileResult("/x/notes.md"), (Text("# Notes"),)),
    (FileResult("/x/data.bin", mime="audio/wav", name="voice"), (Media(mime="audio/wav", data="/wA=", name="voice"),)),
]
FILES = {"/x/shot.png": PNG, "/x/notes.md": b"# Notes", "/x/data.bin": b"\xff\x00"}


@pytest.mark.parametrize(("value", "parts"), PARTS, ids=[f"{i}-{type(row[0]).__name__}" for i, row in enumerate(PARTS)])
def test_parts_bytes_and_files_are_parts(value: Any, parts: tuple[Text | Media, ...]) -> None:
    assert result_of(CALL, value, FILES.__getitem__).content == parts


def test_a_file_that_cannot_be_read_is_a_failure() -> None:
    def refuse(path: str) -> bytes:
        raise FileNotFoundError(2, "No such file or directory", path)

    assert result_of(CALL, FileResult("/nothing"), refuse).error_code == "ENOENT"
    assert result_of(CALL, FileResult("/nothing")).is_error


def test_a_result_stays_and_gets_the_calls_id() -> None:
    given = ToolResult(call_id="", content="x", is_error=True, error_code="Mine", metadata={"a": 1})
    assert result_of(CALL, given) == ToolResult(
        call_id="c1", name="t", content="x", is_error=True, error_code="Mine", metadata={"a": 1}
    )


def test_an_error_returned_is_a_failure() -> None:
    found = result_of(CALL, ToolError("Mine", "no"))
    assert (found.is_error, found.error_code, found.text) == (True, "Mine", "no")


class Strange:
    pass


def nested() -> Any:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize("value", [Strange(), nested(), {(1, 2): 3}, [Strange()]])
def test_what_has_no_json_is_a_failure_that_says_so(value: Any) -> None:
    with pytest.raises(Unwritable):
        plain(value)
    found = result_of(CALL, value)
    assert (found.is_error, found.error_code) == (True, "ToolCrashed")
    assert "the tool ran" in found.text
    assert "return" in found.text


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@settings(deadline=None)
@given(ANY_JSON)
def test_json_stays_what_it_is(value: Any) -> None:
    assert plain(value) == json.loads(json.dumps(value))
    json.dumps(plain(value), ensure_ascii=False).encode()
