"""Conversations on disk: one file each, a message a line, readable by their owner only.

Knows files and messages; nothing of models.  Contract: what was said is on disk when the next line is asked for; a file
is replaced as a whole, so that none is ever half written.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..loop.journal import decode, encode
from ..types import Message

SUFFIX = ".jsonl"


def folder() -> Path:
    """Where conversations are kept (the XDG base directory specification, state)."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "dragoman" / "chats"


def new_path() -> Path:
    """A file for a new conversation."""
    return folder() / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}{SUFFIX}"


def latest() -> Path:
    """The file of the last conversation.  Raises UsageError when there is none."""
    files = sorted(folder().glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
    if not files:
        raise UsageError("there is no conversation to go on with; begin one without --continue")
    return files[-1]


class Chat:
    """A conversation and its file."""

    messages: tuple[Message, ...]
    path: Path

    def __init__(self, path: Path, messages: Sequence[Message] = ()) -> None:
        self.path, self.messages = path, tuple(messages)

    @classmethod
    def at(cls, path: Path) -> Chat:
        """The conversation kept in `path`; a new one where there is none.  Raises UsageError for another file."""
        if not path.exists():
            return cls(path)
        try:
            messages = [decode(line) for line in path.read_text(encoding="utf-8").splitlines()]
        except ValueError as error:
            raise UsageError(f"{path} holds no conversation: {error}; give another file") from error
        if not all(isinstance(message, Message) for message in messages):
            raise UsageError(f"{path} holds no conversation; give another file")
        return cls(path, messages)

    def replace(self, messages: Sequence[Message]) -> None:
        """The conversation is now this; a system prompt is not part of it."""
        self.messages = tuple(message for message in messages if message.role != "system")
        self._write()

    def undo(self) -> bool:
        """Forget the user's last message and all that came after it."""
        places = [at for at, message in enumerate(self.messages) if message.role == "user" and not message.results]
        if not places:
            return False
        self.messages = self.messages[: places[-1]]
        self._write()
        return True

    def _write(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(f"{encode(message)}\n" for message in self.messages)
        beside.replace(self.path)
