"""A tokenizer as model servers want one: every mark is one token, all else goes by words.

Contract: `decode(encode(text)) == text`; nothing is downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

WORDS = r"\w+|\s|[^\w\s]"


class Tokenizer:
    """Knows `marks`; learns every other token as it comes."""

    is_fast = True
    eos_token, bos_token, pad_token, unk_token = "<eos>", "<bos>", "<pad>", "<unk>"
    chat_template = None
    init_kwargs: dict[str, Any] = {}  # noqa: RUF012
    name_or_path = "stand-in"

    def __init__(self, marks: Iterable[str]) -> None:
        self._marks = sorted({*marks, self.eos_token, self.bos_token}, key=lambda mark: (-len(mark), mark))
        self._pattern = re.compile("|".join([*map(re.escape, self._marks), WORDS]))
        self._ids = {mark: n for n, mark in enumerate(self._marks)}
        self._tokens = list(self._marks)

    def _id(self, token: str) -> int:
        if token not in self._ids:
            self._ids[token] = len(self._tokens)
            self._tokens.append(token)
        return self._ids[token]

    def tokenize(self, text: str, **_: Any) -> list[str]:
        """The tokens of `text`, as text."""
        return self._pattern.findall(text)

    def encode(self, text: str, *_: Any, **__: Any) -> list[int]:
        """The ids of its tokens."""
        return [self._id(token) for token in self.tokenize(text)]

    def decode(self, ids: int | Sequence[int], skip_special_tokens: bool = False, **_: Any) -> str:
        """The text of tokens."""
        ids = [ids] if isinstance(ids, int) else list(ids)
        kept = [i for i in ids if not (skip_special_tokens and i < len(self._marks))]
        return "".join(self._tokens[i] for i in kept)

    def get_vocab(self) -> dict[str, int]:
        """Token → id."""
        return dict(self._ids)

    @property
    def vocab(self) -> dict[str, int]:
        """Token → id."""
        return self.get_vocab()

    def __len__(self) -> int:
        return len(self._tokens)

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        return len(self._tokens)

    @property
    def all_special_tokens(self) -> list[str]:
        """The marks."""
        return list(self._marks)

    @property
    def all_special_ids(self) -> list[int]:
        """Their ids."""
        return list(range(len(self._marks)))

    additional_special_tokens = all_special_tokens
    eos_token_id = property(lambda self: self._ids[self.eos_token])
    bos_token_id = property(lambda self: self._ids[self.bos_token])

    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> Any:
        """Ids; None for what is no token."""
        return self._ids.get(tokens) if isinstance(tokens, str) else [self._ids.get(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: int | Sequence[int], **_: Any) -> Any:
        """Tokens."""
        return self._tokens[ids] if isinstance(ids, int) else [self._tokens[i] for i in ids]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """Their text."""
        return "".join(tokens)

    def get_added_vocab(self) -> dict[str, int]:
        """The marks and their ids."""
        return {mark: self._ids[mark] for mark in self._marks}
