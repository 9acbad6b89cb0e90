"""Bedrock's Converse API as botocore describes it, as typed dictionaries.

Knows botocore's shapes; needs botocore.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import botocore.session  # type: ignore[import-not-found, import-untyped, unused-ignore]
import typing_extensions

from .samples import ONE_OF

_PLAIN = {"string": str, "integer": int, "long": int, "float": float, "double": float, "boolean": bool, "blob": bytes,
          "timestamp": str}  # fmt: skip
_MOST = 9


def converse(way: str) -> Any:
    """The type of a request, of an answer, or of a frame of a stream: by the name of its event."""
    service = _service()
    if way == "request":
        return _kind(service.operation_model("Converse").input_shape)
    if way == "answer":
        return _kind(service.operation_model("Converse").output_shape)
    return _kind(service.operation_model("ConverseStream").output_shape.members["stream"])


@cache
def _service() -> Any:
    return botocore.session.Session().get_service_model("bedrock-runtime")


def _kind(shape: Any, depth: int = 0) -> Any:
    if shape.type_name == "structure":
        return dict[str, Any] if getattr(shape, "is_document_type", False) or depth > _MOST else _record(shape, depth)
    if shape.type_name == "list":
        return list[_kind(shape.member, depth + 1)]  # type: ignore[misc]
    if shape.type_name == "map":
        return dict[str, _kind(shape.value, depth + 1)]  # type: ignore[misc]
    return Literal[tuple(shape.enum)] if getattr(shape, "enum", None) else _PLAIN[shape.type_name]


def _record(shape: Any, depth: int) -> Any:
    wrap = typing_extensions
    fields = {
        name: (wrap.Required if name in shape.required_members else wrap.NotRequired)[_kind(member, depth + 1)]
        for name, member in shape.members.items()
    }
    made: Any = typing_extensions.TypedDict(shape.name, fields)  # type: ignore[misc]
    if shape.metadata.get("union"):
        setattr(made, ONE_OF, True)
    return made
