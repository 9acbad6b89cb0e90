"""Dragoman as a format detector of SGLang: `--tool-call-parser dragoman`, with only Dragoman installed beside it.

Knows SGLang's `BaseFormatDetector` (0.5.23) and `ServedAnswer`; imported by SGLang alone, through its entry points
(`sglang.srt.plugins`).  Contract: `auto` is read here; `required` and a named tool stay SGLang's own, which constrains
decoding to JSON and reads that; ids are SGLang's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from sglang.srt.function_call import parser_names
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser

from dragoman.plugins.served_answer import Called, More, Piece, Said, ServedAnswer
from dragoman.plugins.settings import settings

NAME = "dragoman"
LIKE_A_CALL = re.compile(r"[{<@]|\w\(|```|~~~")


class DragomanDetector(BaseFormatDetector):
    """Reads the calls of one choice, in whatever dialect they are written."""

    def __init__(self) -> None:
        super().__init__()
        self._settings = settings(os.environ)
        self._answer: ServedAnswer | None = None

    def has_tool_call(self, text: str) -> bool:
        """May there be anything in `text` but visible text?

        Where this says no, SGLang looks no further; and it does not say which tools there are.  A yes to a text that
        holds no call costs a line in the log.
        """
        if LIKE_A_CALL.search(text):
            return True
        said, calls = self._begin(None).whole(text)
        return bool(calls) or said != text

    def detect_and_parse(self, text: str, tools: list[Any]) -> StreamingParseResult:
        """The text and the calls of a whole answer; `tool_index` is the place of the tool in the request."""
        said, calls = self._begin(tools).whole(text)
        places = self._get_tool_indices(tools)
        return StreamingParseResult(
            normal_text=said,
            calls=[ToolCallItem(tool_index=places.get(c.name, -1), name=c.name, parameters=c.arguments) for c in calls],
        )

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> StreamingParseResult:
        """What more text settles; `tool_index` counts the calls."""
        if self._answer is None:
            self._answer = self._begin(tools)
        return _result(self._answer.feed(new_text))

    def finish(self, tools: list[Any]) -> StreamingParseResult:
        """The rest, now that the answer has ended."""
        answer, self._answer = self._answer, None
        return StreamingParseResult() if answer is None else _result(answer.close())

    def supports_structural_tag(self) -> bool:
        """No: a forced call is constrained as JSON, which every model can write."""
        return False

    def structure_info(self) -> Callable[[str], Any]:
        """Never asked for, since no structural tag is supported."""
        raise NotImplementedError("the dragoman detector constrains no decoding; SGLang forces calls as JSON")

    def _begin(self, tools: Iterable[Any] | None) -> ServedAnswer:
        numbers = count()
        known = None if tools is None else [_definition(tool) for tool in tools]
        return ServedAnswer(known, self._settings, lambda: f"call_{next(numbers)}")


def _definition(tool: Any) -> dict[str, Any]:
    return {"name": tool.function.name, "parameters": tool.function.parameters or {}}


def _result(pieces: Iterable[Piece]) -> StreamingParseResult:
    return StreamingParseResult(
        normal_text="".join(piece.text for piece in pieces if isinstance(piece, Said)),
        calls=[_item(piece) for piece in pieces if isinstance(piece, Called | More)],
    )


def _item(piece: Called | More) -> ToolCallItem:
    if isinstance(piece, More):
        return ToolCallItem(tool_index=piece.index, parameters=piece.arguments)
    return ToolCallItem(tool_index=piece.index, name=piece.name, parameters=piece.arguments)


def register() -> None:
    """Make `--tool-call-parser dragoman` known.  Raises ImportError for an SGLang that would lose calls in streams."""
    if not hasattr(BaseFormatDetector, "finish"):
        raise ImportError(
            "this SGLang tells a detector of no end of an answer (BaseFormatDetector.finish is missing), so calls "
            "would be lost in streams; update SGLang, or put the gateway in front of it: dragoman serve --help"
        )
    FunctionCallParser.ToolCallParserEnum[NAME] = DragomanDetector
    if NAME not in parser_names.TOOL_CALL_PARSER_NAMES:
        parser_names.TOOL_CALL_PARSER_NAMES.append(NAME)
