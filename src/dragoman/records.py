"""Data classes and named tuples made quickly: as `dataclasses` and `typing` make them, in a third of the time.

The standard library writes and compiles up to seven methods for each class; sixty classes were a quarter of what the
first parse of a process cost.  Here `__init__` is compiled, and the other methods are shared; `dataclasses` itself,
which loads `inspect` and a parser of Python, is loaded when somebody asks it of one.  Of a named tuple `typing` parses
every annotation and compiles a constructor: here one is compiled for each number of fields, and named anew.  Knows
classes and their annotations (as text: `from __future__ import annotations`), nothing of what they hold.
Contract: whoever asks a data class (`fields`, `replace`, `copy`, `pickle`, a type checker, a data class that inherits)
gets the answers it would get from `dataclasses`, who asks a named tuple those of `typing`'s; options and annotations
that are not supported raise `TypeError` when the class is made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from importlib import import_module
from operator import attrgetter, itemgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

try:
    from _collections import _tuplegetter as _getter  # type: ignore[import-not-found]
except ImportError:  # not CPython

    def _getter(index: int, doc: str) -> property:
        return property(itemgetter(index), doc=doc)

P = ParamSpec("P")
T = TypeVar("T")

if TYPE_CHECKING:  # names that others take from here
    from dataclasses import dataclass as dataclass  # noqa: PLC0414
    from dataclasses import field as field  # noqa: PLC0414
    from dataclasses import replace as replace  # noqa: PLC0414
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414

    def maker(cls: Callable[P, T]) -> Callable[P, T]: ...
    def changer(cls: Callable[..., T], *names: str) -> Callable[..., T]: ...

else:

    def dataclass(cls=None, /, *, init=True, repr=True, eq=True, frozen=False, kw_only=False, slots=False):  # noqa: A002
        """A class with its fields' methods, as `dataclasses.dataclass` makes it."""
        options = Options(init, repr, eq, frozen, kw_only, slots)
        return (lambda made: _complete(made, options)) if cls is None else _complete(cls, options)

    def field(**told):
        """A field that says more than its default, as `dataclasses.field` does."""
        return Field(**told)

    def replace(one, /, **changes):
        """A copy of `one` with these fields changed, as `dataclasses.replace` makes it."""
        own = one.__class__.__dict__
        if _RECORD not in own:
            return _standard().replace(one, **changes)
        for name, kept in own[_RECORD].items():
            if not kept.init:
                if name in changes:
                    raise ValueError(f"field {name} is declared with init=False, it cannot be specified with replace()")
            elif name not in changes:
                changes[name] = getattr(one, name)
        return one.__class__(**changes)

    @cache
    def maker(cls):
        """`cls`, a frozen record with slots, as a function that makes the same in a third of the time."""
        return _filling(cls, *_given(getattr(cls, _RECORD)))

    @cache
    def changer(cls, *names):
        """A function that copies one of `cls`, which is such a record, with new values of the fields `names`."""
        values = {name: name if name in names else f"_one.{name}" for name in getattr(cls, _RECORD)}
        return _filling(cls, ["_one", *names], values, {})


def field_names(cls: type) -> tuple[str, ...]:
    """The names of a data class's fields; it may inherit from a record and not be one."""
    own = cls.__dict__
    return tuple(own[_RECORD] if _RECORD in own else (told.name for told in _standard().fields(cls)))


def _standard() -> Any:
    """`dataclasses`, loaded when it is asked."""
    return import_module("dataclasses")


class _Mark:
    """A value that stands for something else, and says so."""

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown


_MISSING, _FACTORY = _Mark("<missing>"), _Mark("<factory>")  # as signatures show a default that is made


# ── named tuples ─────────────────────────────────────────────────────────────

_OWN = frozenset(
    {"__new__", "__init__", "__slots__", "__getnewargs__", "_fields", "_field_defaults", "_make", "_replace", "_asdict"}
)


