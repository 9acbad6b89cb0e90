"""Records answer as the data classes of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from dragoman import records

MAKERS: dict[str, Callable[..., Any]] = {"standard": dataclasses.dataclass, "record": records.dataclass}


def point(make: Callable[..., Any], **options: Any) -> Any:
    @make(**options)
    class Point:
        """A place."""

        kinds: ClassVar[int] = 2
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)
        note: str = dataclasses.field(default="", repr=False, kw_only=True)

        def total(self) -> int:
            return self.x + self.y

    return Point


def pair(make: Callable[..., Any], **options: Any) -> Any:
    base = point(make, **options)

    @make(**options)
    class Pair(base):  # type: ignore[misc, valid-type]
        """Two of them."""

        z: int = 3
        made: int = dataclasses.field(default=7, init=False)

        def __post_init__(self) -> None:
            assert self.total() > 0

    return Pair


OPTIONS = [{}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}, {"frozen": True, "slots": True, "kw_only": True},
           {"eq": False}, {"repr": False}, {"slots": True, "eq": False}]  # fmt: skip


def answers(cls: Any) -> list[Any]:
    one, same, other = cls(x=1), cls(x=1, tags=["t"]), cls(x=2, note="n")
    told: list[Any] = [[(f.name, f.type, f.kw_only, f.init) for f in dataclasses.fields(cls)]]
    told += [cls.__match_args__, list(map(str, inspect.signature(cls).parameters.values())), one == same, one == other]
    told += [one != other, one == 1, dataclasses.asdict(same), copy.copy(same) == same, same.total(), cls.kinds]
    told += [dataclasses.replace(one, x=5).x, cls.__qualname__, cls.__doc__, hasattr(one, "__dict__"), cls.__name__]
    told.append(repr(other) if cls.__repr__ is not object.__repr__ else "")
    told.append(cls.__hash__ is None or cls.__hash__ is object.__hash__ or hash(one) == hash(same))
    for change in (lambda: setattr(one, "x", 9), lambda: delattr(one, "x"), cls, lambda: setattr(one, "new", 1)):
        try:
            change()
            told.append("done")
        except (AttributeError, TypeError):  # standard ones that are frozen and slotted mix up the two
            told.append("refused")
    return told


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [point, pair])
def test_a_record_is_a_data_class(shape: Callable[..., Any], options: dict[str, Any]) -> None:
    standard, record = (answers(shape(make, **options)) for make in MAKERS.values())
    standard[12] = record[12] = None  # qualified names hold the function's
    assert record == standard


GIVEN: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "nothing": ((), {}),
    "by position": ((1, 3), {}),
    "by name": ((), {"y": 4, "x": 1, "note": "n"}),
    "both": ((1,), {"tags": ["t"]}),
    "one twice": ((1,), {"x": 1}),
    "one too many": ((1, 2, [], 4, 5, 6), {}),
    "an unknown name": ((1,), {"colour": "red"}),
    "one that is not given": ((1,), {"made": 8}),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("options", OPTIONS[:4], ids=str)
@pytest.mark.parametrize("shape", [point, pair])
def test_the_first_of_a_class_is_made_as_the_hundredth_is(
    shape: Callable[..., Any], options: dict[str, Any], given: str
) -> None:
    told: list[list[Any]] = []
    for make in MAKERS.values():
        cls, placed, named = shape(make, **options), *GIVEN[given]
        one: list[Any] = []
        for _ in range(records.FEW + 2):
            try:
                one.append(repr(cls(*placed, **named)))
            except TypeError as error:
                one.append(str(error))
        told.append(one)
    assert told[1] == told[0]
    assert len(set(told[1])) == 1


def test_a_data_class_may_inherit_from_a_record() -> None:
    base = point(records.dataclass, frozen=True, slots=True)
    made: Any = dataclasses.dataclass(frozen=True)(type("Made", (base,), {"__annotations__": {"w": "int"}, "w": 4}))
    assert made(1).w == 4
    assert [f.name for f in dataclasses.fields(made)] == ["x", "y", "tags", "note", "w"]


@records.dataclass(frozen=True, slots=True)
class Kept:
    """One that a pickle can name."""

    name: str
    value: float = float("nan")


def test_a_frozen_record_survives_a_pickle_and_is_itself_though_it_holds_nan() -> None:
    kept = Kept("a")
    assert pickle.loads(pickle.dumps(kept)).name == "a"
    assert kept == kept  # noqa: PLR0124
    assert repr(Kept("b", 1.0)) == "Kept(name='b', value=1.0)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        kept.name = "b"  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["InitVar[int]", "KW_ONLY", int])
def test_what_is_not_supported_is_told_when_the_class_is_made(kind: Any) -> None:
    with pytest.raises(TypeError, match="use `dataclasses`"):
        records.dataclass(type("Odd", (), {"__annotations__": {"x": kind}}))


@pytest.mark.parametrize("shape", [point, pair])
def test_what_makes_many_records_makes_the_same(shape: Callable[..., Any]) -> None:
    cls = shape(records.dataclass, frozen=True, slots=True)
    make: Any = records.maker(cls)
    for given in ({"x": 1}, {"x": 1, "y": 3, "tags": ["t"], "note": "n"}):
        one = make(**given)
        assert type(one) is cls
        assert one == cls(**given)
        assert repr(one) == repr(cls(**given))
        with pytest.raises(AttributeError):
            one.x = 2
    assert make(1, 2, ["t"]) == cls(1, 2, ["t"])
    assert make(1).tags is not make(1).tags
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize("shape", [point, pair])
def test_a_record_is_copied_with_some_fields_changed(shape: Callable[..., Any]) -> None:
    cls = shape(records.dataclass, frozen=True, slots=True)
    one = cls(1, 2, ["t"], note="n")
    made = records.changer(cls, "y", "note")(one, 5, "m")
    assert type(made) is cls
    assert made == cls(1, 5, ["t"], note="m")
    assert made.tags is one.tags
    assert (one.y, one.note) == (2, "n")
