"""The YAML that models write: what is read is what a YAML library reads, and what has two readings is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragoman.lenient.notation import Broken, Cut
from dragoman.lenient.yaml import read_mapping

VALUES = (
    "a", "it's", "x # y", "#z", "a: b", "a:b", ": c", "- d", "-e", "'q'", '"dq"', "'it''s'", r'"a\nb"', '"a # b"',
    "'a # b'", "[a, b]", '["x", y]', '["x # y", "it\'s"] # z', "{k: v}", '{"k": "v # w"}', "[a, [b]]", "[a, # b",
    "[a", "b]", "c # d]", "true", "~", "12", "1.5", "-3", "0x10", "|", "|-", ">", ">-", "|+", "# c", "", "  ", r"C:\x",
    "*star", "&amp", "!tag", "@at", "`t`", "?q", "{un", "]", ",", "http://x.y/z", "10:30", "'open", '"open', "é", "---",
    "a#b", "a #", '"x" # c', "[a] # c",
)  # fmt: skip
KEYS = ("k1", "k2", "k3", '"k4"', "'k5'", "k 6")
values, keys = st.sampled_from(VALUES), st.sampled_from(KEYS)
entries = st.builds("{}:{}{}".format, keys, st.sampled_from([" ", "  ", ""]), values)
items = values.filter(lambda v: v[:1] not in ("|", ">")).map("- {}".format)
lines = entries | items | values | st.sampled_from(["", "# c"])
indented = st.builds(lambda depth, line: " " * depth + line, st.sampled_from([0, 0, 2, 2, 4]), lines)
documents = st.builds(lambda first, rest: "\n".join([f"a: {first}", *rest]) + "\n", values, st.lists(indented, max_size=6))


def texts(value: Any) -> Any:
    """The value with a mark for whatever is no text: how YAML types plain words is not asked here."""
    if isinstance(value, dict):
        return {key: texts(one) for key, one in value.items()}
    if isinstance(value, list):
        return [texts(one) for one in value]
    return value if isinstance(value, str) else ...


def agrees(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict):
        return isinstance(theirs, dict) and ours.keys() == theirs.keys() and all(agrees(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list):
        return isinstance(theirs, list) and len(ours) == len(theirs) and all(map(agrees, ours, theirs))
    return bool(ours == theirs) or (ours is ... and isinstance(theirs, str))


@settings(max_examples=400, deadline=None)
@given(documents)
def test_what_is_read_is_what_a_yaml_library_reads(text: str) -> None:
    try:
        theirs = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        assume(False)
    try:
        ours = read_mapping(text)
    except (Broken, Cut):
        return
    assert agrees(texts(ours), theirs)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('a: ["x # y", {"b": "c: # d"}]\n', ["x # y", {"b": "c: # d"}]),
        ("a: [\"it's # x\", 'a # b'] # none\n", ["it's # x", "a # b"]),
        ('a: [x, # first\n  "y"] # last\n', ["x", "y"]),
        ("a: [x#y, it's # z\n  ]\n", ["x#y", "it's"]),
        ("a: |\n  one\n    \n  two\n", "one\n  \ntwo\n"),
        ("a:\n  >-\n  one\n  two\n", "one two"),
        ("a: x\n  # a comment\n", "x"),
        ("a:\n-\n- x\n- # none\n", [None, "x", None]),
    ],
)
def test_comments_blocks_and_empty_items_are_read_as_yaml_has_them(text: str, value: Any) -> None:
    assert read_mapping(text) == {"a": value}


@pytest.mark.parametrize(
    "text", ["a: |\n# a head\n", "a: x\n  # a head\n  y\n", "a: [x\n  y]\n", 'a: ["x\n  # y", z # w\n  ]\n']
)
def test_what_may_be_a_comment_or_a_part_of_a_text_is_refused(text: str) -> None:
    with pytest.raises(Broken):
        read_mapping(text)
