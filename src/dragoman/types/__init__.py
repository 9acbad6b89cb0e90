"""The values of everything else: tools, parts, messages, requests, responses.

All frozen; nothing here knows a wire, a dialect or a clock.  Contract: every value is named here, whichever file it
stands in; they compare by content.
"""

from .audit import Edit, Issue, IssueKind, Report, Tier, Verdict
from .mapping import EMPTY_OBJECT_SCHEMA, NOTHING, FrozenDict, Json, JsonObject
from .messages import Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, spoken
from .pieces import doubt_pieces, issue_pieces, part_pieces
from .requests import OutputSchema, Request, Response, Sampling, Stop, Tool, ToolChoice, Usage

__all__ = [
    "EMPTY_OBJECT_SCHEMA",
    "NOTHING",
    "Edit",
    "FrozenDict",
    "Issue",
    "IssueKind",
    "Json",
    "JsonObject",
    "Media",
    "Message",
    "Opaque",
    "OutputSchema",
    "Part",
    "Reasoning",
    "Report",
    "Request",
    "Response",
    "Role",
    "Sampling",
    "Stop",
    "Text",
    "Tier",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Usage",
    "Verdict",
    "doubt_pieces",
    "issue_pieces",
    "part_pieces",
    "spoken",
]
