"""The YAML that models write, read into JSON values: mappings, sequences, block and flow scalars; nothing else of YAML.

Knows schemas (a value declared as a string is never typed) and nothing of tools or markup.  Anchors, tags, several
documents and directives are refused.  `Broken` says in words for a person what could not be read.

Contract: linear in the text; no value is invented; a key given twice is `Repeated`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..late import late
from ..schema.validation import ANYTHING, Shape, read_text
from .bare_words import is_endless
from .reader import Broken, Cut, Repeated, mend

MAX_DEPTH = 64
MAX_KEY = 256
QUOTED_KEY = late(r"(?:\"(?:[^\"\\]|\\.){0,256}\"|'(?:[^']|''){0,256}')(?=\s*:(?:\s|$))")
NO_KEY = frozenset("[]{}#&*!|>%@`,")
NO_PLAIN = frozenset("[{&*!|>%@`\"'")
"""What begins a value that is no plain text."""
BLOCK = late(r"(?P<style>[|>])(?P<marks>[+-]?[1-9]?[+-]?)\s*(?:#.*)?$")
DOUBLE_END = late(r'(?:[^"\\]|\\.|\\$)*"')
SINGLE_END = late(r"(?:[^']|'')*'(?!')")
COMMENT = late(r"(?:^|\s)#.*$")
INTEGER = late(r"[-+]?(?:0|[1-9]\d*)")
NUMBER = late(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
BESIDE = late(r"""[|>“”‘’«»„]["']""")
"""A sign of a block, whose text comes in the lines below, or a quote of another kind, and a quote beside it."""
UNCLEAR = frozenset({"unescaped_quote", "missing_comma"})
"""Edits of a flow collection that guess where a text ends: one of several lines goes on without a sign."""
UNCLEAR_COMMENT = "whether this is a comment or belongs to a text is not clear: {!r}"
WORDS: dict[str, bool | None] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "Null": None, "~": None, "": None,
}  # fmt: skip
_TEXT = frozenset({"string"})
ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", '"': '"',
    "/": "/", "\\": "\\", " ": " ", "N": "\x85", "_": "\xa0",
}
ESCAPE = late(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)


