"""A wire's requirements of a conversation, as rows by codec: names, ids, turns, schemas.

Data only.  A provider's row overrides its codec's where the place is stricter than the wire (Mistral) or laxer.
Contract: what a row requires, `turn/prepare.py` sees to; a codec may rely on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..schema import api_rules as schema_rules
from ..schema.api_rules import SchemaRules
from .naming import ANY_SPELLING, Spelling


class Turns(StrEnum):
    """The order that turns must follow each other in."""

    FREE = "free"  # as they come
    FILLED = "filled"  # no turn is blank, and the first is the user's
    BRIDGED = "bridged"  # after results the assistant speaks before the user does
    ALTERNATING = "alternating"  # filled, and user and assistant take turns


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequirements:
    """The requirements of one wire or place.

    names, ids  how tools' names and calls' ids are written
    unique      no id may stand twice in a conversation, not even in different turns
    counted     ids are `functions.NAME:INDEX`, counted from 0 through the conversation (Kimi's template prints them)
    turns       see `Turns`
    single      a turn makes one call at most
    declared    a history with calls is refused where no tools are declared
    signed      fields of reasoning of which it must bear one to be taken back; none where any is taken, or none
    schema      the JSON Schema that is taken for a tool's arguments
    """

    names: Spelling = ANY_SPELLING
    ids: Spelling = ANY_SPELLING
    unique: bool = False
    counted: bool = False
    turns: Turns = Turns.FREE
    single: bool = False
    declared: bool = False
    signed: frozenset[str] = frozenset()
    schema: SchemaRules = schema_rules.OPEN


UNRESTRICTED = WireRequirements()

WORD_NAMES = Spelling("a-zA-Z0-9_-", 64)
"""OpenAI, Anthropic, Bedrock, Mistral: `^[a-zA-Z0-9_-]{1,64}$` (Anthropic now takes 128)."""
MISTRAL_IDS = Spelling("a-zA-Z0-9", 9, exact=True)
"""mistral-common, validator.py: `^[a-zA-Z0-9]{9}$`."""

CHAT = WireRequirements(names=WORD_NAMES, schema=schema_rules.OPENAI)
OPENAI_CHAT = WireRequirements(names=WORD_NAMES, ids=Spelling(longest=40), schema=schema_rules.OPENAI)
"""400 "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40"."""

GEMINI_NAMES = Spelling("a-zA-Z0-9_.:-", 64, first="a-zA-Z_")
"""400 "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons
(:), or dashes (-), with a maximum length of 64"."""

CLAUDE_SIGNS = frozenset({"signature", "redacted"})
"""400 "each thinking block must contain a signature"."""

REQUIREMENTS: Mapping[str, WireRequirements] = {
    "openai_chat": CHAT,
    # 400 "Invalid 'input[5].call_id': string too long. Expected a string with maximum length 64"
    "openai_responses": WireRequirements(
        names=WORD_NAMES, ids=Spelling(longest=64), signed=frozenset({"item"}), schema=schema_rules.OPENAI
    ),
    # 400 "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "`tool_use` ids must be unique",
    # "Requests which include `tool_use` or `tool_result` blocks must define tools"
    "anthropic_messages": WireRequirements(
        names=WORD_NAMES,
        ids=Spelling("a-zA-Z0-9_-"),
        unique=True,
        declared=True,
        turns=Turns.FILLED,
        signed=CLAUDE_SIGNS,
        schema=schema_rules.ANTHROPIC,
    ),
    "ollama_chat": UNRESTRICTED,
    "ollama_generate": UNRESTRICTED,
    "gemini": WireRequirements(names=GEMINI_NAMES, turns=Turns.FILLED, schema=schema_rules.GEMINI_JSON),
    "gemini_interactions": WireRequirements(names=GEMINI_NAMES, schema=schema_rules.GEMINI_JSON),
    # docs.aws.amazon.com/bedrock: ToolSpecification.name, ToolUseBlock.toolUseId; "roles must alternate";
    # 400 "The toolConfig field must be defined when using toolUse and toolResult content blocks" (vercel/ai#7537)
    "bedrock_converse": WireRequirements(
        names=WORD_NAMES,
        ids=Spelling("a-zA-Z0-9_-", 64),
        unique=True,
        declared=True,
        turns=Turns.ALTERNATING,
        signed=CLAUDE_SIGNS,
        schema=schema_rules.BEDROCK,
    ),
    "bedrock_invoke": WireRequirements(
        names=WORD_NAMES,
        ids=Spelling("a-zA-Z0-9_-", 64),
        unique=True,
        declared=True,
        turns=Turns.FILLED,
        signed=CLAUDE_SIGNS,
        schema=schema_rules.BEDROCK,
    ),
    # docs.cohere.com/reference/chat: names of a-z, A-Z, 0-9 and _, not beginning with a digit
    "cohere_chat": WireRequirements(names=Spelling("a-zA-Z0-9_", 64, first="a-zA-Z_"), schema=schema_rules.COHERE),
    "stackspot": UNRESTRICTED,
}
"""Codec → its requirements; a codec that is not here has none."""

MISTRAL = WireRequirements(names=WORD_NAMES, ids=MISTRAL_IDS, turns=Turns.BRIDGED)
"""mistral-common, validator.py: 'Unexpected role "user" after role "tool"'."""
