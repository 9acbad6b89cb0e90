"""The frames of a stream that are alike, written once: what stands between what two of them say is most of a stream.

Knows bytes; nothing of APIs, exchanges or stores.  Contract: `unfolded` gives back what `folded` took, byte for byte;
what a frame says stays together and readable; what would not become much smaller stays as it is.
"""

from __future__ import annotations

MARK = "\ue000".encode()
"""Stands where a joint was: a character that no text has (one that has it is not folded)."""
FEWEST = 8
"""Joints of a stream that is worth it."""
ENDS = (b"\n\n", b"\r\n\r\n", b"\n")
"""How frames end: events of SSE, lines of JSON; the first that is there."""
QUOTE = b'"'


def folded(data: bytes) -> tuple[bytes, bytes]:
    """`data` with a mark for each joint of two frames, and the joint; b"" where it stays as it is."""
    joint = _joint(data)
    count = data.count(joint) if joint else 0
    if count < FEWEST or 2 * count * (len(joint) - len(MARK)) < len(data) or data.find(MARK) >= 0:
        return data, b""
    return data.replace(joint, MARK), joint


def unfolded(text: str, joint: str) -> str:
    """What was folded, as text."""
    return text.replace(MARK.decode(), joint) if joint else text


def _joint(data: bytes) -> bytes:
    """How frames in the middle end and the next ones begin, each up to a quote: what they say stands behind that."""
    end = next((each for each in ENDS if data.find(each) >= 0), b"")
    at = data.find(end, len(data) // 2) if end else -1
    one, two, three = (data[at + len(end) : (at := data.find(end, at + len(end)))] for _ in range(3))
    if at < 0:
        return b""
    size = same_end(one, two)
    behind, before = two[len(two) - size :], two[: same_start(two, three)]
    return behind[max(behind.find(QUOTE), 0) :] + end + before[: before.rfind(QUOTE) + 1]


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
