"""The JSON Schema that each API takes, as rows: keywords, references, unions, and what every node must say.

Data only; `narrowing` reads it.  Knows JSON Schema's vocabulary and no tool, wire or provider beyond its name.
Contract: a row errs on the side of being taken: a keyword left out costs a hint, a keyword too much costs the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from ..types import NOTHING, JsonObject
from .vocabulary import words


class Refs(StrEnum):
    """The treatment of `$ref`: left as written; filled in, loops left; filled in, loops cut where they close."""

    KEEP = "keep"
    LOOPS = "loops"
    CUT = "cut"


class Kinds(StrEnum):
    """A value of several kinds: `type` as a list; `anyOf`; `nullable` and `anyOf`; `anyOf` without null."""

    LIST = "list"
    ANY_OF = "any_of"
    NULLABLE = "nullable"
    NEVER_NULL = "never_null"


class Must(StrEnum):
    """Demands on every node."""

    TYPE = "type"  # a type, or alternatives that have one
    ITEMS = "items"  # an array says what its items are
    PROPERTIES = "properties"  # an object says its properties
    DECLARED = "declared"  # `required` names declared properties only
    REQUIRED = "required"  # an object has `required`, if only an empty one
    CLOSED = "closed"  # an object takes no other properties
    COMPLETE = "complete"  # every property is required
    ALONE = "alone"  # nothing but a description stands beside `anyOf`
    FILLED = "filled"  # no enumerated value is ""
    UNMIXED = "unmixed"  # the enumerated values are of one kind
    ANCHORED = "anchored"  # a pattern begins with ^ and ends with $


EVERY = words(
    """$anchor $comment $defs $dynamicAnchor $dynamicRef $id $ref $schema additionalItems additionalProperties allOf
    anyOf const contains contentEncoding contentMediaType contentSchema default definitions dependencies
    dependentRequired dependentSchemas deprecated description else enum examples exclusiveMaximum exclusiveMinimum
    format if items maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties
    minimum multipleOf not nullable oneOf pattern patternProperties prefixItems properties propertyNames readOnly
    required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly"""
)
"""JSON Schema's keywords, old and new, and OpenAPI's `nullable`."""

COMMON = EVERY - words(
    """$schema $id $comment $anchor $dynamicAnchor $dynamicRef nullable deprecated readOnly writeOnly examples
    additionalItems contentEncoding contentMediaType contentSchema unevaluatedItems unevaluatedProperties"""
)
"""Without the words that are for other readers than a model."""
CONDITIONS = words("if then else not dependencies dependentRequired dependentSchemas")
COUNTS = words("minLength maxLength minItems maxItems minContains maxContains")
SCALARS = frozenset({"string", "integer", "number"})
ALL_KINDS = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})
COMBINED = frozenset({"anyOf", "oneOf", "allOf", "enum", "not"})

ANY_SCALAR: JsonObject = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}
ANY_VALUE: JsonObject = {
    "anyOf": [*ANY_SCALAR["anyOf"], {"type": "object"}, {"type": "array", "items": ANY_SCALAR}],
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SchemaRules:
    """One API's schemas.

    keywords  the keywords taken anywhere; None: all, unknown ones too
    root      keywords refused at the root (which is always an object)
    anything  what stands for "any value"
    enums     the kinds of values that may be enumerated
    formats   kind → the formats taken; None: all
    keys      how property names must look; None: any way
    deepest   levels of nesting written
    strict    the rules for tools whose `strict` is asked; None: the API has no such flag
    held      calls are held to their schemas whether that is asked or not
    source    where this is known from
    """

    name: str
    keywords: frozenset[str] | None = None
    root: frozenset[str] = frozenset()
    refs: Refs = Refs.KEEP
    kinds: Kinds = Kinds.LIST
    musts: frozenset[Must] = frozenset()
    anything: JsonObject = NOTHING
    enums: frozenset[str] = ALL_KINDS
    formats: Mapping[str, frozenset[str]] | None = None
    keys: re.Pattern[str] | None = None
    deepest: int = 40
    strict: SchemaRules | None = None
    held: bool = False
    source: str = ""

    def takes(self, keyword: str) -> bool:
        """Is `keyword` taken below the root?"""
        return self.keywords is None or keyword in self.keywords


OPEN = SchemaRules(name="open", source="servers that hand the schema to the chat template: Ollama, vLLM, SGLang …")

LLAMACPP = SchemaRules(
    name="llamacpp",
    musts=frozenset({Must.ANCHORED}),
    source="llama.cpp common/json-schema-to-grammar.cpp: \"Pattern must start with '^' and end with '$'\"",
)

OPENAI_STRICT = SchemaRules(
    name="openai strict",
    keywords=words(
        """type title description properties required additionalProperties items anyOf enum const pattern format
        multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems $ref $defs"""
    ),
    root=frozenset({"anyOf", "enum", "const"}),
    refs=Refs.LOOPS,
    musts=frozenset({Must.TYPE, Must.ITEMS, Must.PROPERTIES, Must.DECLARED, Must.CLOSED, Must.COMPLETE}),
    formats={"string": words("date-time time date duration email hostname ipv4 ipv6 uuid")},
    deepest=10,
    source="platform.openai.com/docs/guides/structured-outputs#supported-schemas",
)
OPENAI = SchemaRules(
    name="openai",
    root=COMBINED,
    musts=frozenset({Must.ITEMS, Must.PROPERTIES}),
    strict=OPENAI_STRICT,
    source="400 \"schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level\", "
    '"array schema missing items", "object schema missing properties" (peers.md pain 18)',
)

ANTHROPIC_KEYS = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
ANTHROPIC_STRICT = SchemaRules(
    name="anthropic strict",
    keywords=COMMON
    - CONDITIONS
    - COUNTS
    - words("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf uniqueItems minProperties maxProperties "
                "allOf oneOf contains patternProperties propertyNames prefixItems nullable"),
    root=frozenset({"anyOf", "oneOf", "allOf"}),
    refs=Refs.CUT,
    kinds=Kinds.ANY_OF,
    musts=frozenset({Must.TYPE, Must.ITEMS, Must.PROPERTIES, Must.DECLARED, Must.CLOSED}),
    keys=ANTHROPIC_KEYS,
    source="docs.claude.com structured outputs: JSON Schema limitations (numeric, string and array bounds; recursion)",
)  # fmt: skip
ANTHROPIC = SchemaRules(
    name="anthropic",
    root=frozenset({"anyOf", "oneOf", "allOf"}),
    keys=ANTHROPIC_KEYS,
    strict=ANTHROPIC_STRICT,
    source='400 "input_schema does not support oneOf, allOf, or anyOf at the top level", '
    "\"property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'\"",
)

BEDROCK = SchemaRules(
    name="bedrock",
    keywords=COMMON - CONDITIONS,
    root=EVERY - frozenset({"type", "properties", "required"}),
    refs=Refs.CUT,
    musts=frozenset({Must.PROPERTIES, Must.DECLARED}),
    keys=ANTHROPIC_KEYS,
    source="docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html: the top level takes type, properties "
    "and required only; Claude on Bedrock as Anthropic",
)

BEDROCK_CLAUDE = replace(BEDROCK, name="bedrock claude", strict=ANTHROPIC_STRICT)
"""ToolSpecification.strict: "Structured outputs" in the Bedrock user guide, of Claude's models."""

