"""Every type becomes a sound schema, and JSON that fits it becomes a value of the type."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import typing
import uuid
import zoneinfo
from collections import abc
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

import annotated_types as at
import attrs
import pydantic
import pytest
import typing_extensions as te
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Tool, UsageError
from dragoman.schema import api_rules as schema_rules
from dragoman.schema.narrowing.narrow import narrow_tool
from dragoman.schema.validation import check_schema, faults, signature
from dragoman.tools import InvalidValue, Undescribed, form_of, runnable
from dragoman.tools.to_json import plain

T = TypeVar("T")


BoundedT = TypeVar("BoundedT", bound=int)
DefaultT = te.TypeVar("DefaultT", default=str)
Lost = te.TypeAliasType("Lost", "list[Nowhere]")  # type: ignore[name-defined]  # noqa: F821


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Shade(enum.Enum):
    LIGHT = (1, 2)
    DARK = (3, 4)


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Point:
    """A place.

    Attributes:
        x: Left to right.
    """

    x: int
    y: int = 0


@dataclass
class Node:
    value: int
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None


@dataclass
class Page(Generic[T]):
    items: list[T]
    first: T | None = None


@dataclass
class Points(Page[Point]):
    total: int = 0


@dataclass
class Odd:
    shown: int
    hidden: int = field(default=1, init=False)
    described: str = field(default="", metadata={"description": "What is told."})
    extra: dataclasses.InitVar[int] = 2
    every: typing.ClassVar[int] = 5

    def __post_init__(self, extra: int) -> None:
        self.hidden = extra
        if self.shown < 0:
            raise ValueError("shown cannot be negative")


class Movie(TypedDict):
    title: str
    year: te.NotRequired[int]
    stars: te.ReadOnly[float]


class Later(te.TypedDict):
    a: te.NotRequired[int]


class Two(TypedDict):
    a: dt.date
    b: list[uuid.UUID]


class Loose(TypedDict, total=False):
    name: te.Required[str]
    age: int


class Pair(NamedTuple):
    key: str
    value: int = 7


@attrs.define
class Crate:
    size: int
    _label: str = "none"
    parts: list[str] = attrs.field(factory=list)


class Model(pydantic.BaseModel):
    """A model."""

    name: str
    when: dt.date | None = None
    inner: list[Inner] = []


class Inner(pydantic.BaseModel):
    n: Annotated[int, pydantic.Field(gt=0)]


class Tree(pydantic.BaseModel):
    leaves: list[Tree] = []


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]


class Name(str):
    __slots__ = ()


UserId = NewType("UserId", int)
Tags = te.TypeAliasType("Tags", list[str])
Rose = te.TypeAliasType("Rose", "int | list[Rose]")
Twice = te.TypeAliasType("Twice", tuple[T, T], type_params=(T,))

DATE = {"type": "string", "format": "date"}
STRING, INTEGER, NUMBER, NULL = ({"type": kind} for kind in ("string", "integer", "number", "null"))
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer", "description": "Left to right."}, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
    "additionalProperties": False,
    "description": "A place.",
}

# (annotation, its schema, JSON that fits, the value of it)
TABLE: list[tuple[Any, Any, Any, Any]] = [
    (str, STRING, "a", "a"),
    (int, INTEGER, 3, 3),
    (int, INTEGER, 3.0, 3),
    (float, NUMBER, 3, 3.0),
    (bool, {"type": "boolean"}, True, True),
    (None, NULL, None, None),
    (Any, {}, {"a": [1]}, {"a": [1]}),
    (object, {}, [1], [1]),
    (bytes, {"type": "string", "contentEncoding": "base64"}, "aGk=", b"hi"),
    (bytearray, {"type": "string", "contentEncoding": "base64"}, "aGk=", bytearray(b"hi")),
    (list, {"type": "array", "items": {}}, [1, "a"], [1, "a"]),
    (list[int], {"type": "array", "items": INTEGER}, [1], [1]),
    (typing.List[str], {"type": "array", "items": STRING}, ["a"], ["a"]),  # noqa: UP006
    (abc.Sequence[float], {"type": "array", "items": NUMBER}, [1], [1.0]),
    (abc.Iterable[Color], {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}, ["red"], [Color.RED]),
    (collections.deque[int], {"type": "array", "items": INTEGER}, [1], collections.deque([1])),
    (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}, [1, 2], {1, 2}),
    (frozenset[str], {"type": "array", "items": STRING, "uniqueItems": True}, ["a"], frozenset({"a"})),
    (abc.Set[str], {"type": "array", "items": STRING, "uniqueItems": True}, ["a"], {"a"}),
    (tuple, {"type": "array", "items": {}}, [1, 2], (1, 2)),
    (tuple[int, ...], {"type": "array", "items": INTEGER}, [1, 2], (1, 2)),
    (tuple[int, Color], {"type": "array", "minItems": 2, "maxItems": 2,
                         "prefixItems": [INTEGER, {"type": "string", "enum": ["red", "blue"]}]}, [1, "red"], (1, Color.RED)),
    (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}, [], ()),
    (dict, {"type": "object", "additionalProperties": True}, {"a": 1}, {"a": 1}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}, {"a": 1}, {"a": 1}),
    (abc.Mapping[str, Any], {"type": "object", "additionalProperties": True}, {"a": 1}, {"a": 1}),
    (dict[int, str], {"type": "object", "additionalProperties": STRING, "propertyNames": {"pattern": "^-?[0-9]+$"}}, {"-4": "a"}, {-4: "a"}),
    (dict[Color, int], {"type": "object", "additionalProperties": INTEGER, "propertyNames": {"enum": ["red", "blue"]}}, {"red": 1}, {Color.RED: 1}),
    (dict[Level, int], {"type": "object", "additionalProperties": INTEGER, "propertyNames": {"enum": ["1", "2"]}}, {"2": 1}, {Level.HIGH: 1}),
    (dict[dt.date, int], {"type": "object", "additionalProperties": INTEGER, "propertyNames": {"format": "date"}}, {"2024-05-31": 1}, {dt.date(2024, 5, 31): 1}),
    (collections.Counter[str], {"type": "object", "additionalProperties": INTEGER}, {"a": 2}, collections.Counter("aa")),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
    (Literal[1, "a", None, True], {"type": ["integer", "string", "null", "boolean"], "enum": [1, "a", None, True]}, True, True),
    (Literal[Color.RED], {"type": "string", "enum": ["red"]}, "red", Color.RED),
    (Color, {"type": "string", "enum": ["red", "blue"]}, "blue", Color.BLUE),
    (Level, {"type": "integer", "enum": [1, 2], "description": "1 = LOW, 2 = HIGH"}, 2, Level.HIGH),
    (Shade, {"type": "string", "enum": ["LIGHT", "DARK"]}, "DARK", Shade.DARK),
    (Rights, {"type": "array", "items": {"type": "string", "enum": ["READ", "WRITE"]}, "uniqueItems": True},
     ["READ", "WRITE"], Rights.READ | Rights.WRITE),
    (Optional[int], {"type": ["integer", "null"]}, None, None),  # noqa: UP045
    (Union[int, str], {"type": ["integer", "string"]}, "1", "1"),  # noqa: UP007
    (int | float, {"type": ["integer", "number"]}, 3, 3),
    (float | int, {"type": ["number", "integer"]}, 3, 3),
    (str | None, {"type": ["string", "null"]}, "a", "a"),
    (list[int] | None, {"type": ["array", "null"], "items": INTEGER}, [1], [1]),
    (Color | None, {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, NULL]}, "red", Color.RED),
    (str | Color, {"anyOf": [STRING, {"type": "string", "enum": ["red", "blue"]}]}, "red", Color.RED),
    (dt.date | str, {"anyOf": [DATE, STRING]}, "2024-05-31", dt.date(2024, 5, 31)),
    (dt.date | str, {"anyOf": [DATE, STRING]}, "soon", "soon"),
    (str | pathlib.PurePosixPath, {"anyOf": [STRING, {"type": "string", "format": "path"}]}, "/a", "/a"),
    (int | Any, {}, "x", "x"),
    (list[int] | list[str], {"anyOf": [{"type": "array", "items": INTEGER}, {"type": "array", "items": STRING}]}, ["a"], ["a"]),
    (dt.datetime, {"type": "string", "format": "date-time"}, "2024-05-31T14:30:00Z", dt.datetime(2024, 5, 31, 14, 30, tzinfo=dt.UTC)),
    (dt.date, DATE, "2024-05-31", dt.date(2024, 5, 31)),
    (dt.time, {"type": "string", "format": "time"}, "14:30:00", dt.time(14, 30)),
    (dt.timedelta, {"type": "string", "format": "duration"}, "P1DT1H30M", dt.timedelta(days=1, hours=1, minutes=30)),
    (uuid.UUID, {"type": "string", "format": "uuid"}, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
    (pathlib.Path, {"type": "string", "format": "path"}, "/tmp", pathlib.Path("/tmp")),
    (fractions.Fraction, STRING, "3/4", fractions.Fraction(3, 4)),
    (ipaddress.IPv4Address, {"type": "string", "format": "ipv4"}, "10.0.0.1", ipaddress.IPv4Address("10.0.0.1")),
    (zoneinfo.ZoneInfo, STRING, "UTC", zoneinfo.ZoneInfo("UTC")),
    (re.Pattern[str], {"type": "string", "format": "regex"}, "a+", re.compile("a+")),
    (Name, STRING, "x", Name("x")),
    (UserId, INTEGER, 4, 4),
    (Tags, {"type": "array", "items": STRING}, ["a"], ["a"]),
    (Twice[int], {"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [INTEGER, INTEGER]}, [1, 2], (1, 2)),
    (typing.LiteralString, STRING, "a", "a"),
    (T, {}, [1], [1]),
    (BoundedT, INTEGER, 1, 1),
    (DefaultT, STRING, "a", "a"),
    ("int | None", {"type": ["integer", "null"]}, 1, 1),
    (typing.Final[int], INTEGER, 1, 1),
    (Annotated[int, pydantic.Field(json_schema_extra={"format": "int32"})], {"type": "integer", "format": "int32"}, 1, 1),
    (typing.AnyStr, {"anyOf": [{"type": "string", "contentEncoding": "base64"}, STRING]}, "abcd", "abcd"),
    (Later,
     {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": False}, {}, {}),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}, 1, 1),
    (Annotated[int, te.Doc("how many")], {"type": "integer", "description": "how many"}, 1, 1),
    (Annotated[int, at.Ge(0), at.Lt(10)], {"type": "integer", "minimum": 0, "exclusiveMaximum": 10}, 3, 3),
    (Annotated[float, at.Interval(gt=0, le=1)], {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, 1, 1.0),
    (Annotated[int, at.MultipleOf(5)], {"type": "integer", "multipleOf": 5}, 10, 10),
    (Annotated[str, at.Len(1, 3)], {"type": "string", "minLength": 1, "maxLength": 3}, "ab", "ab"),
    (Annotated[list[int], at.MinLen(1)], {"type": "array", "items": INTEGER, "minItems": 1}, [1], [1]),
    (Annotated[dict[str, int], at.MaxLen(2)], {"type": "object", "additionalProperties": INTEGER, "maxProperties": 2}, {}, {}),
    (Annotated[int | None, at.Ge(1)], {"type": ["integer", "null"], "minimum": 1}, None, None),
    (Annotated[str, re.compile("^a+$")], {"type": "string", "pattern": "^a+$"}, "aa", "aa"),
    (Annotated[str, {"format": "email"}], {"type": "string", "format": "email"}, "a@b.c", "a@b.c"),
    (Annotated[int, pydantic.Field(ge=1, description="n", examples=[3])],
     {"type": "integer", "minimum": 1, "description": "n", "examples": [3]}, 2, 2),
    (Annotated[str, pydantic.StringConstraints(pattern="^x", max_length=4)], {"type": "string", "pattern": "^x", "maxLength": 4}, "xy", "xy"),
    (Annotated[decimal.Decimal, at.Gt(1)],
     {"type": "string", "pattern": r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$", "description": "(must be one greater than 1)"},
     "1.10", decimal.Decimal("1.10")),
    (Point, POINT, {"x": 1}, Point(1)),
    (Page[int], {"type": "object", "additionalProperties": False, "required": ["items"], "properties": {
        "items": {"type": "array", "items": INTEGER}, "first": {"type": ["integer", "null"], "default": None}}},
     {"items": [1], "first": 2}, Page([1], 2)),
    (Odd, {"type": "object", "additionalProperties": False, "required": ["shown"], "properties": {
        "shown": INTEGER, "described": {"type": "string", "description": "What is told.", "default": ""}, "extra": {"type": "integer", "default": 2}}},
     {"shown": 1, "extra": 9}, Odd(1, extra=9)),
    (Movie, {"type": "object", "additionalProperties": False, "required": ["title", "stars"], "properties": {
        "title": STRING, "year": INTEGER, "stars": NUMBER}}, {"title": "A", "stars": 4}, {"title": "A", "stars": 4.0}),
    (Loose, {"type": "object", "additionalProperties": False, "required": ["name"], "properties": {
        "name": STRING, "age": INTEGER}}, {"name": "A"}, {"name": "A"}),
    (Pair, {"type": "object", "additionalProperties": False, "required": ["key"], "properties": {
        "key": STRING, "value": {"type": "integer", "default": 7}}}, {"key": "a"}, Pair("a")),
    (Crate, {"type": "object", "additionalProperties": False, "required": ["size"], "properties": {
        "size": INTEGER, "label": {"type": "string", "default": "none"}, "parts": {"type": "array", "items": STRING}}},
     {"size": 1, "label": "x"}, Crate(1, "x")),
    (Model, {"type": "object", "description": "A model.", "required": ["name"], "properties": {
        "name": STRING,
        "when": {"anyOf": [DATE, NULL], "default": None},
        "inner": {"type": "array", "default": [], "items": {
            "type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}}},
    }}, {"name": "a", "when": "2024-05-31", "inner": [{"n": 1}]}, Model(name="a", when=dt.date(2024, 5, 31), inner=[Inner(n=1)])),
    (pydantic.AnyUrl, {"type": "string", "format": "uri", "minLength": 1}, "http://a.b/", pydantic.AnyUrl("http://a.b/")),
    (Annotated[int, pydantic.AfterValidator(lambda n: n + 1)], INTEGER, 1, 2),
]  # fmt: skip
IDS = [f"{i}-{getattr(row[0], '__name__', row[0])}" for i, row in enumerate(TABLE)]


@pytest.mark.parametrize(("annotation", "schema", "written", "value"), TABLE, ids=IDS)
def test_a_type_has_its_schema_and_reads_json_that_fits(annotation: Any, schema: Any, written: Any, value: Any) -> None:
    form = form_of(annotation)
    assert form.schema == schema
    check_schema(form.schema)
    assert faults(form.schema, written) == []
    read = form.read(written)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "annotation", [Node, Rose, Tree, list[Node], Points, Page[Page[int]], Cat | Dog, dict[str, Node]]
)
def test_types_that_hold_themselves_or_others_have_sound_schemas(annotation: Any) -> None:
    check_schema(form_of(annotation).schema)


def test_a_recursive_type_is_read_to_its_depth() -> None:
    written = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}], "parent": {"value": 0}}
    form = form_of(Node)
    assert form.schema["type"] == "object"
    assert faults(form.schema, written) == []
    assert faults(form.schema, {"value": 1, "children": [{"value": "x"}]})[0].path == "$.children[0].value"
    assert form.read(written) == Node(1, [Node(2, [Node(3)])], Node(0))


def test_a_recursive_alias_is_read_to_its_depth() -> None:
    form = form_of(Rose)
    assert faults(form.schema, [1, [2, [3]]]) == []
    assert faults(form.schema, [1, ["a"]]) != []
    assert form.read([1, [2.0]]) == [1, [2]]


def test_a_generic_base_is_filled_in_by_its_subclass() -> None:
    form = form_of(Points)
    assert form.read({"items": [{"x": 1}], "total": 1}) == Points([Point(1)], None, 1)


def test_a_union_of_classes_is_read_as_the_fitting() -> None:
    form = form_of(Cat | Dog)
    assert form.read({"kind": "dog"}) == Dog(kind="dog")
    assert faults(form.schema, {"kind": "cow"}) != []
    assert form_of(list[Point | Pair]).read([{"key": "a"}, {"x": 1}]) == [Pair("a"), Point(1)]


class Zoo(pydantic.BaseModel):
    """Its members are told apart by `kind`; a field is called `title`."""

    title: str
    first: Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]
    second: Cat


def test_a_models_own_schema_is_taken_over_whole() -> None:
    form = form_of(list[Zoo] | dict[str, Zoo])
    check_schema(form.schema)
    assert "title" in form.schema["$defs"]["Zoo"]["properties"]
    written = {"title": "Berlin", "first": {"kind": "dog"}, "second": {"kind": "cat"}}
    assert faults(form.schema, [written]) == []
    assert faults(form.schema, [{**written, "second": {"kind": "dog"}}]) != []
    assert form.read({"a": written}) == {"a": Zoo(title="Berlin", first=Dog(kind="dog"), second=Cat(kind="cat"))}


def test_two_classes_of_one_name_do_not_meet() -> None:
    def other() -> Any:
        @dataclass
        class Point:
            label: str

        return Point

    stranger = other()
    form = form_of(of(tuple, Point, stranger, Point, stranger))
    assert set(form.schema["$defs"]) == {"Point", "Point_2"}
    assert form.read([{"x": 1}, {"label": "a"}, {"x": 2}, {"label": "b"}]) == (
        Point(1),
        stranger("a"),
        Point(2),
        stranger("b"),
    )


# (annotation, JSON that fits the schema, where it is refused, a word of why)
REFUSED: list[tuple[Any, Any, str, str]] = [
    (list[dt.date], ["2024-05-31", "2024-02-31"], "$[1]", "must be a date"),
    (dict[str, uuid.UUID], {"a b": "x"}, '$["a b"]', "a UUID"),
    (bytes, "%%%", "$", "base64"),
    (dt.timedelta, "P1Y", "$", "duration"),
    (float, 10**400, "$", "number"),
    (Odd, {"shown": -1}, "$", "negative"),
    (Annotated[dt.date, at.Ge(dt.date(2024, 1, 1))], "2023-12-31", "$", "at least 2024-01-01"),
    (Annotated[int, at.Predicate(str.isdigit)], 3, "$", "satisfies isdigit"),
    (Annotated[str, re.compile("^A$", re.IGNORECASE)], "b", "$", "^A$"),
    (Annotated[str, re.compile(r"\Aa\Z")], "b", "$", r"\Aa\Z"),
    (Annotated[int, pydantic.AfterValidator(lambda n: 1 // n)], 0, "$", ""),
    (set[Any], [[1]], "$", "list of items"),
    (dt.date | uuid.UUID, "x", "$", "a date"),
]


@pytest.mark.parametrize(("annotation", "written", "path", "word"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_what_only_the_type_refuses_is_told_as_a_fault(annotation: Any, written: Any, path: str, word: str) -> None:
    form = form_of(annotation)
    assert faults(form.schema, written) == []
    with pytest.raises(InvalidValue) as raised:
        form.read(written)
    assert raised.value.faults[0].path == path
    assert word in raised.value.faults[0].message


def test_every_fault_of_an_object_is_told_at_once() -> None:
    with pytest.raises(InvalidValue) as raised:
        form_of(Two).read({"a": "x", "b": ["y"]})
    assert [fault.path for fault in raised.value.faults] == ["$.a", "$.b[0]"]


def test_a_models_own_faults_keep_their_places() -> None:
    with pytest.raises(InvalidValue) as raised:
        form_of(list[Model]).read([{"name": "a", "inner": [{"n": 0}]}])
    assert raised.value.faults[0].path == "$[0].inner[0].n"


@dataclass
class Bad:
    inner: complex


@pytest.mark.parametrize(
    ("annotation", "word"),
    [
        (complex, "complex"),
        (abc.Callable[[int], int], "Callable"),
        (list[complex], "complex"),
        (Bad, "field 'inner' of Bad: complex"),
        (dict[bool, int], "keys"),
        (dict[int | str, int], "keys"),
        (dict[tuple[int, int], int], "keys"),
        (type, "type"),
        (Lost, "Nowhere"),
        (Literal[Rights.READ], "flags"),
        (5, "5"),
        (tuple[int, *tuple[str, ...]], "unpacked"),
        (enum.Enum("Empty", []), "no members"),
    ],
)
def test_what_has_no_json_is_refused_with_what_to_do(annotation: Any, word: str) -> None:
    with pytest.raises(Undescribed) as raised:
        form_of(annotation)
    assert isinstance(raised.value, UsageError)
    assert word in str(raised.value)
    assert re.search(r"\b(use|annotate|give|list|import)\b", str(raised.value))


def test_what_is_read_shares_nothing_with_what_was_given() -> None:
    given: dict[str, Any] = {"a": [1, {"b": 2}]}
    for annotation in (Any, dict, dict[str, Any], dict[str, list[Any]]):
        read = form_of(annotation).read(given)
        read["a"].append(3)
        read["new"] = 1
        assert given == {"a": [1, {"b": 2}]}


def test_classes_of_a_function_are_found_where_they_are() -> None:
    @dataclass
    class Inside:
        others: list[Inside]
        point: Point

    assert form_of(Inside).read({"others": [], "point": {"x": 1}}) == Inside([], Point(1))


RULES = {name: rules for name, rules in vars(schema_rules).items() if isinstance(rules, schema_rules.SchemaRules)}


@pytest.mark.parametrize("name", RULES)
def test_every_api_can_be_told_of_every_type(name: str) -> None:
    for annotation in [row[0] for row in TABLE] + [Node, Rose, Tree, Points, Cat | Dog]:
        parameters = {"type": "object", "properties": {"it": form_of(annotation).schema}, "required": ["it"]}
        for strict in (False, True):
            cut, _ = narrow_tool(Tool(name="t", parameters=parameters, strict=strict), RULES[name])
            check_schema(cut.parameters)
            assert "it" in cut.parameters["properties"]


def test_a_nullable_type_is_named_by_its_other_type() -> None:
    def find(name: str | None, tags: list[str] | None, color: Color | None, point: Point | None) -> None: ...

    assert signature(runnable(find).tool) == "find(color: string, name: string, point: object, tags: string[])"


# ── laws ─────────────────────────────────────────────────────────────────────

WRITTEN: dict[Any, st.SearchStrategy[Any]] = {
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    str: st.text(st.characters(exclude_categories=["Cs"])),
    bytes: st.binary(),
    dt.date: st.dates(),
    dt.datetime: st.datetimes(timezones=st.none() | st.just(dt.UTC)),
    dt.time: st.times(),
    dt.timedelta: st.timedeltas(min_value=dt.timedelta(days=-9999), max_value=dt.timedelta(days=9999)),
    decimal.Decimal: st.decimals(allow_nan=False, allow_infinity=False),
    uuid.UUID: st.uuids(),
    Color: st.sampled_from(Color),
    Level: st.sampled_from(Level),
    Shade: st.sampled_from(Shade),
    Rights: st.sampled_from([Rights.READ, Rights.WRITE, Rights.READ | Rights.WRITE, Rights(0)]),
    Point: st.builds(Point, st.integers(), st.integers()),
    Pair: st.builds(Pair, st.text(st.characters(exclude_categories=["Cs"])), st.integers()),
}


def typed(leaf: Any) -> st.SearchStrategy[tuple[Any, Any]]:
    return WRITTEN[leaf].map(lambda value: (leaf, value))


def of(generic: Any, *arguments: Any) -> Any:
    """`generic[arguments]`, of types that are only known when the test runs."""
    return generic[arguments]


def grown(inner: st.SearchStrategy[tuple[Any, Any]]) -> st.SearchStrategy[tuple[Any, Any]]:
    """Containers around a typed value."""
    keys = st.text(st.characters(exclude_categories=["Cs"]))
    return st.one_of(
        inner.map(lambda pair: (of(list, pair[0]), [pair[1]])),
        inner.map(lambda pair: (of(tuple, pair[0], ...), (pair[1], pair[1]))),
        st.tuples(inner, inner).map(lambda two: (of(tuple, two[0][0], two[1][0]), (two[0][1], two[1][1]))),
        st.tuples(keys, inner).map(lambda each: (of(dict, str, each[1][0]), {each[0]: each[1][1]})),
        inner.map(lambda pair: (of(Union, pair[0], None), pair[1])),
        inner.map(lambda pair: (of(Page, pair[0]), Page([pair[1]], None))),
    )


VALUES = st.recursive(st.sampled_from(list(WRITTEN)).flatmap(typed), grown, max_leaves=6)


@settings(deadline=None)
@given(VALUES)
def test_a_value_written_and_read_again_is_the_same(pair: tuple[Any, Any]) -> None:
    annotation, value = pair
    form = form_of(annotation)
    check_schema(form.schema)
    written = plain(value)
    assert faults(form.schema, written) == []
    assert form.read(written) == value
