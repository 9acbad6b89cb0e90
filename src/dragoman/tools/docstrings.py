"""Docstrings: the texts about a function, each of its parameters, and its value.

Reads the Google, NumPy and Sphinx (also Epydoc) conventions, and a docstring in none of them as one text.
Contract: only the names asked for are parameters, whatever else looks like one; every docstring can be read; no word of
the text before the first section is lost.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from ..records import NamedTuple


@dataclass(frozen=True, slots=True)
class Documentation:
    """A docstring's content: the text, and by parameter what it is (`parameters`) and its type as written (`types`)."""

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    returns: str = ""


def _titles(listed: str) -> frozenset[str]:
    return frozenset(title.strip() for title in listed.split(","))


_PARAMETERS = _titles(
    "args, arguments, parameters, parameter, params, keyword args, keyword arguments, keyword parameters,"
    " other parameters, attributes, fields"
)
_RETURNS = _titles("returns, return, yields, yield")
_OTHERS = _titles(
    "raises, raise, except, exceptions, warns, warnings, warning, example, examples, note, notes, see also, references,"
    " todo, attention, caution, danger, error, hint, important, tip, methods, receives, usage"
)


def documentation(doc: str | None, names: Collection[str]) -> Documentation:
    """The content of `doc`, of a function or class whose parameters are `names`."""
    reader = _DocReader(frozenset(names))
    lines = inspect.cleandoc(doc or "").splitlines()
    for section in _sections(lines):
        reader.read(section)
    return reader.found()


# ── sections ─────────────────────────────────────────────────────────────────


class _Section(NamedTuple):
    """A part of a docstring: its `kind` ("" for text), and its lines."""

    kind: str
    lines: list[str]
    style: str = ""


_HEADER = re.compile(r"(\w[\w ]*?)\s*:\s*")
_UNDERLINE = re.compile(r"(-{3,}|={3,})\s*")
_FIELD = re.compile(
    r"[:@](?P<field>param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception|yields?|ivar|var|cvar)"
    r"(?P<about>[^:\n]*):(?P<text>.*)"
)


def _sections(lines: list[str]) -> Iterator[_Section]:
    section = _Section("", [])
    index = 0
    while index < len(lines):
        line = lines[index]
        kind, style, used = _header(lines, index)
        if kind:
            yield section
            section = _Section(kind, [], style)
            index += used
            continue
        starts_field = _FIELD.match(line) is not None
        ends_google = section.style == "google" and line[:1].strip()
        if starts_field or ends_google or (section.style == "field" and not line.strip()):
            yield section
            section = _Section("field", [], "field") if starts_field else _Section("", [])
        section.lines.append(line)
        index += 1
    yield section


def _header(lines: list[str], index: int) -> tuple[str, str, int]:
    """The kind and style of the section that starts at a line, and how many lines its header takes."""
    line = lines[index]
    follower = lines[index + 1] if index + 1 < len(lines) else ""
    if _UNDERLINE.fullmatch(follower) and (kind := _kind(line.strip())):
        return kind, "numpy", 2
    found = _HEADER.fullmatch(line)
    if found and (kind := _kind(found[1])):
        return kind, "google", 1
    return "", "", 0


def _kind(title: str) -> str:
    word = " ".join(title.casefold().split())
    if word in _PARAMETERS:
        return "parameters"
    return "returns" if word in _RETURNS else "other" if word in _OTHERS else ""


# ── reading them ─────────────────────────────────────────────────────────────

_ENTRY = re.compile(
    r"(?:[-*+]\s+)?(?P<names>[`*]{0,2}[^\W\d]\w*[`*]{0,2}(?:\s*,\s*[`*]{0,2}[^\W\d]\w*[`*]{0,2})*)"
    r"\s*(?:\((?P<type>.*?)\))?\s*(?::|\s--?\s|\s[–—]\s)\s*(?P<text>.*)"
)
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}[^\W\d]\w*(?:\s*,\s*\*{0,2}[^\W\d]\w*)*)\s*(?::\s*(?P<type>.*))?")
_TYPE_FIRST = re.compile(r"[\w.\[\], |]+:\s+(?=\S)")


class _DocReader:
    """Gathers the texts about the parameters it knows."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.texts: list[str] = []
        self.lines: dict[str, list[str]] = {}
        self.types: dict[str, str] = {}
        self.returns: list[str] = []

    def read(self, section: _Section) -> None:
        if section.kind == "":
            self.texts.append("\n".join(section.lines))
        elif section.kind == "field":
            self._field(section.lines)
        elif section.kind == "returns":
            self.returns.append(_returned(section.lines, section.style))
        elif section.kind == "parameters":
            self._entries(section.lines, _NUMPY_ENTRY if section.style == "numpy" else _ENTRY)

    def found(self) -> Documentation:
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self.texts)).strip()
        described = {name: joined for name, lines in self.lines.items() if (joined := _joined(lines))}
        return Documentation(text, described, self.types, " ".join(filter(None, self.returns)))

    def _entries(self, lines: list[str], entry: re.Pattern[str]) -> None:
        """An entry starts where the section does; what stands deeper, or starts none, goes on with the one before."""
        current: list[str] = []
        for line in inspect.cleandoc("\n".join(["", *lines])).splitlines():
            found = entry.fullmatch(line)
            if found is None:
                current.append(line)
                continue
            current = [found.groupdict().get("text", "")]
            for name in _named(found["names"]):
                if name in self.names:
                    self.lines[name] = current
                    self._typed(name, found["type"])

    def _typed(self, name: str, written: str | None) -> None:
        kind = re.sub(r",?\s*(optional|default[:= ].*)\s*$", "", (written or "").strip(), flags=re.IGNORECASE).strip()
        if kind:
            self.types[name] = kind

    def _field(self, lines: list[str]) -> None:
        found = _FIELD.match(lines[0])
        assert found is not None
        *kind, name = found["about"].replace("*", "").split() or [""]
        about = [found["text"], *lines[1:]]
        if found["field"] in ("returns", "return", "yields", "yield"):
            self.returns.append(_joined(about))
        elif found["field"] == "type" and name in self.names:
            self._typed(name, _joined(about))
        elif name in self.names:
            self.lines[name] = about
            self._typed(name, " ".join(kind))


def _named(written: str) -> list[str]:
    return [name.strip().strip("`*") for name in written.split(",")]  # **kwargs too


def _returned(lines: list[str], style: str) -> str:
    text = inspect.cleandoc("\n".join(["", *lines]))
    if style == "numpy":
        head, _, rest = text.partition("\n")
        return _joined(rest.splitlines()) or head.strip()
    return _TYPE_FIRST.sub("", _joined(text.splitlines()), count=1)


def _joined(lines: list[str]) -> str:
    """The lines as one paragraph; lists and blank lines keep their breaks."""
    text = inspect.cleandoc("\n".join(lines)).strip()
    return re.sub(r"(?<!\n)\n(?!\n|\s*(?:[-*+]|\d+[.)])\s)\s*", " ", text)
