"""Files that hold no rows in a form that is read, known by their first bytes, and what to do about each.

Knows first bytes; nothing of rows.  Contract: a text is never taken for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping

TAR_AT, TAR = 257, b"ustar"
FOREIGN: Mapping[bytes, str] = {
    b"PK\x03\x04": "it is a ZIP archive: unpack it, and give the files",
    b"PK\x05\x06": "it is a ZIP archive: unpack it, and give the files",
    b"7z\xbc\xaf\x27\x1c": "it is a 7z archive: unpack it, and give the files",
    b"Rar!": "it is a RAR archive: unpack it, and give the files",
    b"ARROW1": "it is an Arrow file: write it as Parquet or JSON lines (Dataset.to_parquet)",
    b"\xff\xff\xff\xff": "it is an Arrow stream: write it as Parquet or JSON lines (Dataset.to_parquet)",
    b"PARE": "it is encrypted Parquet: write it without encryption",
    b"ORC": "it is an ORC file: write it as Parquet or JSON lines",
    b"Obj\x01": "it is an Avro file: write it as Parquet or JSON lines",
    b"\x89HDF": "it is an HDF5 file: write it as Parquet or JSON lines",
    b"\x80\x04\x95": "it is a pickle, which is not read, for it may run anything: write its rows as JSON lines",
    b"%PDF": "it is a PDF",
}
"""First bytes → what the file is, and what to do."""


def foreign(head: bytes) -> str:
    """What a file that begins so is, and what to do; "" for one whose rows can be looked for."""
    if head[TAR_AT : TAR_AT + len(TAR)] == TAR:
        return "it is a tar archive: unpack it, and give the files"
    return next((told for magic, told in FOREIGN.items() if head.startswith(magic)), "")
