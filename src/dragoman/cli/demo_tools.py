"""The tools of the demonstration: they really run, and only inside one folder.

Knows nothing of models, dialects or wires.  Contract: `run` never raises; what fails is told as `[ERROR:CODE] …`, the
form in which a client reports a failed tool to a model.
"""

from __future__ import annotations

import ast
import errno
import operator
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from ..errors import ErrorCode, ToolError, mark
from ..tools import Runnable, ToolSet
from ..types import Tool

OPERATIONS: Mapping[type[ast.AST], Callable[..., Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class Workshop:
    """Three tools and the folder they work in."""

    def __init__(self, folder: Path) -> None:
        self.folder: Path = folder.resolve()
        self._tools: Mapping[str, Callable[..., str]] = {
            "read_file": self.read_file,
            "calculate": self.calculate,
            "write_file": self.write_file,
        }

    def tools(self) -> ToolSet:
        """The tools, as a client of ours runs them."""
        return ToolSet(*(self._runnable(tool) for tool in TOOLS))

    def _runnable(self, tool: Tool) -> Runnable:
        function = self._tools[tool.name]
        return Runnable(
            tool=tool,
            function=lambda arguments, context: function(**arguments),
            read_only=tool.name != "write_file",
        )

    def run(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What the tool answers, or how it failed."""
        tool = self._tools.get(name)
        if tool is None:
            return mark(ErrorCode.UNKNOWN_TOOL, f"there is no tool {name}; there are {', '.join(self._tools)}")
        try:
            return tool(**arguments)
        except ToolError as error:
            return mark(error.code, error.message)
        except OSError as error:
            return mark(errno.errorcode.get(error.errno or 0, ErrorCode.EIO), f"{error.strerror}: {error.filename}")
        except (TypeError, ValueError, ArithmeticError) as error:
            return mark(ErrorCode.INVALID_ARGS, str(error))

    def read_file(self, path: str) -> str:
        """The text of a file of the folder."""
        return self._inside(path).read_text(encoding="utf-8")

    def write_file(self, path: str, content: str) -> str:
        """Write a file of the folder."""
        self._inside(path).write_text(content, encoding="utf-8")
        return f"wrote {len(content)} characters to {path}"

    def calculate(self, expression: str) -> str:
        """Add, subtract, multiply and divide, exactly."""
        try:
            return str(_value(ast.parse(expression, mode="eval").body))
        except (SyntaxError, InvalidOperation, RecursionError) as error:
            raise ToolError(ErrorCode.INVALID_ARGS, f"not arithmetic: {expression!r}") from error

    def _inside(self, path: str) -> Path:
        target = (self.folder / path).resolve()
        if not target.is_relative_to(self.folder):
            raise ToolError(ErrorCode.EACCES, f"{path} is outside the folder; use a path inside it")
        return target


def _value(node: ast.AST) -> Decimal:
    match node:
        case ast.Constant(value=int() | float() as number):
            return Decimal(str(number))
        case ast.UnaryOp() if type(node.op) in OPERATIONS:
            return OPERATIONS[type(node.op)](_value(node.operand))
        case ast.BinOp() if type(node.op) in OPERATIONS:
            return OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
        case _:
            raise ToolError(ErrorCode.INVALID_ARGS, "only numbers and + - * / are understood")


def _text(**properties: str) -> dict[str, Any]:
    """The schema of an object of strings, all required."""
    return {
        "type": "object",
        "properties": {key: {"type": "string", "description": text} for key, text in properties.items()},
        "required": list(properties),
    }


TOOLS = (
    Tool(name="read_file", description="Read a text file.", parameters=_text(path="the file's name")),
    Tool(
        name="calculate",
        description="Evaluate an arithmetic expression.",
        parameters=_text(expression="numbers with + - * / and parentheses"),
    ),
    Tool(
        name="write_file",
        description="Write a text file; an existing one is replaced.",
        parameters=_text(path="the file's name", content="the whole text"),
    ),
)
