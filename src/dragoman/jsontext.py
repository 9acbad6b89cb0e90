"""Values as JSON text: one spelling for wires, one for people and arguments.

Knows values; nothing of frames, events or requests.
Contract: `to_json` is compact and ASCII; `dumps` keeps characters as they are; both take any mapping and any tuple, and
write strict JSON or raise; `from_json` gives what the standard library reads.
"""

from __future__ import annotations

import json
from codecs import register_error
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from json.encoder import encode_basestring, encode_basestring_ascii
from math import isfinite
from typing import Any

from .errors import UsageError


def to_json(value: Any) -> str:
    """`value` as compact JSON of ASCII characters only; any mapping is an object, any tuple an array.

    ASCII because clients that split lines by Unicode rules break at a raw U+2028, U+2029 or U+0085.  Raises
    `UsageError` for what JSON cannot say (NaN, infinity, foreign objects, endless nesting).
    """
    return to_bytes(value).decode()


def to_bytes(value: Any, numbers: Any = ..., make: Callable[[Any], Any] | None = None) -> bytes:
    """`to_json` as bytes.  `numbers` is given where all numbers of `value` stand in it: no others are looked for.

    `make` is given where `value` holds more than JSON has: it gives what stands for that, asked where that is written
    (what need not be made before, and kept until all is, costs half), and hands on what it does not know to `as_dict`.
    """
    if numbers is ...:
        numbers = value
    try:
        dump, options = _engine()
        written: bytes = dump(value, make or as_dict, options)
        if not written.isascii():
            written = _escaped_where_sparse(written)
        if written:
            if b"\x7f" in written:
                written = written.replace(b"\x7f", b"\\u007f")  # which orjson writes as it is, and `quoted` escapes
            # orjson writes NaN as null, where the standard library raises
            if numbers is not value:  # of a long text, looking through it takes longer than writing it
                suspect = numbers and b"null" in dump(numbers, as_dict, options)
            else:
                suspect = b"null" in written
            if not suspect or _is_finite(numbers):
                return written
    except (TypeError, RecursionError):
        pass  # long integers, half characters, keys that are no text: the standard library knows what to do
    return _surely(value, make)


def _escaped_where_sparse(written: bytes) -> bytes:
    """JSON with what is not ASCII escaped; nothing where there is much of that."""
    text = written.decode()
    return b"" if (len(written) - len(text)) * SPARSE > len(written) else text.encode("ascii", ESCAPED)


SPARSE = 512
"""Bytes among which one that is not ASCII is escaped by itself: where there are more of them, the standard library is
faster."""
ESCAPED = "dragoman.escaped"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What stands in JSON for characters that are not ASCII, and where they end."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


register_error(ESCAPED, _escaped)


def _surely(value: Any, make: Callable[[Any], Any] | None) -> bytes:
    """`to_bytes` by the standard library."""
    encode = _encode if make is None else _encoding(make)
    try:
        return encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}; give numbers that are finite and plain values") from error


def exact_json(value: Any) -> bytes | None:
    """JSON of `value`, by which it is known again; None for what JSON does not say as it is.

    Any mapping is an object there, and any tuple an array.
    """
    try:
        dump, options = _engine()
        written: bytes = dump(value, as_dict, options)
    except (TypeError, RecursionError):
        return None
    return written if b"null" not in written or _is_finite(value) else None


def is_written(value: Any, written: bytes) -> bool:
    """Is `written`, in which there is no null, the `exact_json` of `value`?"""
    try:
        dump, options = _engine()
        return dump(value, as_dict, options) == written
    except (TypeError, RecursionError):
        return False


DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
LONG_NUMBER = b"0" * 16
"""Digits, all of them written as 0, that a 64-bit reader may not keep."""


def from_json(data: bytes | bytearray) -> Any:
    """The value that `json.loads` reads, mostly in a tenth of its time.  Raises what that raises."""
    if LONG_NUMBER not in data.translate(DIGITS):
        try:
            return quick_reader()(data)
        except ValueError:
            pass  # UTF-16, halves of characters, NaN: the standard library knows what to do
    return json.loads(data)


@cache
def quick_reader() -> Callable[[bytes | bytearray | str], Any]:
    """`orjson.loads`, loaded when first needed: it is not exact in long numbers, nor in a key that is given twice."""
    import orjson  # noqa: PLC0415

    reader: Callable[[bytes | bytearray | str], Any] = orjson.loads
    return reader


@cache
def _engine() -> tuple[Callable[..., bytes], int]:
    """`orjson.dumps` and its options; loaded when first needed, for it brings `datetime` and `uuid` along."""
    import orjson  # noqa: PLC0415

    passed = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
    return orjson.dumps, passed


def as_dict(value: Any) -> Any:
    """A mapping of any kind as a dictionary.  Raises `TypeError` for what JSON has no form for."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


_FINITE = frozenset({str, int, bool, type(None)})


def _is_finite(value: Any) -> bool:
    """Are all numbers in what was written finite?  So every null in it is a None."""
    waiting: list[Iterable[Any]] = [(value,)]
    while waiting:
        for one in waiting.pop():
            kind = type(one)
            if kind in _FINITE:
                continue
            if kind is dict:
                waiting.append(one.values())
            elif kind is list or kind is tuple:
                waiting.append(one)
            elif kind is float:
                if not isfinite(one):
                    return False
            elif isinstance(one, Mapping):
                waiting.append(one.values())
    return True


quoted: Callable[[str], str] = encode_basestring_ascii
"""A text as `to_json` writes it."""



def _pieces_by(
    quoting: Callable[[str], str], separators: tuple[str, str], default: Callable[[Any], Any]
) -> Callable[[Any, int], Iterable[str]]:
    """`json.JSONEncoder.iterencode`, without the encoder in C that it makes anew for every value, where there is one.

    Circles are found by their depth, not by marks: an encoder that is kept must not keep what it has seen.
    """
    ascii_only, (comma, colon) = quoting is encode_basestring_ascii, separators
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is not None:
        made: Callable[[Any, int], Iterable[str]] = make(
            None, default, quoting, None, colon, comma, False, False, False
        )
        return made
    plain = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False, separators=separators, default=default)
    return lambda value, _: plain.iterencode(value)


def _encoding(default: Callable[[Any], Any]) -> Callable[[Any], str]:
    """What writes `to_json` by the standard library."""
    pieces = _pieces_by(encode_basestring_ascii, (",", ":"), default)
    return lambda value: "".join(pieces(value, 0))


_encode = _encoding(as_dict)


def _as_plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value.items())
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def dumps(value: Any) -> str:
    """A value as strict JSON text: mappings of any kind, characters as they are, no NaN."""
    pieces = _short
    if type(value) is dict:
        for one in value.values():
            if type(one) is str and len(one) > LONG:
                pieces = _long
    try:
        return "".join(pieces(value, 0))
    except RecursionError:
        return _ENCODER.encode(value)  # which tells a circle from what is deep


LONG = 256
"""Characters of a text, as contents of files are, that the fast engine writes: it takes a tenth of the time."""


def _quoted(text: str) -> str:
    """A text as `dumps` writes it."""
    if len(text) > LONG and type(text) is str:
        try:
            written: bytes = _engine()[0](text)
            return written.decode()
        except TypeError:
            pass  # half a character
    return encode_basestring(text)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_as_plain)
_short, _long = [_pieces_by(quoting, (", ", ": "), _as_plain) for quoting in (encode_basestring, _quoted)]