GEMINI = SchemaRules(
    name="gemini",
    keywords=words(
        """type format description nullable enum maxItems minItems properties required minProperties maxProperties
        minLength maxLength pattern anyOf propertyOrdering items minimum maximum"""
    ),
    root=frozenset({"anyOf", "enum", "nullable"}),
    refs=Refs.CUT,
    kinds=Kinds.NULLABLE,
    musts=frozenset({Must.TYPE, Must.ITEMS, Must.DECLARED, Must.ALONE, Must.FILLED}),
    anything=ANY_VALUE,
    enums=frozenset({"string"}),
    formats={
        "string": frozenset({"enum", "date-time"}),
        "number": frozenset({"float", "double"}),
        "integer": frozenset({"int32", "int64"}),
    },
    source='ai.google.dev/api/caching#Schema (FunctionDeclaration.parameters); 400s: "only allowed for STRING type", '
    '"items: missing field", "property is not defined", "cannot be empty"; Vertex: any_of must be the only field',
)
GEMINI_JSON = SchemaRules(
    name="gemini json",
    keywords=words(
        """$ref $defs type format description enum items prefixItems minItems maxItems minimum maximum anyOf
        properties additionalProperties required propertyOrdering"""
    ),
    root=frozenset({"anyOf", "enum"}),
    refs=Refs.LOOPS,
    musts=frozenset({Must.TYPE, Must.ITEMS, Must.DECLARED, Must.FILLED}),
    anything=ANY_VALUE,
    enums=SCALARS,
    source="ai.google.dev/api/caching#FunctionDeclaration (parametersJsonSchema), #GenerationConfig (its keywords)",
)