class _Named(tuple[Any, ...]):
    """What every one can do."""

    __slots__ = ()
    if TYPE_CHECKING:
        _fields: tuple[str, ...]

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made: _Named = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes: Any) -> Any:
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        told = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
        return f"{self.__class__.__name__}({told})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _Making(type):
    """Makes a tuple of what was written as a class of named fields."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        if len(bases) > 1:
            raise TypeError(f"{name}: a named tuple has no other bases; a data class of `records` may have them")
        fields = tuple(body.get("__annotations__", ()))
        wrong = [field for field in fields if field.startswith("_")] + sorted(_OWN & body.keys())
        if wrong:
            raise TypeError(f"{name}: {wrong[0]!r} is for the tuple itself; choose another name")
        defaults = {field: body[field] for field in fields if field in body}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one that has one; change their order")
        body.update((field, _getter(at, f"Alias for field number {at}")) for at, field in enumerate(fields))
        body |= {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
        body.setdefault("__doc__", f"{name}({', '.join(fields)})")
        body["__new__"] = made = _constructor(fields)
        made.__defaults__ = tuple(defaults.values())
        made.__qualname__, made.__module__ = f"{body['__qualname__']}.__new__", body["__module__"]
        return type(name, (_Named,), body)


def _constructor(fields: tuple[str, ...]) -> FunctionType:
    """`__new__` of these fields: that of as many fields, with their names for its own."""
    code = _of_as_many(len(fields)).replace(co_varnames=("_cls", *fields))
    return FunctionType(code, _KNOWN, "__new__")


@cache
def _of_as_many(number: int) -> CodeType:
    names = "".join(f"_{at}, " for at in range(number))
    made: Callable[..., Any] = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {})
    return made.__code__.replace(co_name="__new__")


_KNOWN = {"_new": tuple.__new__, "__builtins__": {}}

if not TYPE_CHECKING:

    class NamedTuple(metaclass=_Making):
        """What `typing.NamedTuple` is: `class Pair(NamedTuple):` with a field on each line."""


# ── data classes ─────────────────────────────────────────────────────────────


class Field(NamedTuple):
    """What is known of one field."""

    default: Any = _MISSING
    default_factory: Any = _MISSING
    init: bool = True
    repr: bool = True
    compare: bool = True
    kw_only: Any = _MISSING
    type: str = ""


class Options(NamedTuple):
    """What was asked for, under the names by which a data class that inherits looks for it."""

    init: bool
    repr: bool
    eq: bool
    frozen: bool
    kw_only: bool
    slots: bool


Fields = dict[str, Field]
_UNSUPPORTED = ("InitVar", "KW_ONLY", "dataclasses.InitVar", "dataclasses.KW_ONLY")


def _complete(cls: type, options: Options) -> type:
    inherited = (_fields_of(base) for base in reversed(cls.__mro__[1:]))
    fields = {name: field for found in inherited for name, field in found.items()}
    fields |= _own_fields(cls, options)
    if options.slots:
        cls = _slotted(cls, fields)
    shared: dict[str, Any] = {_RECORD: fields, _FIELDS: _Told(cls, fields)}
    shared |= {"__dataclass_params__": options, "__replace__": replace}
    shared["__match_args__"] = tuple(name for name, f in fields.items() if f.init and not f.kw_only)
    if options.init:
        shared["__init__"] = _LateInit(cls, fields, options)
    if options.repr:
        shared["__repr__"] = _repr([name for name, f in fields.items() if f.repr])
    if options.eq:
        shared |= _comparing([name for name, f in fields.items() if f.compare], hashed=options.frozen)
    if options.frozen:
        shared |= _freezing(cls, fields)
        if options.slots:
            shared |= {"__getstate__": _getstate, "__setstate__": _setstate}
    own = cls.__dict__
    for name, value in shared.items():
        if name not in own or (name == "__hash__" and own[name] is None):  # a class with an `__eq__` has that
            setattr(cls, name, value)
    return cls


_RECORD, _FIELDS = "__record_fields__", "__dataclass_fields__"


class _Told:
    """The fields of a class as `dataclasses` knows them, made when they are first asked for."""

    def __init__(self, cls: type, fields: Fields) -> None:
        self._cls, self._fields = cls, fields

    def __get__(self, one: object, owner: type) -> dict[str, Any]:
        standard, made = _standard(), {}
        for name, told in self._fields.items():
            given = {key: value for key, value in told._asdict().items() if value is not _MISSING and key != "type"}
            found = made[name] = standard.field(**given)
            found.name, found.type, found._field_type = name, told.type, standard._FIELD  # by which `fields` knows one
        setattr(self._cls, _FIELDS, made)
        return made


def _fields_of(base: type) -> Fields:
    """The fields that a base declares, be it a record or a data class of the standard library."""
    own = base.__dict__
    if _RECORD in own:
        found: Fields = own[_RECORD]
        return found
    return {name: _of_standard(told)._replace(type=told.type) for name, told in own.get(_FIELDS, {}).items()}


def _of_standard(told: Any) -> Field:
    missing = _standard().MISSING
    default, made, kw_only = (
        _MISSING if given is missing else given for given in (told.default, told.default_factory, told.kw_only)
    )
    return Field(default, made, told.init, told.repr, told.compare, kw_only)


def _own_fields(cls: type, options: Options) -> Fields:
    """The fields that the class itself declares; what a field leaves behind as an attribute is its default."""
    found: Fields = {}
    for name, kind in cls.__annotations__.items():
        if not isinstance(kind, str) or kind.startswith(_UNSUPPORTED):
            raise TypeError(f"{cls.__qualname__}.{name}: only plain annotations, as text, are known; use `dataclasses`")
        if kind.startswith(("ClassVar", "typing.ClassVar")):
            continue
        given = cls.__dict__.get(name, _MISSING)
        told = _told(given)
        if told.default.__class__.__hash__ is None:
            raise TypeError(f"{cls.__qualname__}.{name}: a mutable default would be shared; use `default_factory`")
        if told.default is not given:
            if told.default is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, told.default)
        kw_only = options.kw_only if told.kw_only is _MISSING else told.kw_only
        found[name] = told._replace(type=kind, kw_only=kw_only)
    return found


def _told(given: Any) -> Field:
    """What an attribute's value says of its field; one that `dataclasses` made has it loaded."""
    if isinstance(given, Field):
        return given
    standard = sys.modules.get("dataclasses")
    return _of_standard(given) if standard is not None and isinstance(given, standard.Field) else Field(given)


