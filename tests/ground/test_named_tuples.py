"""`records.NamedTuple` against the one of `typing`: the same answers to whoever asks, and the same refusals."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.records import NamedTuple

MAKING: Any = type(NamedTuple)


class Ours(NamedTuple):
    """A place on a page."""

    line: int
    column: int = 1
    words: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.line}:{self.column}"

    @classmethod
    def first(cls) -> Ours:
        return cls(1)


class Theirs(typing.NamedTuple):
    """A place on a page."""

    line: int
    column: int = 1
    words: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.line}:{self.column}"


class Undescribed(NamedTuple):
    pass


ASKED: dict[str, Callable[[Any], Any]] = {
    "fields": lambda cls: cls._fields,
    "defaults": lambda cls: dict(cls._field_defaults),
    "the order for patterns": lambda cls: cls.__match_args__,
    "the docstring": lambda cls: cls.__doc__,
    "a value by position": lambda cls: tuple(cls(3, 4, ("a",))),
    "a value by name": lambda cls: tuple(cls(column=4, line=3)),
    "defaults that are not given": lambda cls: tuple(cls(3)),
    "a field": lambda cls: (cls(3).line, cls(3).column, cls(3).words),
    "a method": lambda cls: cls(3).shown,
    "how it is shown": lambda cls: repr(cls(3)).partition("(")[2],
    "a dictionary": lambda cls: cls(3)._asdict(),
    "a copy with a change": lambda cls: tuple(cls(3)._replace(column=9)),
    "made of values": lambda cls: tuple(cls._make([1, 2, ()])),
    "equality with a tuple": lambda cls: cls(3) == (3, 1, ()),
    "its hash": lambda cls: hash(cls(3)) == hash((3, 1, ())),
    "a copy": lambda cls: copy.deepcopy(cls(3)) == cls(3),
    "through a pickle": lambda cls: type(pickle.loads(pickle.dumps(cls(3)))) is cls,
    "its types": typing.get_type_hints,
    "no other attributes": lambda cls: hasattr(cls(3), "__dict__"),
    "unpacked": lambda cls: [*cls(3)],
}


@pytest.mark.parametrize("question", ASKED)
def test_a_named_tuple_answers_as_the_standard_one_does(question: str) -> None:
    assert ASKED[question](Ours) == ASKED[question](Theirs)


WRONG: dict[str, Callable[[Any], Any]] = {
    "too few": lambda cls: cls(),
    "too many": lambda cls: cls(1, 2, (), 4),
    "an unknown name": lambda cls: cls(1, row=2),
    "made of too few": lambda cls: cls._make([1]),
    "made of too many": lambda cls: cls._make([1, 2, 3, 4]),
    "a change of no field": lambda cls: cls(1)._replace(row=2),
    "a field set": lambda cls: setattr(cls(1), "line", 2),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_named_tuple_refuses_what_the_standard_one_refuses(mistake: str) -> None:
    told = []
    for cls in (Ours, Theirs):
        with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
            WRONG[mistake](cls)
        told.append((raised.type, str(raised.value).replace(cls.__name__, "It")))
    assert told[0] == told[1]


def test_one_of_no_fields_can_be_made() -> None:
    assert (Undescribed(), Undescribed.__doc__) == ((), "Undescribed()")


def test_a_class_method_makes_one() -> None:
    assert Ours.first() == Ours(1)


MISUSED: dict[str, dict[str, Any]] = {
    "a default before a field without one": {"__annotations__": {"a": "int", "b": "int"}, "a": 1},
    "a field of the tuple's own": {"__annotations__": {"_replace": "int"}},
    "a constructor of its own": {"__annotations__": {"a": "int"}, "__new__": lambda cls: cls},
}


@pytest.mark.parametrize("misuse", MISUSED)
def test_a_class_that_cannot_be_one_is_refused_when_it_is_made(misuse: str) -> None:
    body = {"__module__": __name__, "__qualname__": "Wrong", **MISUSED[misuse]}
    with pytest.raises(TypeError, match=r"choose another name|change their order"):
        MAKING("Wrong", (NamedTuple,), body)


def test_another_base_is_refused() -> None:
    with pytest.raises(TypeError, match="no other bases"):
        MAKING("Wrong", (NamedTuple, dict), {})