MOONSHOT = SchemaRules(
    name="moonshot",
    keywords=words("$ref $defs type description default anyOf properties additionalProperties items enum required"),
    root=frozenset({"anyOf", "enum", "default"}),
    refs=Refs.LOOPS,
    kinds=Kinds.NEVER_NULL,
    musts=frozenset(
        {Must.TYPE, Must.ITEMS, Must.PROPERTIES, Must.DECLARED, Must.REQUIRED, Must.ALONE, Must.FILLED, Must.UNMIXED}
    ),
    anything=ANY_VALUE,
    enums=SCALARS,
    source='github.com/MoonshotAI/walle docs/mfjs-spec.md; 400 "not a valid moonshot flavored json schema" for null '
    "among the alternatives (NousResearch/hermes-agent agent/moonshot_schema.py)",
)

XAI = SchemaRules(
    name="xai",
    keywords=COMMON - COUNTS - CONDITIONS,
    root=COMBINED,
    refs=Refs.LOOPS,
    musts=frozenset({Must.ITEMS, Must.PROPERTIES}),
    held=True,
    source="docs.x.ai structured outputs, which hold for tools too (strict is always on); openclaw/openclaw#32080",
)

CEREBRAS = SchemaRules(
    name="cerebras",
    keywords=COMMON
    - CONDITIONS
    - COUNTS
    - words("oneOf allOf const default title format pattern prefixItems uniqueItems"),
    root=COMBINED,
    refs=Refs.CUT,
    kinds=Kinds.ANY_OF,
    musts=frozenset({Must.TYPE, Must.ITEMS, Must.PROPERTIES, Must.DECLARED, Must.CLOSED}),
    anything=ANY_SCALAR,
    source="inference-docs.cerebras.ai/capabilities/structured-outputs; 422 \"'additionalProperties' is required to be "
    'supplied and set to false", 400 "Unsupported JSON schema fields: {\'minItems\', …}"',
)

COHERE = SchemaRules(
    name="cohere",
    keywords=COMMON - CONDITIONS,
    root=COMBINED,
    refs=Refs.CUT,
    musts=frozenset({Must.ITEMS, Must.PROPERTIES, Must.DECLARED}),
    source="docs.cohere.com/docs/tool-use-parameter-types",
)
COHERE = replace(COHERE, strict=replace(COHERE, name="cohere strict", source="docs.cohere.com: strict_tools"))

PORTABLE = SchemaRules(
    name="portable",
    keywords=COMMON - CONDITIONS - words("oneOf allOf const prefixItems"),
    root=COMBINED,
    refs=Refs.CUT,
    kinds=Kinds.ANY_OF,
    musts=frozenset({Must.TYPE, Must.ITEMS, Must.PROPERTIES, Must.DECLARED, Must.FILLED}),
    anything=ANY_VALUE,
    enums=SCALARS,
    source="families that refuse words behind somebody else's API (Gemini by OpenRouter): peers.md pain 18",
)

BARE = SchemaRules(
    name="bare",
    keywords=words("type description enum items properties required"),
    root=EVERY - frozenset({"type", "properties", "required"}),
    refs=Refs.CUT,
    kinds=Kinds.NEVER_NULL,
    musts=frozenset({Must.TYPE, Must.ITEMS, Must.PROPERTIES, Must.DECLARED, Must.FILLED}),
    anything={"type": "string"},
    enums=frozenset({"string"}),
    keys=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    deepest=8,
    source="what every API takes: the last resort for a tool whose schema was refused all the same",
)

ROWS: tuple[SchemaRules, ...] = (
    OPEN, LLAMACPP, OPENAI, OPENAI_STRICT, ANTHROPIC, ANTHROPIC_STRICT, BEDROCK, GEMINI, GEMINI_JSON, MOONSHOT, XAI,
    CEREBRAS, COHERE, PORTABLE, BARE,
)  # fmt: skip
