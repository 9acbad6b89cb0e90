"""The mistakes the weak model makes when it is told to, one row each.

A slip changes an *utterance*: some before it is written down in a dialect (wrong names, wrong types), the rest on the
written text.  The rows say which of the two.  Every shape is one that real models were seen to make (`source`).
This module does not know which dialect is spoken, and draws all its luck from the generator it is handed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from types import MappingProxyType

from ..types import Json, ToolCall


class Slip(StrEnum):
    """A kind of mistake."""

    PROSE = "prose"
    SLOPPY = "sloppy"
    MALFORMED = "malformed"
    WRONG_NAME = "wrong_name"
    WRONG_TYPES = "wrong_types"
    REHEARSED = "rehearsed"
    QUOTED = "quoted"
    TRUNCATED = "truncated"
    LEAKED = "leaked"
    EARLY_STOP = "early_stop"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the model is about to say: the calls, what they look like written, the text around them, why it stops."""

    calls: tuple[ToolCall, ...]
    written: str = ""
    lead: str = ""
    tail: str = ""
    finish: str = "stop"

    @property
    def text(self) -> str:
        """Everything, as it goes over the wire."""
        return self.lead + self.written + self.tail


Change = Callable[[Utterance, Random], Utterance]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a slip does, when (`before` the calls are written, or after), and where it was seen."""

    change: Change
    before: bool = False
    source: str


# ── before writing ───────────────────────────────────────────────────────────


def _wrong_name(said: Utterance, luck: Random) -> Utterance:
    place = luck.randrange(len(said.calls))
    call = said.calls[place]
    other = luck.choice([call.name + "_tool", "do_" + call.name, call.name + "2"])
    return _swap(said, place, replace(call, name=other))


def _wrong_types(said: Utterance, _: Random) -> Utterance:
    for place, call in enumerate(said.calls):
        said = _swap(said, place, replace(call, arguments={k: _other_type(v) for k, v in call.arguments.items()}))
    return said


def _other_type(value: Json) -> Json:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str) and re.fullmatch(r"-?[1-9]\d{0,8}", value):
        return int(value)
    return value


def _swap(said: Utterance, place: int, call: ToolCall) -> Utterance:
    return replace(said, calls=(*said.calls[:place], replace(call, raw=None), *said.calls[place + 1 :]))


# ── after writing ────────────────────────────────────────────────────────────


def _prose(said: Utterance, luck: Random) -> Utterance:
    return replace(said, lead=luck.choice(["Sure, I can do that.\n\n", "Let me take the next step:\n\n", "Okay.\n\n"]))


def _sloppy(said: Utterance, luck: Random) -> Utterance:
    mends = [_trailing_comma, _bare_keys, _single_quotes]
    luck.shuffle(mends)
    changed = next((text for mend in mends if (text := mend(said.written)) != said.written), said.written)
    return replace(said, written=changed)


def _trailing_comma(text: str) -> str:
    return re.sub(r'(?<=["\w])(\s*\})', r",\1", text, count=1)


def _bare_keys(text: str) -> str:
    return re.sub(r'([{,]\s*)"([A-Za-z_]\w*)"(\s*:)', r"\1\2\3", text)


def _single_quotes(text: str) -> str:
    return re.sub(r"([{,]\s*)\"([A-Za-z_]\w*)\"(\s*:)", r"\1'\2'\3", text)


def _malformed(said: Utterance, luck: Random) -> Utterance:
    """A value is left out: no reading of the text can bring it back."""
    values = list(re.finditer(r'(?<=[:=])[ \t]*("(?:[^"\\]|\\.)*"|-?\d[\d.]*|true|false)(?=\s*[,})])', said.written))
    if not values:
        return _truncated(said, luck)
    value = values[-1]
    return replace(said, written=said.written[: value.start()] + said.written[value.end() :])


def _rehearsed(said: Utterance, luck: Random) -> Utterance:
    doubt = luck.choice(["Is that right? Yes.", "But first let me check the arguments. They are fine."])
    return replace(said, lead=f"<think>\nI could write this:\n{said.written}\n{doubt}\n</think>\n\n{said.lead}")


def _quoted(said: Utterance, luck: Random) -> Utterance:
    quoted = "\n".join(f"> {line}" for line in said.written.strip("\n").split("\n"))
    lead = luck.choice(["A call looks like this:", "For example, one would write:"])
    return replace(said, lead=f"{said.lead}{lead}\n\n{quoted}\n\nNow for real.\n\n")


def _truncated(said: Utterance, luck: Random) -> Utterance:
    cut = max(1, int(len(said.written) * luck.uniform(0.45, 0.75)))
    return replace(said, written=said.written[:cut], tail="", finish="length")


def _leaked(said: Utterance, luck: Random) -> Utterance:
    return replace(said, tail=luck.choice(["<|im_end|>", "<|eot_id|>", "<|endoftext|>"]))


def _early_stop(said: Utterance, luck: Random) -> Utterance:
    names = " and ".join(call.name for call in said.calls)
    text = luck.choice(["I will now use {}.", "Let me call {} for you.", "The next step is {}."]).format(names)
    return Utterance(said.calls, text, said.lead)


ROWS: MappingProxyType[Slip, Row] = MappingProxyType(
    {
        Slip.WRONG_NAME: Row(change=_wrong_name, before=True, source="koda#656, livekit#6085"),
        Slip.WRONG_TYPES: Row(change=_wrong_types, before=True, source="ollama#7860"),
        Slip.SLOPPY: Row(change=_sloppy, source="llama.cpp, json_repair and AI-SDK test suites"),
        Slip.MALFORMED: Row(change=_malformed, source="llama.cpp#27025"),
        Slip.PROSE: Row(change=_prose, source="data-machine#2316"),
        Slip.REHEARSED: Row(change=_rehearsed, source="Qwen3#1817"),
        Slip.QUOTED: Row(change=_quoted, source="qwen3.8-Flash-DGX#29, continue#11070"),
        Slip.LEAKED: Row(change=_leaked, source="llama.cpp control-token vectors"),
        Slip.TRUNCATED: Row(change=_truncated, source="cline#13001, lobehub#13817"),
        Slip.EARLY_STOP: Row(change=_early_stop, source="Qwen3#1817 (planned but not emitted)"),
    }
)
"""In the order in which several slips of one reply are applied."""

HARMLESS = frozenset({Slip.PROSE, Slip.SLOPPY, Slip.WRONG_TYPES, Slip.REHEARSED, Slip.QUOTED, Slip.LEAKED})
"""Slips that a reader can see through: the call is still there.  The others need the model to be asked again."""


def stumble(
    said: Utterance, slips: frozenset[Slip], luck: Random, write: Callable[[Utterance], Utterance]
) -> Utterance:
    """Apply `slips` in table order, writing the calls down (with `write`) between the two kinds."""
    for slip, row in ROWS.items():
        if row.before and slip in slips:
            said = row.change(said, luck)
    said = write(said)
    for slip, row in ROWS.items():
        if not row.before and slip in slips:
            said = row.change(said, luck)
    return said


def draw(rates: Mapping[Slip, float], luck: Random) -> frozenset[Slip]:
    """The slips of one reply: each by its own rate."""
    return frozenset(slip for slip in Slip if luck.random() < rates.get(slip, 0.0))
