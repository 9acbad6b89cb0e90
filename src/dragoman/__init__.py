"""Dragoman: tool calling for every language model.

This module is the public face: explicit names, nothing else.  Importing it loads no HTTP or server library.
"""

from __future__ import annotations

from .codecs import CODECS as codecs  # noqa: F401, N811
from .codecs import decode_tool_calls as decode_tool_calls
from .codecs import encode_definitions as encode_definitions
from .codecs import encode_result as encode_result
from .dialects.learn import dialects as dialects
from .dialects.parser import Parsed as Parsed
from .dialects.parser import Parser as Parser
from .dialects.parser import parse as parse
from .dialects.prompt import augment_system_prompt as augment_system_prompt
from .dialects.prompt import tool_prompt as tool_prompt
from .dialects.render import render as render
from .errors import CodecError as CodecError
from .errors import DragomanError as DragomanError
from .errors import ErrorCode as ErrorCode
from .errors import ExtractError as ExtractError
from .errors import ProviderError as ProviderError
from .errors import ToolError as ToolError
from .errors import UsageError as UsageError
from .events import assemble as assemble
from .events import replay as replay
from .extract import extract as extract
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
from .types import Text as Text
from .types import Tool as Tool
from .types import ToolCall as ToolCall
from .types import ToolChoice as ToolChoice
from .types import ToolResult as ToolResult
from .types import Verdict as Verdict
from .version import __version__ as __version__
