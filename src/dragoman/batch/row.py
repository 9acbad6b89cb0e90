"""A row of a corpus, whatever its shape: its conversation and tools in our own types, and the bytes it came from.

Knows values; nothing of formats, files or verdicts.
Contract: nothing of a row is lost: what is not modelled stands in `extra`, and `original` is the row byte for byte;
the same bytes have the same id everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from ..records import dataclass
from ..types import NOTHING, Json, JsonObject, Message, Tool


def row_id(original: bytes) -> str:
    """The id of a row: the SHA-256 of its bytes, in hexadecimal."""
    return sha256(original).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRow:
    """One row.

    `id`        SHA-256 of `original`, hexadecimal
    `source`    the file or table it stands in
    `offset`    its first byte in `source` once unpacked; its number, from 0, in a table
    `format`    the name of its shape (`dragoman.batch.formats.FORMATS`)
    `messages`  the conversation; in a row of preferences, what both answers share
    `tools`     the declared tools; None where the row says nothing of tools
    `branches`  answers to `messages` that exclude each other, by name (`chosen`, `rejected`)
    `gold`      the truth the row carries, as its format writes it (BFCL's possible answers); None for none
    `labels`    what is said of the row: the kind of answer wanted, its reward, its split, how the model stopped
    `metadata`  where it comes from: its own id, model, task, trial
    `extra`     the fields of the row that are none of these
    """

    id: str
    source: str = ""
    offset: int = 0
    format: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] | None = None
    branches: Mapping[str, tuple[Message, ...]] = NOTHING
    gold: Json = None
    labels: JsonObject = NOTHING
    metadata: JsonObject = NOTHING
    extra: JsonObject = NOTHING
    original: bytes = b""
