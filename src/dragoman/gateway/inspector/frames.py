"""The frames of a stream that are alike, written once: what stands between what two of them say is most of a stream.

Knows bytes; nothing of APIs, exchanges or stores.  Contract: `unfolded` gives back what `folded` took, byte for byte;
what a frame says stays together and readable; what would not become much smaller stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

ALIKE, OTHER = b"\x7f", b"\x1e"
"""Stand before what a frame says that is as the others, and before any other frame: signs that no stream has."""
FEWEST = 8
"""Frames that are alike, of a stream that is worth it."""
ENDS = (b"\n\n", b"\r\n\r\n", b"\n")
"""How frames end: events of SSE, lines of JSON; the first that is there."""
QUOTE = b'"'


def folded(data: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """What the frames of `data` say, and how they end, begin, and go on behind it; () where it stays as it is."""
    end = next((each for each in ENDS if data.find(each) >= 0), b"")
    begin, behind = _alike(data, end) if end else (b"", b"")
    start, size = len(begin), len(begin) + len(behind)
    if size <= len(ALIKE) or data.find(ALIKE) >= 0 or data.find(OTHER) >= 0:
        return data, ()
    text = b"".join([
        ALIKE + each[start : len(each) - size + start]
        if each.startswith(begin) and each.endswith(behind) and len(each) >= size
        else OTHER + each
        for each in data.split(end)
    ])  # fmt: skip
    if text.count(ALIKE) < FEWEST or 3 * len(text) > 2 * len(data):
        return data, ()
    return text, (end, begin, behind)


def unfolded(text: str, written: Sequence[str]) -> str:
    """What was folded, as text."""
    if not written:
        return text
    end, begin, behind = written
    first, *alike = text.split(ALIKE.decode())
    frames = first.split(OTHER.decode())[1:]
    for each in alike:
        said, *others = each.split(OTHER.decode())
        frames += (f"{begin}{said}{behind}", *others)
    return end.join(frames)


def _alike(data: bytes, end: bytes) -> tuple[bytes, bytes]:
    """How frames in the middle begin and end, each up to a quote: what they say stands between."""
    at = data.find(end, len(data) // 2)
    one, two, three = (data[at + len(end) : (at := data.find(end, at + len(end)))] for _ in range(3))
    if at < 0:
        return b"", b""
    begin, behind = two[: same_start(two, three)], two[len(two) - same_end(one, two) :]
    return begin[: begin.rfind(QUOTE) + 1], behind[max(behind.find(QUOTE), 0) :]


def same_start(one: bytes, two: bytes) -> int:
    """How many first bytes both have."""
    size = min(len(one), len(two))
    differ = int.from_bytes(one[:size]) ^ int.from_bytes(two[:size])
    return size - (differ.bit_length() + 7) // 8


def same_end(one: bytes, two: bytes) -> int:
    """How many last bytes both have."""
    size = min(len(one), len(two))
    differ = int.from_bytes(one[len(one) - size :]) ^ int.from_bytes(two[len(two) - size :])
    return ((differ & -differ).bit_length() - 1) // 8 if differ else size
