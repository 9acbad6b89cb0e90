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
NO_KEY = late(r"[<>\"'`\x00-\x1f]")
"""Signs that stand in no key but one the schema has."""
NO_WORD = late(r"\A\Z|[{}\[\]|,=，：“”‘’「」]")
"""Signs of a notation, in a key that a tool which names its keys does not have; and no sign at all."""
MEMBER = late(r'\s*+,?\s*+"?[\w.-]{1,64}"\s*+:')
MEMBER_BEGUN = late(r'\s*+(?:,\s*+)?(?:"?[\w.-]{0,64}"?\s*+)?\Z')
"""A key behind the arguments' end, which came too early; and text that may go on as one."""
ECHO = frozenset({"type", "required", "additionalProperties", "$schema"})
"""Keys of a schema that a model may repeat around its `properties` (malformations.md §3)."""
