"""What is known of an argument by its key, and of its value by its kind, before anything of it is read.

Knows characters and the words of JSON Schema; nothing of tools or of notations.
"""

from __future__ import annotations

from ...late import late

TEXT = frozenset({"string"})
"""The kinds of a value that is text and nothing else."""
SCALARS = frozenset({"integer", "number", "boolean"})
SCALAR = late(r"-?\d{1,15}|[Tt]rue|[Ff]alse")
"""Values that are not text and that every reader takes for the same."""
NO_KEY = late(r"[<>\"'`\r\n]")
"""Signs that stand in no key but one the schema has."""
ECHO = frozenset({"type", "required", "additionalProperties", "$schema"})
"""Keys of a schema that a model may repeat around its `properties` (malformations.md §3)."""
