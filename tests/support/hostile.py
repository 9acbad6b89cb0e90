"""Texts made to cost time: every mark of the dialect table repeated, near misses, nesting, mixtures.

Knows the rows and how models write calls; not how anything is read.
Contract: `generators()` gives a text of (about) any size by its name, the same each time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from dragoman.dialects.engine.common_marks import FABRICATED, FOREIGN_TURN, QUIET, STRAY, THINK
from dragoman.dialects.rows.table import ALL
from dragoman.dialects.spec import BraceArgs, Dialect, ElementArgs, TaggedArgs

Make = Callable[[int], str]

TOOL = {"name": "ping", "parameters": {"type": "object", "properties": {"host": {"type": "string"}, "n": {"type": "integer"}}}}
CALL = '<tool_call>\n{"name": "ping", "arguments": {"host": "a"}}\n</tool_call>'

CONTEXTS: Mapping[str, str] = {
    "alone": "",
    "in reasoning": "<think>",
    "in a fence": "```\n",
    "in a JSON call": '<tool_call>{"name": "ping", "arguments": {',
    "in a JSON string": '<tool_call>{"name": "ping", "arguments": {"host": "',
    "in an XML call": "<tool_call><function=ping>",
    "in an XML value": "<tool_call><function=ping><parameter=host>",
    "in elements": "<ping><host>",
    "in Python": "```tool_code\nping(host=",
    "in a command's string": 'ping(host="',
}
"""What stands open before the noise."""

NEAR: tuple[str, ...] = (
    "<", "</", "<t", "<tool", "<tool_cal", "<tool_call", "<tool_call ", "<function", "<function=", "<|", "<|tool", "<｜",
    "[", "[T", "[TOOL_CALLS", "[[", "{", '{"', '{"name', '{"name": ', '{"a": ', '{"a": [', "`", "``", "```", "~~~",
    "```json\n", "```\n", "\n```\n", "\n", "\n\n", " \n", "\r\n", " ", "\t", '"', "'", '",', '", ', "':", "\\", '\\"', "\\u",
    "(", ")", "ping", "ping(", "ping(host=", "@ping", "@", "$", "Action:", "Action: ping\n", "\nAction: ", "Observation",
    "\nthought", "- ", "* ", "# ", "> ", "\n> ", "\n    ", "|", "=", ":", ",", "0", "1e", "-", "}", "]", "}}", "]}", "/>",
    "<a>", "</a>", "<a ", "<a><b>", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "&amp;lt;", "&", "<x y='", "<tool_call>{",
    '<tool_call>{"name": "ping"', '<tool_call>{"name": "ping", ', "</tool_call>{", '<tool_call>\n{"name": "ping", "arguments": {"host" "a"}}\n</tool_call>\n',
    '{"name": "ping", "arguments": ', '\n{"arguments": [', '\n{"tool_calls": [', '{"function": {"name": "ping", ', "\n[{",
    "[ping(", "[ping(host=[", "print(", "default_api.ping(", "ping: ", "\nping\n", "<ping>", "</ping>", "<ping ", "<host>",
    "<parameter=host>", "</parameter>", "</parameter> x", "<parameter", "</", "</parameter><parameter=n>", "<invoke name=\"ping\">",
    "\n- name: ping\n  arguments:\n", "name: ping\n", "a: ", "a:\n ", "{a:", "{a:[", '<|"|>', "<|channel|>", "<|channel|>x",
    "to=functions.", "<|start|>assistant", "\n1. ", "\nFinal Answer:", '"""', "'''", '"""a', "//", "/*", "#", "\ufeff", "\0",
    "\u3000", "é", "🙂", "None", "true", "tru", "null,", "host: ", "host=", '"host": ', '"host": "a", ', '{"host": "a"}, ',
    "K", "ſ", "İ", "ping ping", "a.b.c.", "-" * 20, "a" * 50 + " ", "<" + "a" * 60 + ">", "[" + "x" * 30 + "]",
)
"""Beginnings of marks, signs and words, and what calls are made of."""


def marks() -> tuple[str, ...]:
    """Every opener and closer that the table knows, in order."""
    found = dict.fromkeys(spelt for row in ALL for spelt in _spelt(row))
    think = [mark for opener, closers in THINK.items() for mark in (opener, *closers)]
    return tuple(dict.fromkeys((*found, *think, *QUIET, *STRAY, *FOREIGN_TURN, *FABRICATED)))


def _spelt(row: Dialect) -> Iterator[str]:
    spans = [row.section, row.call, row.tool, row.body, *row.reasoning]
    args = row.args
    more: tuple[str, ...] = ()
    if isinstance(args, TaggedArgs):
        spans += [args.key, args.value, args.type]
        more = args.raw_flag + args.json_flag
    elif isinstance(args, BraceArgs):
        more = args.quotes
    elif isinstance(args, ElementArgs):
        more = (args.prefix,)
    if row.segments is not None:
        more += row.segments.open + row.segments.head + row.segments.close
    for spelt in (*(s for span in spans for s in span.open + span.close), *row.lead, *row.final, *row.quiet, *row.between, *more):
        if spelt:
            yield spelt.replace("{name}", "ping")


