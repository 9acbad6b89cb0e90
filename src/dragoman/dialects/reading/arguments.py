"""Arguments as they arrive: keys in the tool's own spelling, raw text typed by its schema, wrappers taken off.

Shared by the readers whose values are raw text (`tags.py`, `elements.py`) and, for keys and wrappers, by `json.py`.
Knows drafts and shapes; does not read a source.

Contract: what is written to the draft concatenates to one strict JSON object; a value that is text and nothing else is
written while it arrives, every other when it is whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...late import late, late_call
from ...lenient.bare_words import is_endless
from ...lenient.notation import Broken, Cut, Repeated
from ...lenient.quoting import escaped, quoted
from ...records import replace
from ...schema.validation import Shape, coerce, read_text
from ...types import Edit
from ..judge.candidate import Draft
from ..judge.judge import WRAPPERS
from ..spec import Typing
from .keys import NO_KEY, NO_WORD, TEXT

Sink = Callable[[str], object]
SEPARATORS = late(r"[\s._\\-]")
ELEMENT = late(r"\s*<([\w.:-]{1,64})>([^<]*)</\1>\s*")
MARKDOWN = late(r"\\([_*~`])")
"""A sign that Markdown would read, escaped."""
decoded: Callable[..., tuple[Any, list[Edit]]] = late_call("...lenient.reader", "decoded", __name__)
mend: Callable[..., tuple[Any, list[Edit]]] = late_call("...lenient.reader", "mend", __name__)
html_text: Callable[[str], str] = late_call("html", "unescape")
"""Text in which entities stand for characters, read."""
ENTITY = late(r"&(?:lt|gt|amp|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")


def declared_key(draft: Draft, written: str) -> str:
    """The declared key that `written` is but for case and separators, if exactly one is: given twice, it is so."""
    shape = draft.shape
    if draft.tool is None or shape.has(written) or not shape.keys:
        return written
    written = MARKDOWN.sub(r"\1", written)
    same = folded_keys(shape.keys).get(fold(written), ())
    return same[0] if len(same) == 1 else written


def is_name(draft: Draft, key: str) -> bool:
    """May this be an argument's name?  A declared one may be anything, and one that markup of its own spells out."""
    if draft.shape.has(key):
        return True
    if not draft.shape.keys:
        return draft.spelt_out or NO_KEY.search(key) is None
    return NO_KEY.search(key) is None and NO_WORD.search(key) is None


def take_key(draft: Draft, written: str) -> str:
    """`declared_key`, with its edit; what is no name, and none of the tool's, is refused (judge-rules.md E)."""
    key = declared_key(draft, written)
    if not is_name(draft, key):
        raise Broken(f"{key[:40]!r} is no argument's name")
    if key != written:
        draft.edits.append(Edit("key", "$", written[:80], key))
    return key


