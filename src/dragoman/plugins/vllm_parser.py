"""Dragoman as a tool parser of vLLM: `--tool-parser-plugin dragoman.plugins.vllm_parser --tool-call-parser dragoman`.

Knows vLLM's `ToolParser` (0.33) and `ServedAnswer`; imported by vLLM alone, where nothing is installed beside it but
Dragoman.  Contract: `auto` is read here; `required` and a named tool stay vLLM's own, which constrains decoding; with
`none` text is text.  vLLM may also load this file by its path: so its name is not `vllm`, and its imports are absolute.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager
from vllm.tool_parsers.utils import get_function_tools

from dragoman.plugins.request_messages import shown_texts, taken_ids
from dragoman.plugins.served_answer import Called, More, Piece, Said, ServedAnswer, Thought
from dragoman.plugins.settings import settings

NAME = "dragoman"


class DragomanToolParser(ToolParser):
    """Reads the calls of one choice, in whatever dialect they are written.

    An answer's end is told to parsers alone that are `engine_based_streaming` then, by `finish_streaming`.  One that is
    so from the start is given no text but the newest, and vLLM's own reading of `required` needs all of it: this one
    becomes so when it reads.
    """

    supports_required_and_named = True
    engine_based_streaming = False
    skip_reasoning_parsing = False
    """vLLM sets it where no reasoning parser was asked for: then reasoning is text."""

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None) -> None:
        super().__init__(tokenizer, tools)
        self._settings = settings(os.environ)
        self._answer: ServedAnswer | None = None

    def adjust_request(self, request: Any) -> Any:
        """The request whose marks reach the parser as the model wrote them."""
        request = super().adjust_request(request)
        if request.tools and request.tool_choice != "none":
            request.skip_special_tokens = False
            request.spaces_between_special_tokens = False
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        """The text and the calls of a whole answer."""
        if request.tool_choice == "none":
            return ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)
        text, calls = self._begin(request).whole(model_output)
        # Where no tool was called, vLLM beside a reasoning parser of the older kind goes back to the raw output: a
        # text that is not all of it must say that something was found, or whole and streamed would differ.
        return ExtractedToolCallInformation(
            tools_called=bool(calls) or text != model_output,
            tool_calls=[ToolCall(id=c.id, function=FunctionCall(name=c.name, arguments=c.arguments)) for c in calls],
            content=text or None,
        )

    def extract_tool_calls_streaming(  # noqa: PLR0917 - as vLLM has it
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        """What more text settles; None for nothing yet."""
        if request.tool_choice == "none":
            return DeltaMessage(content=delta_text) if delta_text else None
        if self._answer is None:
            self.engine_based_streaming = True
            self._answer = self._begin(request, apart=not self.skip_reasoning_parsing)
        return _message(self._answer.feed(delta_text))

    def finish_streaming(self) -> DeltaMessage | None:
        """The rest, now that the answer has ended."""
        answer, self._answer = self._answer, None
        return None if answer is None else _message(answer.close())

    def _begin(self, request: Any, *, apart: bool = False) -> ServedAnswer:
        """Ready for the answer to `request`; without tools in it, any name counts."""
        conversation = getattr(request, "messages", None) or getattr(request, "input", None)
        tools = get_function_tools(request.tools or ()) or self.tools
        return ServedAnswer(
            [_definition(tool) for tool in tools] or None, self._settings, _new_id,
            taken=taken_ids(conversation), shown=shown_texts(conversation), apart=apart,
        )  # fmt: skip


def _definition(tool: Any) -> dict[str, Any]:
    """A function of the chat API or of the Responses API."""
    function = getattr(tool, "function", tool)
    return {"name": function.name, "parameters": function.parameters or {}}


def _new_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


def _message(pieces: Sequence[Piece]) -> DeltaMessage | None:
    said = {
        "content": "".join(piece.text for piece in pieces if isinstance(piece, Said)),
        "reasoning": "".join(piece.text for piece in pieces if isinstance(piece, Thought)),
        "tool_calls": [_delta(piece) for piece in pieces if isinstance(piece, Called | More)],
    }
    set_ = {key: value for key, value in said.items() if value}
    return DeltaMessage(**set_) if set_ else None


def _delta(piece: Called | More) -> DeltaToolCall:
    """Fields that say nothing are left unset: vLLM sends those that are set."""
    if isinstance(piece, More):
        return DeltaToolCall(index=piece.index, function=DeltaFunctionCall(arguments=piece.arguments))
    function = DeltaFunctionCall(name=piece.name, arguments=piece.arguments)
    return DeltaToolCall(index=piece.index, id=piece.id, type="function", function=function)


if not hasattr(ToolParser, "engine_based_streaming"):
    raise ImportError(
        "this vLLM tells a tool parser of no end of an answer (ToolParser.engine_based_streaming is missing), so calls "
        "would be lost in streams; update vLLM, or put the gateway in front of it: dragoman serve --help"
    )
ToolParserManager.register_module(NAME, module=DragomanToolParser)
