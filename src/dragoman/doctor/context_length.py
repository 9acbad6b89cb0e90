"""The length of prompt that is really read: servers cut without a word, and go on as if nothing had happened.

Two witnesses: the server's count, measured against a short prompt, and a word at the beginning that must still be
known at the end.  A machine without I/O; knows one deployment; nothing of tools.
Contract: a cut that the count shows is told from a model that only does not find what it read; a number that does not
grow with the prompt, or is far too small for it, is no count, and nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..effects import Machine
from ..errors import ErrorKind, ProviderError
from .findings import Grade, ProbeResult
from .remedies import Symptom
from .target import ProbeTarget

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


LEAST = SHORT // 16
"""No tokenizer makes fewer tokens of the short prompt."""


@dataclass(frozen=True, slots=True)
class _Seen:
    counted: int
    found: bool
    unlike: int = 0  # what was given as a count and is none

    def beside(self, short: _Seen) -> _Seen:
        """What was seen of a longer prompt, without a count that is none."""
        counts = self.counted > short.counted >= LEAST or not self.counted
        return self if counts else _Seen(0, self.found, self.counted)


def measure_context(target: ProbeTarget, sizes: Sequence[int]) -> Machine[ProbeResult]:
    """Longer and longer prompts, until one is not read whole."""
    short = yield from _ask(target, SHORT)
    share = short.counted / SHORT
    for size in sizes:
        try:
            seen = (yield from _ask(target, size)).beside(short)
        except ProviderError as error:
            if error.kind is not ErrorKind.CONTEXT:
                raise
            reason = " ".join(error.message.rpartition("; ")[0].split()) or error.message
            return _ended(target, f"longer prompts are refused: {reason}", honest=True)
        if seen.found or (seen.counted >= WHOLE * share * size > 0 and not short.found):
            target.context = seen.counted or size
            continue
        if not seen.counted and not short.found:
            odd = f"it counts every prompt as {seen.unlike}" if seen.unlike else "it does not count its prompts"
            message = f"{odd}, and the model does not find a word in them: nothing can be told"
            return ProbeResult(probe=PROBE, grade=Grade.UNKNOWN, message=message)
        return (yield from _cut(target, seen, size, share))
    message = f"a prompt of {target.context} tokens was read whole"
    return _ended(
        target, message if short.found else f"{message}, by its count; the model found no word in it", honest=True
    )


def _cut(target: ProbeTarget, seen: _Seen, size: int, share: float) -> Machine[ProbeResult]:
    """A prompt whose beginning was forgotten, by its count; where that says nothing, a longer one is counted."""
    about = size if seen.unlike else round(share * size) or size
    cut = 0 < seen.counted < WHOLE * share * size
    if seen.counted and not cut:
        longer = yield from _ask(target, 2 * size)
        cut = longer.counted < seen.counted / WHOLE
        seen, about = (longer, 2 * about) if cut else (seen, about)
    if cut:
        target.context = seen.counted
    none = f"{seen.unlike} were counted as of any prompt" if seen.unlike else "none are counted"
    how = f"{seen.counted} were read" if cut else "all were counted" if seen.counted else none
    return _ended(target, f"of {about} tokens {how}, and the beginning was forgotten", honest=False)


def _ended(target: ProbeTarget, message: str, *, honest: bool) -> ProbeResult:
    facts = {"tokens": target.context}
    if honest and target.context:
        in_use = f"{message}; at least {target.context} tokens are in use"
        return ProbeResult(probe=PROBE, grade=Grade.GOOD, message=in_use, facts=facts)
    rest = f"; {target.context} tokens are in use" if target.context else ""
    grade = Grade.POOR if target.context else Grade.BAD
    return ProbeResult(
        probe=PROBE, grade=grade, message=f"{message}{rest}", remedy=target.help(Symptom.CONTEXT), facts=facts
    )


def _ask(target: ProbeTarget, size: int) -> Machine[_Seen]:
    word = WORD.format(size=size)
    response = yield from target.ask(_long(word, size))
    return _Seen(response.usage.input if response.usage else 0, word in response.text)


def _long(word: str, size: int) -> str:
    """A prompt of about `size` tokens, the word first, the question last."""
    lines = (f"Line {n}: {n * 7919 % 9973:04} {n * 104729 % 9967:04}." for n in range(1, size // TOKENS_PER_LINE))
    return "\n".join((REMEMBER.format(word=word), *lines, ASK_WORD))
