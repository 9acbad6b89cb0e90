"""The mistakes the weak model makes on demand, one row each.

A fault changes an *utterance*: some before it is written down in a dialect (wrong names, wrong types), the rest on the
written text.  The rows say which of the two.  Every shape is one that real models were seen to make (`source`).
This module does not know which dialect is written, and draws all its luck from the generator it is handed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from types import MappingProxyType

from ..types import Json, ToolCall


class FaultKind(StrEnum):
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
    """A reply in the making: the calls, what they look like written, the text around them, why it stops."""

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
class FaultRow:
    """A fault: its change, when (`before` the calls are written, or after), and where it was seen."""

    change: Change
    before: bool = False
    source: str


# ── before writing ───────────────────────────────────────────────────────────


def _wrong_name(utterance: Utterance, luck: Random) -> Utterance:
    place = luck.randrange(len(utterance.calls))
    call = utterance.calls[place]
    other = luck.choice([call.name + "_tool", "do_" + call.name, call.name + "2"])
    return _swap(utterance, place, replace(call, name=other))


def _wrong_types(utterance: Utterance, _: Random) -> Utterance:
    for place, call in enumerate(utterance.calls):
        utterance = _swap(
            utterance, place, replace(call, arguments={k: _other_type(v) for k, v in call.arguments.items()})
        )
    return utterance


def _other_type(value: Json) -> Json:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str) and re.fullmatch(r"-?[1-9]\d{0,8}", value):
        return int(value)
    return value


def _swap(utterance: Utterance, place: int, call: ToolCall) -> Utterance:
    return replace(utterance, calls=(*utterance.calls[:place], replace(call, raw=None), *utterance.calls[place + 1 :]))


# ── after writing ────────────────────────────────────────────────────────────


def _prose(utterance: Utterance, luck: Random) -> Utterance:
    return replace(
        utterance, lead=luck.choice(["Sure, I can do that.\n\n", "Let me take the next step:\n\n", "Okay.\n\n"])
    )


def _sloppy(utterance: Utterance, luck: Random) -> Utterance:
    mends = [_trailing_comma, _bare_keys, _single_quotes]
    luck.shuffle(mends)
    changed = next(
        (text for mend in mends if (text := mend(utterance.written)) != utterance.written), utterance.written
    )
    return replace(utterance, written=changed)


def _trailing_comma(text: str) -> str:
    return re.sub(r'(?<=["\w])(\s*\})', r",\1", text, count=1)


def _bare_keys(text: str) -> str:
    return re.sub(r'([{,]\s*)"([A-Za-z_]\w*)"(\s*:)', r"\1\2\3", text)


def _single_quotes(text: str) -> str:
    return re.sub(r"([{,]\s*)\"([A-Za-z_]\w*)\"(\s*:)", r"\1'\2'\3", text)


def _malformed(utterance: Utterance, luck: Random) -> Utterance:
    """A value is left out: no reading of the text can bring it back."""
    values = list(
        re.finditer(r'(?<=[:=])[ \t]*("(?:[^"\\]|\\.)*"|-?\d[\d.]*|true|false)(?=\s*[,})])', utterance.written)
    )
    if not values:
        return _truncated(utterance, luck)
    value = values[-1]
    return replace(utterance, written=utterance.written[: value.start()] + utterance.written[value.end() :])


def _rehearsed(utterance: Utterance, luck: Random) -> Utterance:
    doubt = luck.choice(["Is that right? Yes.", "But first let me check the arguments. They are fine."])
    return replace(
        utterance, lead=f"<think>\nI could write this:\n{utterance.written}\n{doubt}\n</think>\n\n{utterance.lead}"
    )


def _quoted(utterance: Utterance, luck: Random) -> Utterance:
    quoted = "\n".join(f"> {line}" for line in utterance.written.strip("\n").split("\n"))
    lead = luck.choice(["A call looks like this:", "For example, one would write:"])
    return replace(utterance, lead=f"{utterance.lead}{lead}\n\n{quoted}\n\nNow for real.\n\n")


def _truncated(utterance: Utterance, luck: Random) -> Utterance:
    cut = max(1, int(len(utterance.written) * luck.uniform(0.45, 0.75)))
    return replace(utterance, written=utterance.written[:cut], tail="", finish="length")


def _leaked(utterance: Utterance, luck: Random) -> Utterance:
    return replace(utterance, tail=luck.choice(["<|im_end|>", "<|eot_id|>", "<|endoftext|>"]))


def _early_stop(utterance: Utterance, luck: Random) -> Utterance:
    names = " and ".join(call.name for call in utterance.calls)
    text = luck.choice(["I will now use {}.", "Let me call {} for you.", "The next step is {}."]).format(names)
    return Utterance(utterance.calls, text, utterance.lead)


ROWS: MappingProxyType[FaultKind, FaultRow] = MappingProxyType(
    {
        FaultKind.WRONG_NAME: FaultRow(change=_wrong_name, before=True, source="koda#656, livekit#6085"),
        FaultKind.WRONG_TYPES: FaultRow(change=_wrong_types, before=True, source="ollama#7860"),
        FaultKind.SLOPPY: FaultRow(change=_sloppy, source="llama.cpp, json_repair and AI-SDK test suites"),
        FaultKind.MALFORMED: FaultRow(change=_malformed, source="llama.cpp#27025"),
        FaultKind.PROSE: FaultRow(change=_prose, source="data-machine#2316"),
        FaultKind.REHEARSED: FaultRow(change=_rehearsed, source="Qwen3#1817"),
        FaultKind.QUOTED: FaultRow(change=_quoted, source="qwen3.8-Flash-DGX#29, continue#11070"),
        FaultKind.LEAKED: FaultRow(change=_leaked, source="llama.cpp control-token vectors"),
        FaultKind.TRUNCATED: FaultRow(change=_truncated, source="cline#13001, lobehub#13817"),
        FaultKind.EARLY_STOP: FaultRow(change=_early_stop, source="Qwen3#1817 (planned but not emitted)"),
    }
)
"""In the order in which several faults of one reply are applied."""

HARMLESS = frozenset(
    {FaultKind.PROSE, FaultKind.SLOPPY, FaultKind.WRONG_TYPES, FaultKind.REHEARSED, FaultKind.QUOTED, FaultKind.LEAKED}
)
"""Faults that a reader can see through: the call is still there.  The others need the model to be asked again."""


def stumble(
    utterance: Utterance, faults: frozenset[FaultKind], luck: Random, write: Callable[[Utterance], Utterance]
) -> Utterance:
    """Apply `faults` in table order, writing the calls down (with `write`) between the two kinds."""
    for fault, row in ROWS.items():
        if row.before and fault in faults:
            utterance = row.change(utterance, luck)
    utterance = write(utterance)
    for fault, row in ROWS.items():
        if not row.before and fault in faults:
            utterance = row.change(utterance, luck)
    return utterance


def draw(rates: Mapping[FaultKind, float], luck: Random) -> frozenset[FaultKind]:
    """The faults of one reply: each by its own rate."""
    return frozenset(fault for fault in FaultKind if luck.random() < rates.get(fault, 0.0))
