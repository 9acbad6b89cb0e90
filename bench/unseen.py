"""Texts that do not repeat: answers, code and manuals made of what comes with every Python.

Knows nothing of parsers.  `answer`, `code` and `manual` give so many characters; they begin anew where all is used up,
behind more than any of the measured sizes.
"""

from __future__ import annotations

import inspect
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from pieces import repeated

MODULES = (
    "argparse", "ast", "base64", "bisect", "calendar", "cmd", "collections", "configparser", "contextlib", "copy",
    "csv", "dataclasses", "datetime", "decimal", "difflib", "dis", "doctest", "email.message", "enum", "fileinput",
    "fractions", "ftplib", "functools", "gettext", "gzip", "heapq", "hmac", "http.client", "imaplib", "inspect",
    "ipaddress", "json", "locale", "logging", "mailbox", "mimetypes", "numbers", "os", "pathlib", "pdb", "pickle",
    "pkgutil", "platform", "plistlib", "pprint", "queue", "random", "sched", "selectors", "shelve", "shlex",
    "shutil", "smtplib", "socket", "ssl", "statistics", "string", "subprocess", "tarfile", "tempfile", "textwrap",
    "threading", "timeit", "tokenize", "trace", "traceback", "types", "typing", "unittest.case", "unittest.mock",
    "urllib.parse", "urllib.request", "uuid", "warnings", "weakref", "xml.dom.minidom", "zipfile",
)  # fmt: skip
LONGEST = 1500
"""Characters of a function that is still shown."""


def answer(size: int) -> str:
    """Headings, paragraphs, lists, tables and code in fences."""
    return repeated(_answer(), size)


def code(size: int) -> str:
    """Modules one behind the other, in no fence."""
    return repeated(_code(), size)


def manual(size: int) -> str:
    """Plain text with indented examples."""
    topics = import_module("pydoc_data.topics").topics
    return repeated("\n\n".join(text for _, text in sorted(topics.items())), size)


def prose(size: int) -> str:
    """The words of it, without the signs that anything but prose has."""
    return repeated(re.sub(r"[^A-Za-z0-9,.;:()' \n-]", "", manual(2 * size)), size)


@cache
def _code() -> str:
    found = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return "\n\n".join(path.read_text(encoding="utf-8", errors="replace") for path in found[:60])


@cache
def _answer() -> str:
    return "".join(part for name in MODULES for part in _chapter(name))


def _chapter(name: str) -> Iterator[str]:
    """What a module holds, each of three in another way."""
    module = import_module(name)
    yield f"## The module `{name}`\n\n{inspect.cleandoc(module.__doc__ or '')}\n\n"
    own = {key: value for key, value in sorted(vars(module).items()) if getattr(value, "__module__", "") == name}
    told = {key: inspect.getdoc(value) for key, value in own.items() if callable(value) and key[0] != "_"}
    first = {key: doc.partition("\n\n")[0].replace("\n", " ") for key, doc in told.items() if doc}
    for number, (key, line) in enumerate(first.items()):
        if number % 3 == 0:
            yield f"### `{key}`\n\n{told[key]}\n\n{_fenced(own[key])}"
        elif number % 3 == 1:
            yield f"- **{key}**: {line}\n"
        else:
            yield f"\n1. Call `{name}.{key}`; {line}\n\n"
    yield "\n| name | what |\n| --- | --- |\n"
    yield from (f"| `{key}` | {line[:60]} |\n" for key, line in list(first.items())[:8])
    yield "\n"


def _fenced(thing: object) -> str:
    try:
        source = inspect.getsource(thing)  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""
    return f"```python\n{source}```\n\n" if len(source) < LONGEST else ""