def read_mapping(text: str, shape: Shape = ANYTHING, *, ended: bool = True) -> dict[str, Any]:
    """The mapping that `text` is; `{}` for nothing but white space and comments.  Raises `Broken`.

    Where nothing says that the text has `ended`, a last value that may go on raises `Cut`.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    reader = _Reader(lines)
    if reader.indent() < 0:
        return {}
    value = reader.node(reader.indent(), shape, 0)
    if reader.indent() >= 0:
        raise Broken(f"this is not YAML: {reader.lines[reader.at].strip()[:40]!r}")
    if not isinstance(value, dict):
        raise Broken("a YAML mapping was expected")
    if reader.open and not ended:
        raise Cut
    return value


class _Reader:
    """`open` says that the value read last may have gone on in further lines; `plain` holds texts that no sign ends."""

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.at = lines, 0
        self.plain: list[str] = []
        self.open = False

    def indent(self) -> int:
        """How far the next line that says something is indented; -1 at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            body = line.lstrip(" ")
            if body.strip() and not body.startswith("#"):
                if body.startswith("\t"):
                    raise Broken("a tab indents a line")
                return len(line) - len(body)
            self.at += 1
        return -1

    def node(self, indent: int, shape: Shape, depth: int) -> Any:
        """The value whose lines are indented by `indent`."""
        if depth > MAX_DEPTH:
            raise Broken(f"nested deeper than {MAX_DEPTH}")
        body = self.lines[self.at][indent:]
        if body == "-" or body.startswith("- "):
            return self._sequence(indent, shape.item, depth)
        if split_key(body):
            return self._mapping(indent, shape, depth)
        self.at += 1
        block = BLOCK.match(body)
        if block is not None and self._is_block(indent - 1):
            return _fit(self._block(block["style"], block["marks"], indent - 1), shape, plain=False)
        return self._scalar(body, indent - 1, shape)

    def _mapping(self, indent: int, shape: Shape, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first = len(self.plain)
        while self.indent() == indent:
            line = self.lines[self.at][indent:]
            split = split_key(line)
            if split is None:
                if depth == 0 and line.startswith("---") and not found:
                    self.at += 1
                    continue
                raise Broken(f"a key was expected, not {line[:40]!r}")
            key, rest = split
            if key in found:
                raise Repeated(f"the key {key[:40]!r} is given twice")
            self.at += 1
            found[key] = self._after(rest, indent, shape.property(key), depth, shape.keys)
        if self.indent() > indent:
            raise Broken("a line is indented too far")
        for key in shape.keys:
            if key not in found and any(_gives(text, key) for text in self.plain[first:]):
                raise Broken(f"where a value ends is not clear: {key[:40]!r} stands in one, and is missing")
        return found

    def _sequence(self, indent: int, shape: Shape, depth: int) -> list[Any]:
        found: list[Any] = []
        while self.indent() == indent and re.match(r"-(?:\s|$)", self.lines[self.at][indent:]):
            rest = self.lines[self.at][indent + 1 :]
            inner = rest.lstrip(" ")
            column = indent + 1 + len(rest) - len(inner)
            if inner.startswith("- ") or (split_key(inner) and not BLOCK.match(inner)):
                self.lines[self.at] = " " * column + inner
                found.append(self.node(column, shape, depth + 1))
            else:
                self.at += 1
                if not COMMENT.sub("", inner).strip() and self.indent() <= indent:  # another item is not in this one
                    found.append(_fit("", shape, plain=True))
                else:
                    found.append(self._after(inner, indent, shape, depth))
        return found

    def _after(self, rest: str, indent: int, shape: Shape, depth: int, keys: tuple[str, ...] = ()) -> Any:
        """The value that begins on the key's own line, or on the next ones."""
        self.open = True
        block = BLOCK.match(rest.strip())
        if block is not None and self._is_block(indent):
            return _fit(self._block(block["style"], block["marks"], indent), shape, plain=False)
        if shape.kinds == _TEXT and self._spills(rest, indent, keys):
            return self._raw(rest, keys)
        body = COMMENT.sub("", rest).strip()
        if body:
            return self._scalar(rest, indent, shape)
        if shape.kinds == _TEXT and self._is_unmarked(indent):
            self.plain.append(self._block("|", "", indent))
            return self.plain[-1]
        below = self.indent()
        if below > indent or (below == indent and self.lines[self.at][indent:].startswith("-")):
            return self.node(below, shape, depth + 1)
        if rest.strip() and not shape.kinds.isdisjoint(_TEXT):
            raise Broken(UNCLEAR_COMMENT.format(rest.strip()[:40]))  # `title: # One`
        return _fit("", shape, plain=True)

    # ── scalars ──────────────────────────────────────────────────────────────

    def _is_block(self, indent: int) -> bool:
        for at in range(self.at, len(self.lines)):
            body = self.lines[at].lstrip(" ")
            if body.startswith("#") and len(self.lines[at]) - len(body) <= indent:
                raise Broken(UNCLEAR_COMMENT.format(body[:40]))
            if body.strip():
                return len(self.lines[at]) - len(body) > indent or split_key(body) is not None
        return True

    def _is_unmarked(self, indent: int) -> bool:
        """Does a text of several lines follow, further in than its key, which lacks the sign of a block?

        Folded it would be no text of a file any more, nor are its lines with a `#` comments.
        """
        full = [line for line in self._block_lines(indent, taken=False) if line.strip()]
        first = full[0].lstrip(" ") if full else ""
        if first.startswith("#"):
            raise Broken(UNCLEAR_COMMENT.format(first[:40]))
        return len(full) > 1 and not (split_key(first) or first[0] in NO_PLAIN or f"{first} ".startswith("- "))

    def _spills(self, rest: str, indent: int, keys: tuple[str, ...]) -> bool:
        """Do lines that are no YAML follow: a text whose lines nobody indented?"""
        body = rest.lstrip()
        heredoc = body.startswith('"""')
        if indent or body[:1] in ("", "|", ">") or (body[0] in "\"'" and not heredoc):
            return False
        for at in range(self.at, len(self.lines)):
            line = self.lines[at]
            if line[:1] not in (" ", "") or (heredoc and at + 1 == len(self.lines)):
                split = split_key(line)
                return not line.startswith("#") and (split is None or (heredoc and split[0] not in keys))
        return False

    def _raw(self, rest: str, keys: tuple[str, ...]) -> str:
        """Such a text: up to the next line that gives a declared key."""
        got = [rest]
        while self.at < len(self.lines):
            split = split_key(self.lines[self.at])
            if split is not None and split[0] in keys:
                break
            got.append(self.lines[self.at])
            self.at += 1
        return "\n".join(got) + "\n"

    def _scalar(self, first: str, indent: int, shape: Shape) -> Any:
        body = first.strip()
        self.open = body[:1] not in ('"', "'")
        if not self.open:
            return _fit(self._quoted(body, indent), shape, plain=False)
        if body[:1] in "[{":
            return self._flow(body, shape)
        if body[:1] in "&*!%@`" or BESIDE.match(body):
            raise Broken(f"this YAML is not supported: {body[:40]!r}")
        if body.endswith('"') and body.count('"') == 1:
            raise Broken(f"a string is not opened: {body[:40]!r}")
        parts, begin = [COMMENT.sub("", first).strip()], self.at
        taken: list[str] = []
        while (end := self._continued(indent)) > self.at:
            if self.lines[end - 1].lstrip(" ").startswith("#"):
                self._pass_comments(indent)
                break
            taken += self.lines[self.at : end]
            parts += [COMMENT.sub("", line).strip() for line in self.lines[self.at : end]]
            self.at = end
        if len({len(line) - len(line.lstrip(" ")) for line in self.lines[begin : self.at] if line.strip()}) > 1:
            raise Broken("whether the ends of lines belong to a text is not clear: they are not indented alike")
        self.open = len(parts) > 1
        self.plain.append("\n".join(parts))
        value = _fit(_folded(parts), shape, plain=True)
        if isinstance(value, str) and (comment := next(filter(None, map(COMMENT.search, (first, *taken))), None)):
            raise Broken(UNCLEAR_COMMENT.format(comment.group().strip()[:40]))  # `title: One #2`
        return value

    def _pass_comments(self, indent: int) -> None:
        """Comments end a text; lines behind them that would go on with it are no YAML."""
        while (end := self._continued(indent)) > self.at:
            line = self.lines[end - 1].lstrip(" ")
            if not line.startswith("#"):
                raise Broken(UNCLEAR_COMMENT.format(line[:40]))
            self.at = end

    def _continued(self, indent: int) -> int:
        """Up to where the next line that says something belongs to the scalar above, with the empty ones before it."""
        at = self.at
        while at < len(self.lines) and not self.lines[at].strip():
            at += 1
        if at >= len(self.lines):
            return self.at
        line = self.lines[at]
        return at + 1 if len(line) - len(line.lstrip(" ")) > indent else self.at

    def _quoted(self, body: str, indent: int) -> str:
        quote, line, parts = body[0], body[1:], []
        end = DOUBLE_END if quote == '"' else SINGLE_END
        while (match := end.match(line)) is None:
            parts.append(line)
            if self.at >= len(self.lines):
                raise Cut
            line = self.lines[self.at].strip()
            if line and len(self.lines[self.at]) - len(self.lines[self.at].lstrip(" ")) <= indent:
                raise Broken("whether the ends of lines belong to a text in quotes is not clear: they are not indented")
            self.at += 1
        rest = COMMENT.sub("", line[match.end() :]).strip()
        if rest:
            raise Broken(f"text follows a quoted value: {rest[:40]!r}")
        if quote == '"' and not parts:
            try:
                return str(json.loads('"' + match.group()))
            except ValueError:
                pass  # one of YAML's own escapes
        inside = _folded([*parts, match.group()[:-1]])
        return inside.replace("''", "'") if quote == "'" else ESCAPE.sub(_unescape, inside)

    def _flow(self, body: str, shape: Shape) -> Any:
        parts = [_uncommented(body)]
        depth = _depth(parts[0])
        while depth > 0 and self.at < len(self.lines):
            parts.append(_uncommented(self.lines[self.at].strip()))
            depth += _depth(parts[-1])
            self.at += 1
        if _depth(text := "\n".join(parts)) != depth and "#" in text:
            raise Broken("whether a `#` begins a comment or stands in a text of several lines is not clear")
        value, edits = mend(_flow_quoted(text), shape)
        if any(edit.kind in UNCLEAR for edit in edits):
            raise Broken("where a string in a list or a mapping ends is not clear")
        return value

    def _block(self, style: str, marks: str, indent: int) -> str:
        digits = [c for c in marks if c.isdigit()]
        lines = self._block_lines(indent)
        full = [line for line in lines if line.strip()]
        if not full:
            return "\n" * len(lines) if "+" in marks else ""
        margin = indent + int(digits[0]) if digits else len(full[0]) - len(full[0].lstrip(" "))
        if any(line[:margin].strip() for line in full):
            raise Broken("a line of a text is indented less than its first")
        body = [line[margin:] for line in lines]
        tail = 0
        while body and not body[-1]:
            body.pop()
            tail += 1
        text = "\n".join(body) if style == "|" else _fold_block(body)
        return text + ("" if "-" in marks else "\n" * (1 + tail) if "+" in marks else "\n")

    def _block_lines(self, indent: int, *, taken: bool = True) -> list[str]:
        end = self.at
        while end < len(self.lines):
            line = self.lines[end]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
                break
            end += 1
        got = self.lines[self.at : end]
        self.at = end if taken else self.at
        return got


def split_key(line: str) -> tuple[str, str] | None:
    """`key: rest` in two; None when the line does not begin with a key."""
    if line[:1] in ('"', "'"):
        quoted = QUOTED_KEY.match(line)
        if quoted is None:
            return None
        inside, rest = quoted.group()[1:-1], line[quoted.end() :].lstrip()[1:]
        return (ESCAPE.sub(_unescape, inside) if line[0] == '"' else inside.replace("''", "'")), rest.removeprefix(" ")
    at = line.find(":", 0, MAX_KEY)
    while 0 < at < len(line) - 1 and line[at + 1] not in " \t":
        at = line.find(":", at + 1, MAX_KEY)
    key = line[:at].rstrip() if at > 0 else ""
    if not key or key[0] in NO_KEY or key[:2] in ("- ", "? ") or " #" in key:
        return None
    return key, line[at + 1 :].removeprefix(" ")


def _gives(text: str, key: str) -> bool:
    """Does the text hold the key, and a colon behind it, as the key of a value?"""
    return key in text and re.search(rf"(?<!\S){re.escape(key)}[ \t]*:(?!\S)", text) is not None


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 and not 0xD800 <= int(code, 16) < 0xE000 else "\ufffd"
    found = ESCAPES.get(match[4])
    return found if found is not None else "\\" + match[4]


def _folded(lines: list[str]) -> str:
    """Lines of a flow scalar: single line ends are spaces, empty lines are line ends."""
    if len(lines) == 1:
        return lines[0]
    parts, empty = [lines[0].rstrip(" \t")], 0
    for place, line in enumerate(lines[1:], 2):
        piece = line.strip(" \t") if place < len(lines) else line.lstrip(" \t")
        if not piece and place < len(lines):
            empty += 1
            continue
        parts += ["\n" * empty or " ", piece]
        empty = 0
    return "".join(parts)


def _fold_block(lines: list[str]) -> str:
    """Lines of a folded block: as above, but lines that are indented further keep their line ends."""
    parts: list[str] = []
    blanks, deep = 0, False
    for line in lines:
        if not line:
            blanks += 1
            continue
        before, deep = deep, line[0] in " \t"
        if parts and not (deep or before):
            parts.append("\n" * blanks or " ")
        else:
            parts.append("\n" * (blanks + bool(parts)))
        parts.append(line)
        blanks = 0
    return "".join(parts)


def _depth(text: str) -> int:
    tokens = FLOW_WORD.findall(text)
    return sum(t in ("[", "{") for t in tokens) - sum(t in ("]", "}") for t in tokens)


def _uncommented(line: str) -> str:
    """A line of a flow collection without the comment at its end: in its strings a `#` begins none."""
    for token in FLOW_WORD.finditer(line):
        found = None if token.group()[0] in "\"'" else FLOW_COMMENT.search(line, token.start(), token.end())
        if found is not None:
            return line[: found.start()].rstrip()
    return line


FLOW_COMMENT = late(r"(?:^|(?<=\s))#")
FLOW_WORD = late(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\[\]{},:\"'\s][^\[\]{},:\n]*|[\[\]{},:\s]|.", re.S)


def _flow_quoted(text: str) -> str:
    """A flow collection with its plain words quoted, so that it is JSON."""
    out = []
    for token in FLOW_WORD.findall(text):
        word = token.strip()
        if token in ('"', "'"):
            raise Broken("a string in a list or a mapping is not closed")
        if token[0] in "[]{},: \t\n\"":
            out.append(token)
        elif token[0] == "'":
            out.append(json.dumps(token[1:-1].replace("''", "'"), ensure_ascii=False))
        else:
            if word.endswith('"'):
                raise Broken("a string in a list or a mapping is not opened")
            plain = word in WORDS or INTEGER.fullmatch(word) or NUMBER.fullmatch(word)
            out.append(json.dumps(_typed(word) if plain else word, ensure_ascii=False))
    return "".join(out)


def _fit(text: str, shape: Shape, *, plain: bool) -> Any:
    """The value of a scalar: by the schema where it says something, else by YAML's own rules for plain ones."""
    if shape.kinds == _TEXT:
        return text if text or not plain else ""
    if shape.kinds or shape.enum:
        return read_text(text, shape)[0]
    return _typed(text) if plain else text


def _typed(text: str) -> Any:
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text) and len(text) < 4000:
        return int(text)
    is_number = NUMBER.fullmatch(text) and len(text) < 400 and not is_endless(text)
    return float(text) if is_number else text
