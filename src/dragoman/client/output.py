"""The form of the answer, as the loop asks for it: of a type, a JSON Schema, or an `Output`.

Knows types by their forms; nothing of models.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..loop import Output
from ..tools.annotations import form_of as form_of_type


def form_of(wanted: Any) -> Output | None:
    """The form that `wanted` is; None where none is wanted.  Raises UsageError for a type that has no JSON."""
    if wanted is None or isinstance(wanted, Output):
        return wanted
    if isinstance(wanted, Mapping):
        return Output(schema=wanted)
    form = form_of_type(wanted)
    return Output(schema=form.schema, convert=form.read, description=_docstring(wanted))


def _docstring(wanted: Any) -> str:
    """A class's own description; builtins and aliases say nothing of what is wanted."""
    if not inspect.isclass(wanted) or wanted.__module__ == "builtins":
        return ""
    return " ".join((wanted.__dict__.get("__doc__") or "").split())
