"""The codes of everything that is said of a row: what each means, how bad it is, and what to do about it.

Knows the codes; nothing of how they are found.  Contract: no finding has a code that does not stand here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from ..records import NamedTuple


class Weight(IntEnum):
    """How bad a finding is: NOTE says something, WARNING is a doubt, ERROR makes the row unfit to train on."""

    NOTE = 0
    WARNING = 1
    ERROR = 2


class Meaning(NamedTuple):
    """What a code means, how bad it is, and what to do."""

    weight: Weight
    means: str
    do: str


NOTE, WARNING, ERROR = Weight

CODES: Mapping[str, Meaning] = MappingProxyType({
    # a row that cannot be read
    "not_json": Meaning(ERROR, "the row is not JSON", "correct it where the message says, or leave it set aside"),
    "not_utf8": Meaning(ERROR, "the row is not UTF-8", "decode it by the encoding it has, and write it as UTF-8"),
    "too_deep": Meaning(ERROR, "the row nests too deeply to be read", "flatten it"),
    "too_long": Meaning(ERROR, "the row is longer than --max-row", "raise --max-row, or split the row"),
    "not_finite": Meaning(ERROR, "NaN or an infinity stands in it, which is not JSON", "write null or a string"),
    "half_character": Meaning(ERROR, "it holds a lone surrogate, which no UTF-8 text can", "replace it by U+FFFD"),
    "duplicate_keys": Meaning(ERROR, "an object has a key twice with different values", "decide which one is meant"),
    "not_an_object": Meaning(ERROR, "the row is JSON but no object", "make each row one JSON object"),
    "unknown_format": Meaning(ERROR, "no known shape fits the row", "name its columns with --columns, or its --format"),
    "unreadable_file": Meaning(ERROR, "a file cannot be read, or not to its end", "fetch it again, or write it as Parquet or JSON lines"),
    "unreadable": Meaning(ERROR, "the row has a known shape and breaks its rules", "correct it at the path"),
    # tools
    "bad_tools": Meaning(ERROR, "the tools of the row cannot be read", "give each a name and a JSON Schema"),
    "bad_schema": Meaning(WARNING, "a tool's schema is not sound, so its calls cannot be checked", "correct the schema"),
    "calls_without_tools": Meaning(WARNING, "the row calls, and declares no tools", "add the tools, or give --tools"),
    "no_schema": Meaning(NOTE, "a tool's parameters are in words of their own, read as a JSON Schema", "nothing"),
    # calls
    "unknown_tool": Meaning(ERROR, "a call of a tool that is not declared", "correct the name, or declare the tool"),
    "unknown_param": Meaning(ERROR, "an argument that the tool does not declare", "remove it, or declare it"),
    "missing_required": Meaning(ERROR, "a required argument is missing", "leave the row out: no value can be made up"),
    "type_mismatch": Meaning(ERROR, "an argument has another type than declared", "correct the value or the schema"),
    "invalid_arguments": Meaning(ERROR, "arguments that fail their schema", "correct them where the message says"),
    "malformed": Meaning(ERROR, "a call that cannot be read", "leave the row out"),
    "truncated": Meaning(ERROR, "a call that was cut off", "leave the row out"),
    "not_allowed": Meaning(ERROR, "a call where none is allowed", "leave the row out"),
    "in_doubt": Meaning(WARNING, "text that may be a call, and may not", "look at it; --doubt run or text decides for all"),
    "quoted": Meaning(NOTE, "a call that is only shown", "nothing: it is text"),
    "in_reasoning": Meaning(NOTE, "a call that was only thought of", "nothing: it is reasoning"),
    "copied": Meaning(NOTE, "a call that is copied from what the model was shown", "nothing: it is text"),
    "hallucinated_result": Meaning(ERROR, "the model wrote a tool's result itself", "leave the row out"),
    "noise": Meaning(NOTE, "control tokens stand in a text", "nothing: they are left out where calls were read"),
    "partial": Meaning(WARNING, "some calls of a turn can be read, others cannot", "look at the other findings"),
    "wrong_shape": Meaning(ERROR, "a call that is no object with a name", "correct it at the path"),
    # repairs
    "call_in_text": Meaning(WARNING, "a call stood in the text and was put where calls stand", "nothing"),
    "mended_call": Meaning(WARNING, "a call in the text had to be mended to be read", "nothing"),
    "mended_arguments": Meaning(WARNING, "arguments had to be mended, or made to fit their schema", "nothing"),
    "renamed_tool": Meaning(WARNING, "a name was written in another spelling than declared", "nothing"),
    "null_padding": Meaning(WARNING, "nulls under keys that nobody declared, as Arrow makes them", "nothing: left out"),
    "null_ambiguous": Meaning(NOTE, "a null under a declared key: a value, or padding", "look at it"),
    "double_encoded": Meaning(WARNING, "arguments were JSON in a string in a string", "nothing"),
    "new_id": Meaning(NOTE, "a call had no id of its own and got one", "nothing"),
    # the order of the turns
    "orphan_result": Meaning(ERROR, "a result that answers no call", "remove it, or restore its call"),
    "missing_result": Meaning(WARNING, "a call that is never answered, and the conversation goes on", "remove or answer it"),
    "repeated_id": Meaning(WARNING, "two calls of one round have the same id", "--re-id gives them ids of their own"),
    "reused_id": Meaning(NOTE, "an id comes again in a later round", "--re-id gives each call its own"),
    "role_order": Meaning(WARNING, "turns follow in an order that templates refuse", "look at the path"),
    "no_answer": Meaning(WARNING, "nothing in the row was written by the model", "leave it out of training"),
    "empty_message": Meaning(WARNING, "a turn of the model without text and calls", "leave it out"),
    # rendering
    "template_fails": Meaning(ERROR, "the chat template fails on the row", "correct what it says, or change --arguments"),
    "template_calls": Meaning(ERROR, "what the chat template writes is read as other calls", "change --arguments or --parallel"),
    "template_tools": Meaning(ERROR, "the chat template leaves out the tools", "use a template that writes tools"),
    # between rows
    "duplicate": Meaning(NOTE, "the row stands in the corpus before", "nothing: it is dropped"),
    "leak": Meaning(ERROR, "the row is also in the evaluation data", "leave it out of training"),
    # conversion
    "no_pair": Meaning(NOTE, "no refused answer with a good one after it", "nothing: it makes no preference"),
    "lossy": Meaning(WARNING, "the target format cannot hold something of the row", "see the paths"),
    "unwritable": Meaning(ERROR, "the target format cannot hold the row at all", "choose another target"),
})  # fmt: skip
"""Code → what it means, how bad it is, what to do."""
