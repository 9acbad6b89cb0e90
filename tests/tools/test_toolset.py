"""Sets of tools: merged, chosen from, renamed, never two of one name."""

from __future__ import annotations

import pytest

from dragoman import Tool, UsageError
from dragoman.errors import UnknownName
from dragoman.tools import Runnable, ToolSet, runnable, tool


@tool(read_only=True)
def read(path: str) -> str:
    """Read a file."""
    return path


@tool
def write(path: str, text: str) -> None:
    """Write a file."""


def other(n: int) -> None:
    """Something else."""


BOTH = ToolSet(read, write)


def test_a_set_is_a_mapping_in_the_order_given() -> None:
    assert list(BOTH) == ["read", "write"]
    assert len(BOTH) == 2
    assert "read" in BOTH
    assert [each.name for each in BOTH.definitions] == ["read", "write"]
    assert BOTH["read"] is runnable(read)
    assert dict(BOTH) == dict(ToolSet(read, write))
    assert repr(BOTH) == "ToolSet(read, write)"


def test_an_unknown_name_is_told_with_its_neighbours() -> None:
    with pytest.raises(UnknownName, match="did you mean 'read'"):
        BOTH["reed"]
    assert BOTH.get("reed") is None


def test_sets_are_merged() -> None:
    assert list(BOTH | ToolSet(other)) == ["read", "write", "other"]
    assert list(BOTH | other) == ["read", "write", "other"]
    assert list(other | BOTH) == ["other", "read", "write"]
    assert list(ToolSet(BOTH, other, BOTH)) == ["read", "write", "other"]


def test_the_error_distinguishes_two_tools_of_one_name() -> None:
    with pytest.raises(UsageError) as raised:
        BOTH | runnable(other, name="read")
    assert "'Read a file.' and 'Something else.'" in str(raised.value)
    assert "namespaced" in str(raised.value)
    with pytest.raises(UsageError, match="with the parameters"):
        ToolSet((Tool(name="a"), lambda x: x), (Tool(name="a"), lambda y: y))


def test_tools_are_chosen_by_name_and_by_predicate() -> None:
    assert list(BOTH.only("write")) == ["write"]
    assert list(BOTH.only(["write", "read"])) == ["read", "write"]
    assert list(BOTH.only(lambda each: each.read_only)) == ["read"]
    assert list(BOTH.without("read")) == ["write"]
    assert list(BOTH.without(lambda each: each.read_only)) == ["write"]
    with pytest.raises(UnknownName):
        BOTH.only("reed")
    with pytest.raises(UnknownName):
        BOTH.without(["reed"])


def test_names_change_and_tools_stay() -> None:
    renamed = BOTH.renamed({"read": "load"})
    assert list(renamed) == ["load", "write"]
    assert renamed["load"].function is BOTH["read"].function
    assert list(BOTH.renamed({"read": "write", "write": "read"})) == ["write", "read"]
    assert list(BOTH.namespaced("fs")) == ["fs.read", "fs.write"]
    assert list(BOTH.namespaced("fs") | BOTH.namespaced("s3")) == ["fs.read", "fs.write", "s3.read", "s3.write"]
    assert list(BOTH) == ["read", "write"]
    with pytest.raises(UsageError, match="two tools are named 'write'"):
        BOTH.renamed({"read": "write"})
    with pytest.raises(UnknownName):
        BOTH.renamed({"reed": "x"})
    with pytest.raises(UsageError, match="not empty"):
        BOTH.renamed({"read": ""})


def test_a_list_is_not_a_tool() -> None:
    with pytest.raises(UsageError, match=r"ToolSet\(\*tools\)"):
        ToolSet([read, write])


def test_an_empty_set_is_a_set() -> None:
    assert dict(ToolSet()) == {}
    assert ToolSet().definitions == ()
    assert isinstance(next(iter(BOTH.values())), Runnable)
