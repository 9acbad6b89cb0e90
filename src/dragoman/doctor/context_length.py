"""How long a prompt is really read: servers cut without a word, and go on as if nothing had happened.

Two witnesses: what the server counts, measured against a short prompt, and whether what stands at the beginning is
still known at the end.  A machine without I/O; knows one patient; nothing of tools.
Contract: a cut that the count shows is told from a model that only does not find what it read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..effects import Machine
from ..errors import ErrorKind, ProviderError
from .findings import Finding, Grade
from .remedies import Ill
from .target import Patient

PROBE = "context"
WORD = "marigold-{size}"
REMEMBER = "The secret word is {word}. Below stand some lines of numbers; the question comes after them."
ASK_WORD = "What is the secret word that stands at the very beginning? Answer with the word alone."
SHORT = 500
"""Tokens, about, of the prompt that shows how the server counts, and whether the model finds the word at all."""
SIZES = (2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
"""Tokens of prompt, about; a size is tried only if the one before was kept."""
TOKENS_PER_LINE = 10
WHOLE = 0.8
"""A prompt of which at least this share was counted was read whole."""


@dataclass(frozen=True, slots=True)
class _Seen:
    counted: int
    found: bool


def fathom(patient: Patient, sizes: Sequence[int]) -> Machine[Finding]:
    """Longer and longer prompts, until one is not read whole."""
    short = yield from _ask(patient, SHORT)
    share = short.counted / SHORT
    for size in sizes:
        try:
            seen = yield from _ask(patient, size)
        except ProviderError as error:
            if error.kind is not ErrorKind.CONTEXT:
                raise
            told = " ".join(error.message.rpartition("; ")[0].split()) or error.message
            return _ended(patient, f"longer prompts are refused: {told}", honest=True)
        if seen.found or (seen.counted >= WHOLE * share * size > 0 and not short.found):
            patient.context = seen.counted or size
            continue
        if not seen.counted and not short.found:
            said = "it does not count its prompts, and the model does not find a word in them: nothing can be told"
            return Finding(probe=PROBE, grade=Grade.UNKNOWN, said=said)
        return (yield from _cut(patient, seen, size, share))
    said = f"a prompt of {patient.context} tokens was read whole"
    return _ended(patient, said if short.found else f"{said}, by its count; the model found no word in it", honest=True)


def _cut(patient: Patient, seen: _Seen, size: int, share: float) -> Machine[Finding]:
    """What the count says of a prompt whose beginning was forgotten; where it says nothing, a longer one is counted."""
    about = round(share * size) or size
    cut = 0 < seen.counted < WHOLE * share * size
    if seen.counted and not cut:
        longer = yield from _ask(patient, 2 * size)
        cut = longer.counted < seen.counted / WHOLE
        seen, about = (longer, 2 * about) if cut else (seen, about)
    if cut:
        patient.context = seen.counted
    how = f"{seen.counted} were read" if cut else "all were counted" if seen.counted else "none are counted"
    return _ended(patient, f"of {about} tokens {how}, and the beginning was forgotten", honest=False)


def _ended(patient: Patient, said: str, *, honest: bool) -> Finding:
    facts = {"tokens": patient.context}
    if honest and patient.context:
        told = f"{said}; at least {patient.context} tokens are in use"
        return Finding(probe=PROBE, grade=Grade.GOOD, said=told, facts=facts)
    kept = f"; {patient.context} tokens are in use" if patient.context else ""
    grade = Grade.POOR if patient.context else Grade.BAD
    return Finding(probe=PROBE, grade=grade, said=f"{said}{kept}", remedy=patient.help(Ill.CONTEXT), facts=facts)


def _ask(patient: Patient, size: int) -> Machine[_Seen]:
    word = WORD.format(size=size)
    response = yield from patient.ask(_long(word, size))
    return _Seen(response.usage.input if response.usage else 0, word in response.text)


def _long(word: str, size: int) -> str:
    """A prompt of about `size` tokens, the word first, the question last."""
    lines = (f"Line {n}: {n * 7919 % 9973:04} {n * 104729 % 9967:04}." for n in range(1, size // TOKENS_PER_LINE))
    return "\n".join((REMEMBER.format(word=word), *lines, ASK_WORD))
