"""`NAME=value` lines, changed in place.

Contract: lines of other names and comments stay; of a name that is given twice the last counts, and is the one changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?P<value>.*?)[ \t]*$")
_PLAIN = re.compile(r"[\w@%+=:,./-]*\Z")


def read(text: str) -> dict[str, str]:
    """The variables."""
    found = (_LINE.match(line) for line in text.splitlines())
    return {line["name"]: _value(line["value"]) for line in found if line}


def edit(text: str, wanted: Mapping[str, str]) -> str:
    """`text` with every variable as in `wanted`."""
    lines = text.splitlines()
    for name, value in wanted.items():
        places = [n for n, line in enumerate(lines) if (found := _LINE.match(line)) and found["name"] == name]
        written = f"{name}={_quoted(value)}"
        if not places:
            lines.append(written)
        elif read(lines[places[-1]])[name] != value:
            lines[places[-1]] = written
    return "\n".join(lines) + "\n"


def _value(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        inner = text[1:-1]
        return re.sub(r"\\([\\\"$`])", r"\1", inner) if text[0] == '"' else inner
    return re.sub(r"[ \t]+#.*\Z", "", text)


def _quoted(value: str) -> str:
    return value if _PLAIN.match(value) else '"' + re.sub(r"([\\\"$`])", r"\\\1", value) + '"'
