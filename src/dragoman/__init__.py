"""Dragoman: tool calling for every language model.

This module is the public face: explicit names, nothing else.  Importing it loads no HTTP or server library.
"""

from __future__ import annotations

from .dialects.parser import Parsed as Parsed
from .dialects.parser import Parser as Parser
from .dialects.parser import parse as parse
from .dialects.rows import DIALECTS as dialects  # noqa: N811
from .events import assemble as assemble
from .events import replay as replay
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
