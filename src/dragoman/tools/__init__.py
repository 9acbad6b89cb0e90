"""Tools: Python functions, or anything with a JSON Schema, as what models may call.

The door to the package.  `tool` marks a function, `runnable` makes it (or a `(Tool, function)` pair) something to run,
`ToolSet` holds several; `result_of` and `failure_of` turn what came out into the `ToolResult` a model is shown;
`shortened` cuts one that is too long, `Shortener` and `read_more` keep the rest within reach; `form_of` is a type as
JSON Schema and the way back.  Nothing here performs I/O or runs a tool by itself.
"""

from __future__ import annotations

from .annotations import form_of
from .decorator import runnable, tool
from .failures import advice, code_of, failure_of
from .results import FileResult, result_of
from .spec import Approval, Context, Runnable
from .to_json import Unwritable, plain
from .toolset import ToolSet
from .truncation import Shortener, read_more, rest, shortened
from .type_schema import InvalidValue, JsonForm, Undescribed

__all__ = [
    "Approval", "Context", "FileResult", "InvalidValue", "JsonForm", "Runnable", "Shortener", "ToolSet", "Undescribed",
    "Unwritable", "advice", "code_of", "failure_of", "form_of", "plain", "read_more", "rest", "result_of", "runnable",
    "shortened", "tool",
]  # fmt: skip