def repeated(piece: str, before: str = "") -> Make:
    """The piece over and over, behind what stands open."""
    return lambda size: before + piece * max(1, (size - len(before)) // len(piece))


def mixed(pieces: tuple[str, ...], seed: int, before: str = "") -> Make:
    """The pieces in an order of chance."""

    def make(size: int) -> str:
        rng, got, length = random.Random(seed), [before], len(before)
        while length < size:
            got.append(rng.choice(pieces))
            length += len(got[-1])
        return "".join(got)[:size]

    return make


def nested(opener: str, closer: str) -> Make:
    """All openers, then all closers."""

    def make(size: int) -> str:
        n = max(1, size // (len(opener) + len(closer)))
        return opener * n + closer * n

    return make


def alternating(a: str, b: str) -> Make:
    """Two pieces in turn."""
    return repeated(a + b)


def prose_with(piece: str, every: int) -> Make:
    """Words, and the piece between so many characters of them."""
    words = ("so it goes and nobody knows why the wind blows from the north " * 40)[:every]
    return repeated(words + piece)


SPANS: tuple[tuple[str, str], ...] = (
    ("<tool_call>", "</tool_call>"), ("[", "]"), ("{", "}"), ('{"a": ', "}"), ('{"a": [', "]}"), ("(", ")"), ("<a>", "</a>"),
    ("<ping>", "</ping>"), ("<think>", "</think>"), ("`", "`"), ("ping(", ")"), ('{"name": "ping", "arguments": ', "}"),
    ("<parameter=host>", "</parameter>"), ("```\n", "\n```"), ("> ", "\n"), ("<function=ping>", "</function>"),
)
PAIRS: tuple[tuple[str, str], ...] = (
    ("<tool_call>", "</think>"), ("```\n", "~~~\n"), ("`", "<"), ('"', "'"), ("{", "]"), ("<think>", "<tool_call>"),
    ("<tool_call>", '{"a"'), ("\n", "<"), ("\n", "{"), ("\n", "["), ("\n", "ping("), ("x ", "ping("), ("\n", "`"), ("\n```", "x"),
    ("</tool_call>", "\n"), ("<|", "|>"), ("<", ">"), ("a<b ", "a>b "), ("x = [1]\n", "y = {}\n"), ("[1] ", "(2) "),
    ("<tool_call>", "x"), ("<tool_call>\n", "words. "), ('"a": "b', '", '), ("{'a': ", '"b"}, '),
)
UNITS: tuple[str, ...] = (
    '```json\n{"a": 1}\n```\n', "Action:\n```json\n", "````\n```json\n{}\n```\n````\n", "Look:\n```json\n{\n",
    '```json\n{"name": "pong", "arguments": {"a": 1}}\n```\n', "```json\n[1, 2]\n```\n~~~\n{}\n~~~\n",
    '<tool_ca\n<|to\n[TOOL_C\n{"na\nActio\n```js\n', "so\n```\nls -la\n```\nthen ", "> </tool_call></tool_call>",
    "></tool_call>", "<|im_e </tool_cal <functio ", "27. x\n- y\n", '{"a": 1}\n{"b": [2]}\n', "\nWord: (x)\n",
)
"""Whole pieces of answers over and over: data in fences, halves of marks, lists."""
LATE_CALLS: tuple[str, ...] = (
    CALL, '{"name": "ping", "arguments": {"host": "a"}}', '{"arguments": {"host": "a"}, "name": "ping"}',
    '```json\n{"name": "ping", "arguments": {"host": "a"}}\n```', "<ping><host>a</host></ping>", '[ping(host="a")]',
    '```tool_code\nping(host="a")\n```', '{"n\\u0061me": "p\\u0069ng", "arguments": {"host": "a"}}',
)
"""Calls as they may stand behind all of that."""


def generators() -> dict[str, Make]:
    """All of them, by name."""
    made: dict[str, Make] = {}
    own = marks()
    for where, before in CONTEXTS.items():
        for piece in dict.fromkeys((*NEAR, *own)):
            made[f"{piece!r} {where}"] = repeated(piece, before)
    for opener, closer in SPANS:
        made[f"{opener!r} nested in {closer!r}"] = nested(opener, closer)
        made[f"{opener!r} {closer!r} in turn"] = alternating(opener, closer)
    for a, b in PAIRS:
        made[f"{a!r} then {b!r}"] = alternating(a, b)
    for piece in dict.fromkeys((*NEAR, *own)):
        made[f"{piece!r} in words"] = prose_with(piece, 40)
    for piece in UNITS:
        for where in ("alone", "in reasoning", "in an XML value"):
            made[f"{piece!r} {where}"] = repeated(piece, CONTEXTS[where])
    for seed in range(8):
        for where, before in CONTEXTS.items():
            pieces = (NEAR, own, NEAR + own, tuple(c for c in "<>[]{}()`~\"'\\\n ,:=x"))[seed % 4]
            made[f"mixture {seed} {where}"] = mixed(pieces, seed, before)
    return made