def take_keys(draft: Draft, arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments that came whole, each under its key as `take_key` gives it; `Repeated` for one of two values."""
    keyed: dict[str, Any] = {}
    for written, value in arguments.items():
        key = take_key(draft, written)
        if keyed.setdefault(key, value) != value:
            raise Repeated(f"the key {key[:40]!r} is given twice with different values")
    return keyed


def fold(key: str) -> str:
    """A key without what its spellings differ in."""
    return SEPARATORS.sub("", key).casefold()


@lru_cache(maxsize=256)
def folded_keys(keys: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """The keys of a tool by how they fold."""
    found: dict[str, list[str]] = {}
    for key in keys:
        found.setdefault(fold(key), []).append(key)
    return found


def wrappers(draft: Draft) -> frozenset[str]:
    """Keys that the arguments may be wrapped in once more: none that the tool declares (malformations.md 3)."""
    return frozenset(n for n in WRAPPERS | {draft.name} if is_wrapper(draft, n))


def is_wrapper(draft: Draft, key: str) -> bool:
    """Is this key one of `wrappers`?  To gather them all costs more than the rest of a short call."""
    return (key in WRAPPERS or key == draft.name) and draft.tool is not None and not draft.shape.has(key)


def unwrapped(value: Any, shape: Shape) -> dict[str, Any] | None:
    """The object inside a wrapper (or in a JSON string in it), typed by the schema, when its keys are the tool's."""
    if isinstance(value, str):
        try:
            value, _ = decoded(value, shape)
        except (Broken, Cut):
            return None
    if not isinstance(value, dict) or not (value or not shape.required) or not all(map(shape.has, value)):
        return None
    fixed, _ = coerce(value, shape)
    return dict(fixed)


def literal(text: str) -> Any:
    """JSON if it is JSON (or one of Python's words), else the text."""
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        return {"True": True, "False": False, "None": None}.get(text.strip(), text)


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def _finite(number: str) -> float:
    if is_endless(number):
        raise ValueError(number)
    return float(number)


MOST_OTHERS, MOST_MEMBERS = 256, 4096
"""So many arguments that its tool does not declare are read of one call: each has marks of its own to look for.  And so
many of an object, where it has none."""


def refuse_many(draft: Draft, given: Collection[str], most: int) -> None:
    """Raise `Broken` where more are given than that."""
    if len(given) > most and len(given) > most + len(draft.shape.keys):
        raise Broken(f"it has more than {most} arguments that the tool does not declare")


class RawArguments:
    """Arguments whose values are raw text, written to a draft.

    `repeats` says that an argument of unknown type may come several times and is a list then; one declared as an array
    always may.
    """

    draft: Draft

    def __init__(self, draft: Draft, *, typing: Typing, repeats: bool = False) -> None:
        self.draft, self._typing, self._repeats = draft, typing, repeats
        self.given: dict[str, str] = {}
        self._later: dict[str, list[Any]] = {}
        self._begun = False

    def key(self, written: str) -> str:
        """The key's declared spelling; `Repeated` when it may not come again."""
        key = take_key(self.draft, written)
        if key in self.given and key not in self._later:
            raise Repeated(f"the argument {key[:40]!r} is given twice")
        refuse_many(self.draft, self.given, MOST_OTHERS)
        return key

    def shape(self, key: str) -> Shape:
        """What the schema says of this argument."""
        return self.draft.shape.property(key)

    def is_text(self, key: str, typing: Typing | None = None) -> bool:
        """Is this value text whatever stands in it, so that it can be written while it arrives?"""
        shape = self.shape(key)
        if shape.enum or self._waits(key):
            return False
        if shape.kinds:
            return shape.kinds == TEXT or (typing is Typing.TEXT and "string" in shape.kinds)
        return (typing or self._typing) is Typing.TEXT

    def _waits(self, key: str) -> bool:
        """May more of this argument come, or is it perhaps a wrapper around all of them?"""
        kinds = self.shape(key).kinds
        if not self.given and is_wrapper(self.draft, key):
            return True
        return "array" in kinds or (self._repeats and not kinds)

    def begin_text(self, key: str) -> None:
        """Write a text's key and opening quote; its characters follow through `text`, then `end_text`."""
        self._member(key)
        self.draft.write('"')

    def text(self, piece: str) -> None:
        """More of the text."""
        self.draft.write(escaped(piece))

    def end_text(self) -> None:
        """The text is complete."""
        self.draft.write('"')

    def put_text(self, key: str, text: str) -> None:
        """A whole text."""
        self._member(key)
        self.draft.write(f'"{escaped(text)}"')

    def put(self, key: str, text: str, typing: Typing | None = None) -> None:
        """A whole value, as raw text."""
        if self._waits(key):
            self.put_value(key, _Raw(text, typing))
        else:
            self.put_value(key, self.typed(text, self.shape(key), typing, f".{key}"))

    def put_value(self, key: str, value: Any) -> None:
        """A whole value that is no text any more (or a raw one that waits for others)."""
        if self._waits(key) or key in self._later:
            self.given.setdefault(key, "")
            self._later.setdefault(key, []).append(value)
            return
        self._member(key)
        self.draft.write(json.dumps(value, ensure_ascii=False, allow_nan=False))

    def typed(self, text: str, shape: Shape, typing: Typing | None = None, path: str = "") -> Any:
        """The value that raw text stands for, at this path in the arguments."""
        if not (shape.kinds or shape.enum):
            return text if (typing or self._typing) is Typing.TEXT else literal(text)
        value, edit = read_text(text, shape)
        if isinstance(value, str) and "string" not in shape.kinds:
            value = self._mended(value, shape, path)
        if edit is not None and edit.kind not in ("typed", "read", "spelling"):
            self.draft.edits.append(edit)
        return value

    def _mended(self, text: str, shape: Shape, path: str) -> Any:
        """A value inside an element of its own; a list or an object whose spelling is not JSON's; else the text."""
        element = ELEMENT.fullmatch(text)
        if element is not None:
            value, _ = read_text(element[2], shape)
            if not isinstance(value, str):
                self.draft.edits.append(Edit("unwrapped"))
                return value
        if not text.strip():
            return [] if "array" in shape.kinds else {} if "object" in shape.kinds else text
        if text.lstrip()[0] not in "[{":
            return text
        try:
            value, edits = mend(text, shape)
        except (Broken, Cut):
            return text
        self.draft.edits += [replace(edit, path=f"${path}{edit.path[1:]}") for edit in edits]
        return value

    def finish(self) -> None:
        """Write what waited, and close the object."""
        inner = self._inner()
        if inner is not None:
            self.draft.edits.append(Edit("unwrapped"))
            self.draft.write(json.dumps(inner, ensure_ascii=False, allow_nan=False))
            return
        for key, values in self._later.items():
            self._member(key)
            self.draft.write(json.dumps(self._joined(key, values), ensure_ascii=False, allow_nan=False))
        self.draft.write("}" if self._begun else "{}")

    def _inner(self) -> dict[str, Any] | None:
        if len(self.given) != 1 or len(self._later) != 1:
            return None
        [(key, values)] = self._later.items()
        if not is_wrapper(self.draft, key) or len(values) != 1:
            return None
        value = values[0].text if isinstance(values[0], _Raw) else values[0]
        return unwrapped({} if value == "" else value, self.draft.shape)

    def _joined(self, key: str, values: list[Any]) -> Any:
        shape = self.shape(key)
        if len(values) == 1:
            return self._value(values[0], shape, f".{key}")
        item = shape.item if "array" in shape.kinds else shape
        return [self._value(v, item, f".{key}[{number}]") for number, v in enumerate(values)]

    def _value(self, value: Any, shape: Shape, path: str) -> Any:
        return self.typed(value.text, shape, value.typing, path) if isinstance(value, _Raw) else value

    def _member(self, key: str) -> None:
        self.draft.write(("," if self._begun else "{") + quoted(key) + ":")
        self._begun = True
        self.given[key] = ""


def through(sink: Sink) -> Sink | None:
    """Where text that this sink is given ends up, while nothing on its way changes or keeps it; None where it may.

    What is on the way says so by `through`; entities and a line's end at the end of a text may always be kept.
    """
    while True:
        onward = getattr(getattr(sink, "__self__", None), "through", None)
        if onward is None:
            return sink
        found = onward()
        if found is None:
            return None
        sink = found


class _Raw:
    """A value that is still text."""

    __slots__ = ("text", "typing")

    def __init__(self, text: str, typing: Typing | None) -> None:
        self.text, self.typing = text, typing


class Trim:
    """Drops one given text from each end of a text that arrives in pieces; from the end only where it began with it.

    A line's end may be written as `\\r\\n`, then it is at both ends.  Where the text's end is guessed, one line's end
    before what came next is the template's, however the text began.
    """

    def __init__(self, what: str, sink: Sink) -> None:
        self._what, self._sink, self._tail = what, sink, ""
        self._started, self._framed = not what, False

    def feed(self, text: str) -> None:
        """More of the text; the last `what`, or line's end, or the beginning of one is held back until more follows."""
        text = self._tail + text
        self._tail = ""
        if not self._started and text:
            if text == "\r" and self._what == "\n":
                self._tail = text
                return
            text = self._begin(text)
        if not text:
            return
        size = _overlap(text, self._what) if self._framed else _line_end(text)
        if size:
            self._tail, text = text[len(text) - size :], text[: len(text) - size]
        if text:
            self._sink(text)

    def _begin(self, text: str) -> str:
        if self._what == "\n" and text.startswith("\r\n"):
            self._what = "\r\n"
        self._started, self._framed = True, text.startswith(self._what)
        return text.removeprefix(self._what)

    def close(self, *, guessed: bool = False) -> None:
        """The text has ended: what was held back, if it is not what is dropped."""
        dropped = (self._what,) if self._framed else LINE_ENDS if guessed else ()
        if self._tail and self._tail not in dropped:
            self._sink(self._tail)
        self._tail = ""

    def through(self) -> Sink | None:
        """Where text goes, if nothing is held back or will be but a line's end."""
        plain = self._what == "\n" or not self._framed
        return self._sink if self._started and not self._tail and plain else None


class Outdent(Trim):
    """Drops the indentation of a value's tags, where they stand on lines of their own, from their lines and from it.

    A call in a list item is indented as a whole; a template indents no tags.  The value is read when it has ended.
    """

    def __init__(self, what: str, sink: Sink, indent: str) -> None:
        super().__init__(what, sink)
        self._indent, self._pieces = indent, [""]
        self.outdented = False

    def feed(self, text: str) -> None:
        """More of the text."""
        self._pieces.append(text)

    def close(self, *, guessed: bool = False) -> None:
        """The text has ended: do its tags stand on lines of their own, and is it indented as they are?"""
        text, indent = "".join(self._pieces), self._indent
        first, *inside = text.split("\n")
        last = inside.pop() if inside else ""
        if first not in ("", "\r") or not inside or last != indent:
            super().feed(text)
            super().close(guessed=guessed)
            return
        self.outdented = True
        if all(not line.strip() or line.startswith(indent) for line in inside):
            inside = [line.removeprefix(indent) for line in inside]
        self._sink("\n".join(inside).removesuffix(first))

    def through(self) -> Sink | None:
        """Nothing goes on before the end."""
        return None


LINE_ENDS = ("\r\n", "\n", "\r")


def _line_end(text: str) -> int:
    """How many characters at the end of a text are one line's end, or begin it."""
    return next((len(end) for end in LINE_ENDS if text.endswith(end)), 0)


def _overlap(text: str, what: str) -> int:
    """How many characters at the end of a text may begin `what`, or are all of it."""
    return next(size for size in range(min(len(text), len(what)), -1, -1) if text.endswith(what[:size]))


class Unescape:
    """Decodes XML entities, once, in a text that was escaped: one without a bare `<` or `&` (malformations.md 4).

    Text is held back from its first `&` on, until something shows that nothing was escaped, or the text ends.
    """

    def __init__(self, sink: Sink, *, active: bool) -> None:
        self._sink, self._active, self._held = sink, active, ""

    def feed(self, text: str) -> None:
        """More of the text."""
        if not self._active:
            self._sink(text)
            return
        text = self._held + text
        if "<" in text:
            self._held, self._active = "", False
            self._sink(text)
            return
        at = text.find("&")
        self._held = text[at:] if at >= 0 else ""
        if at != 0:
            self._sink(text[:at] if at > 0 else text)

    def close(self) -> None:
        """The text has ended."""
        held, self._held = self._held, ""
        if held:
            self._sink(unescaped(held))

    def through(self) -> Sink | None:
        """Where text without entities and tags goes."""
        return self._sink if not self._held else None


def unescaped(text: str) -> str:
    """`text` with its entities decoded, if it was escaped."""
    if "<" in text or "&" in ENTITY.sub("", text):
        return text
    return ENTITY.sub(lambda m: html_text(m.group()), text)
