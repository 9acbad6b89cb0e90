"""Dragoman: tool calling for every language model.

This module is the public face: explicit names, nothing else.  A name is loaded when it is first used, so importing the
package costs next to nothing, and nothing here ever loads an HTTP or server library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .late import late_names, names_shown
from .version import __version__ as __version__

if TYPE_CHECKING:
    from .client import AsyncClient as AsyncClient
    from .client import Client as Client
    from .codecs import CODECS as codecs  # noqa: N811
    from .codecs import decode as decode
    from .codecs import decode_stream as decode_stream
    from .codecs import decode_tool_calls as decode_tool_calls
    from .codecs import encode_definitions as encode_definitions
    from .codecs import encode_result as encode_result
    from .dialects.engine.parse import parse as parse
    from .dialects.engine.parsed import Parsed as Parsed
    from .dialects.engine.parser import Parser as Parser
    from .dialects.learning import dialects as dialects
    from .dialects.writing.prompt import augment_system_prompt as augment_system_prompt
    from .dialects.writing.prompt import tool_prompt as tool_prompt
    from .dialects.writing.render import render as render
    from .errors import CodecError as CodecError
    from .errors import DragomanError as DragomanError
    from .errors import ErrorCode as ErrorCode
    from .errors import ExtractError as ExtractError
    from .errors import JournalError as JournalError
    from .errors import ProviderError as ProviderError
    from .errors import ToolError as ToolError
    from .errors import UsageError as UsageError
    from .events import ReasoningDelta as ReasoningDelta
    from .events import TextDelta as TextDelta
    from .events import assemble as assemble
    from .events import replay as replay
    from .fallback import Health as Health
    from .fallback import RouteFailed as RouteFailed
    from .fallback import Rules as Rules
    from .gateway.inprocess.transport import transport as transport
    from .io.cancel import Cancel as Cancel
    from .io.learning import learn as learn
    from .loop import Allowed as Allowed
    from .loop import Answered as Answered
    from .loop import ApprovalDecided as ApprovalDecided
    from .loop import ApprovalRequest as ApprovalRequest
    from .loop import Corrected as Corrected
    from .loop import Denied as Denied
    from .loop import Edited as Edited
    from .loop import Failed as Failed
    from .loop import FinalAction as FinalAction
    from .loop import FinalTool as FinalTool
    from .loop import Interrupted as Interrupted
    from .loop import Limit as Limit
    from .loop import Output as Output
    from .loop import Policy as Policy
    from .loop import Refused as Refused
    from .loop import Run as Run
    from .loop import RunEvent as RunEvent
    from .loop import RunUnfinished as RunUnfinished
    from .loop import ToolEnded as ToolEnded
    from .loop import ToolProgress as ToolProgress
    from .loop import ToolStarted as ToolStarted
    from .loop import TurnEnded as TurnEnded
    from .loop import TurnStarted as TurnStarted
    from .providers.route import Route as Route
    from .providers.spec import Provider as Provider
    from .tools import Approval as Approval
    from .tools import Context as Context
    from .tools import Runnable as Runnable
    from .tools import ToolSet as ToolSet
    from .tools import runnable as runnable
    from .tools import tool as tool
    from .turn.extract import extract as extract
    from .types import Edit as Edit
    from .types import Issue as Issue
    from .types import IssueKind as IssueKind
    from .types import Media as Media
    from .types import Message as Message
    from .types import Opaque as Opaque
    from .types import Reasoning as Reasoning
    from .types import Report as Report
    from .types import Request as Request
    from .types import Response as Response
    from .types import Sampling as Sampling
    from .types import Text as Text
    from .types import Tool as Tool
    from .types import ToolCall as ToolCall
    from .types import ToolChoice as ToolChoice
    from .types import ToolResult as ToolResult
    from .types import Verdict as Verdict

__all__ = [
    "Allowed", "Answered", "Approval", "ApprovalDecided", "ApprovalRequest", "AsyncClient", "Cancel", "Client",
    "CodecError", "Context", "Corrected", "Denied", "DragomanError", "Edit", "Edited", "ErrorCode", "ExtractError",
    "Failed", "FinalAction", "FinalTool", "Health", "Interrupted", "Issue", "IssueKind", "JournalError", "Limit",
    "Media", "Message", "Opaque", "Output", "Parsed", "Parser", "Policy", "Provider", "ProviderError", "Reasoning",
    "ReasoningDelta", "Refused", "Report", "Request", "Response", "Route", "RouteFailed", "Rules", "Run",
    "RunEvent", "RunUnfinished", "Runnable", "Sampling", "Text", "TextDelta", "Tool", "ToolCall", "ToolChoice",
    "ToolEnded", "ToolError", "ToolProgress", "ToolResult", "ToolSet", "ToolStarted", "TurnEnded", "TurnStarted",
    "UsageError", "Verdict", "__version__", "assemble", "augment_system_prompt", "codecs", "decode", "decode_stream",
    "decode_tool_calls", "dialects", "encode_definitions", "encode_result", "extract", "learn", "parse", "render",
    "replay", "runnable", "tool", "tool_prompt", "transport",
]  # fmt: skip

_FACE: dict[str, str] = {
    ".client": "AsyncClient Client",
    ".codecs": "decode decode_stream decode_tool_calls encode_definitions encode_result",
    ".dialects.engine.parsed": "Parsed",
    ".dialects.engine.parse": "parse",
    ".dialects.engine.parser": "Parser",
    ".dialects.writing.prompt": "augment_system_prompt tool_prompt",
    ".dialects.writing.render": "render",
    ".errors": "CodecError DragomanError ErrorCode ExtractError JournalError ProviderError ToolError UsageError",
    ".events": "ReasoningDelta TextDelta assemble replay",
    ".turn.extract": "extract",
    ".fallback": "Health RouteFailed Rules",
    ".gateway.inprocess.transport": "transport",
    ".io.cancel": "Cancel",
    ".io.learning": "learn",
    ".loop": "Allowed Answered ApprovalDecided ApprovalRequest Corrected Denied Edited Failed FinalAction"
    " FinalTool Interrupted Limit Output Policy Refused Run RunEvent RunUnfinished"
    " ToolEnded ToolProgress ToolStarted TurnEnded TurnStarted",
    ".providers.spec": "Provider",
    ".providers.route": "Route",
    ".tools": "Approval Context Runnable ToolSet runnable tool",
    ".types": "Edit Issue IssueKind Media Message Opaque Reasoning Report Request Response Sampling Text Tool"
    " ToolCall ToolChoice ToolResult Verdict",
}
_TABLES = ("codecs", "dialects")
"""Packages that are mappings themselves (`tabular.py`)."""
_find = late_names(__name__, _FACE)


def __getattr__(name: str) -> Any:
    return import_module(f".{name}", __name__) if name in _TABLES else _find(name)


def __dir__() -> list[str]:
    return names_shown((*_TABLES, "__version__"), _FACE)