def _slotted(cls: type, fields: Fields) -> type:
    """The class anew, with a slot for each field that no base has one for."""
    inherited = {slot for base in cls.__mro__[1:-1] for slot in base.__dict__.get("__slots__", ())}
    body = {name: value for name, value in cls.__dict__.items() if name not in fields and name not in _DROPPED}
    body["__slots__"] = tuple(name for name in fields if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


_DROPPED = ("__dict__", "__weakref__")


FEW = 3
"""So many of a class are filled field by field: to compile its `__init__` takes as long as twenty."""


class _LateInit:
    """A class's `__init__` until it has made a few, or somebody asks for it: then it is compiled, and the class's."""

    def __init__(self, cls: type, fields: Fields, options: Options) -> None:
        self._cls, self._fields, self._options, self._left = cls, fields, options, FEW

    def __get__(self, one: Any, owner: type | None = None) -> Callable[..., None]:
        if one is not None and self._left and one.__class__ is self._cls:
            self._left -= 1
            return partial(self._fill, one)
        made: Any = _init(self._cls, self._fields, self._options)
        setattr(self._cls, "__init__", made)  # noqa: B010
        found: Callable[..., None] = made.__get__(one, owner)
        return found

    def _fill(self, one: Any, /, *given: Any, **named: Any) -> None:
        """What the compiled one does, which is asked where the arguments are wrong: it says how."""
        placed = [name for name, field in self._fields.items() if field.init and not field.kw_only]
        values = dict(zip(placed, given, strict=False)) | named
        filled: dict[str, Any] = {}
        for name, field in self._fields.items():
            if field.init and name in values:
                filled[name] = values.pop(name)
            elif field.default_factory is not _MISSING:
                filled[name] = field.default_factory()
            elif field.default is not _MISSING:
                filled[name] = field.default
            elif field.init:
                values[name] = _MISSING
        if values or len(given) > len(placed) or not named.keys().isdisjoint(placed[: len(given)]):
            self._left = 0
            self.__get__(one)(*given, **named)
            return
        put = object.__setattr__ if self._options.frozen else setattr
        for name, value in filled.items():
            put(one, name, value)
        if hasattr(one, "__post_init__"):
            one.__post_init__()


def _init(cls: type, fields: Fields, options: Options) -> Callable[..., None]:
    """`__init__`, compiled: slots are set by their own descriptors, which a frozen class leaves open."""
    arguments, values, known = _given(fields)
    known["_set"] = object.__setattr__
    body = [_assignment(cls, name, value, known, options) for name, value in values.items()]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    made = _compiled("__init__", ["self", *arguments], body, known)
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {**{name: field.type for name, field in fields.items() if field.init}, "return": None}
    return made  # type: ignore[no-any-return]


def _compiled(name: str, arguments: list[str], body: list[str], known: dict[str, Any]) -> Any:
    exec(f"def {name}({', '.join(arguments)}):\n " + ("\n ".join(body) or "pass"), known)
    return known[name]


def _given(fields: Fields) -> tuple[list[str], dict[str, str], dict[str, Any]]:
    """The parameters of what makes a record, the value of each of its fields by these, and what both know by name."""
    known: dict[str, Any] = {"_new": _FACTORY}
    positional: list[str] = []
    named: list[str] = []
    values: dict[str, str] = {}
    for name, field in fields.items():
        given, default = name, f"_default_{name}"
        if field.default_factory is not _MISSING:
            known[default] = field.default_factory
            given = f"{default}() if {name} is _new else {name}" if field.init else f"{default}()"
        elif field.default is not _MISSING:
            known[default] = field.default
            given = name if field.init else default
        elif not field.init:
            continue
        if field.init:
            optional = "" if default not in known else f"={default}" if field.default is not _MISSING else "=_new"
            (named if field.kw_only else positional).append(name + optional)
        values[name] = given
    return [*positional, *(["*", *named] if named else [])], values, known


def _assignment(cls: type, name: str, given: str, known: dict[str, Any], options: Options) -> str:
    if not options.frozen:
        return f"self.{name} = {given}"
    if not options.slots:
        return f"_set(self, {name!r}, {given})"
    known[f"_set_{name}"] = getattr(cls, name).__set__
    return f"_set_{name}(self, {given})"


# ── made many times ──────────────────────────────────────────────────────────


def unfrozen(cls: type[Any]) -> Callable[[], Any]:
    """A class of the same slots that can be set: an object is filled as one of it, and becomes one of `cls`.

    To set a slot of a frozen class by its descriptor takes ten times as long.
    """
    body = {"__slots__": cls.__dict__["__slots__"], "__setattr__": object.__setattr__, "__init__": object.__init__}
    kind: Any = type(cls)
    made: Callable[[], Any] = kind(f"_{cls.__name__}", cls.__bases__, body)
    return made


def _filling(cls: Any, arguments: list[str], values: dict[str, str], known: dict[str, Any]) -> Callable[..., Any]:
    known |= {"_cls": cls, "_open": unfrozen(cls)}
    body = ["_made = _open()", *(f"_made.{name} = {value}" for name, value in values.items()), "_made.__class__ = _cls"]
    if hasattr(cls, "__post_init__"):
        body.append("_made.__post_init__()")
    made: Callable[..., Any] = _compiled("make", arguments, [*body, "return _made"], known)
    return made


def _repr(names: list[str]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:  # noqa: N807
        return f"{self.__class__.__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return recursive_repr()(__repr__)


def _comparing(names: list[str], *, hashed: bool) -> Mapping[str, Any]:
    """Equality, and a hash, by the values of these fields; always in a tuple, which compares the same by identity."""
    values: Callable[[Any], tuple[Any, ...]]
    if len(names) > 1:
        values = attrgetter(*names)
    else:
        values = lambda one: tuple([getattr(one, name) for name in names])  # noqa: E731

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if hashed else None}


def _freezing(cls: type[Any], fields: Fields) -> Mapping[str, Any]:
    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in fields:
            raise _standard().FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in fields:
            raise _standard().FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in field_names(self.__class__)]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(field_names(self.__class__), state, strict=True):
        object.__setattr__(self, name, value)
