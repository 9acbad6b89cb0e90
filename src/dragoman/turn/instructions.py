"""Demands on an answer as instructions to the model, where a wire has no field for them or a place refuses the field.

Knows requests and codecs as records of functions; no wire, no row of a provider.
Contract: pure; each demand travels exactly once, as a wire field or as an instruction where the wire has none;
instructions stand at the end of those in front, so that a prefix cache keeps what came before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..codecs.shared.spec import Codec, Quirks
from ..conversation.grown import by_growth, grown
from ..errors import CodecError
from ..jsontext import dumps
from ..memo import CONSTANTS, memoize
from ..types import Message, OutputSchema, Request, Text, ToolChoice

VALUE = "Give your final answer as one JSON {kind} and nothing else{what}: no prose, no Markdown."
FITTING = "\nIt must fit this JSON Schema: {schema}"
CALLED = "In this answer you must call at least one tool; an answer without a call is not accepted."
NAMED = "In this answer you must call the tool `{name}` and no other."

OBJECT, SCHEMA = "object", "schema"
BESIDE_TOOLS = " beside tools"
"""Some take a form, and take tools, but not both at once (Gemini 2)."""
FORMS = frozenset({OBJECT, SCHEMA, OBJECT + BESIDE_TOOLS, SCHEMA + BESIDE_TOOLS})
"""All kinds of forms."""


def form_kind(request: Request) -> str:
    """The kind of form that `request` asks for, "" for none: what a place may refuse."""
    form = request.output_schema
    if form is None:
        return ""
    return (OBJECT if form.schema is None else SCHEMA) + (BESIDE_TOOLS if request.tools else "")


def form_key(request: Request) -> str:
    """The same, of this schema alone."""
    form = request.output_schema
    return f"{form_kind(request)} {dumps(form.schema)}" if form is not None and form.schema is not None else ""


def format_instruction(request: Request, codec: Codec, quirks: Quirks, refused: frozenset[str]) -> Request:
    """`request`, its form as an instruction where the wire of `codec` cannot say it or the place `refused` that kind.

    Where only schemas are refused the wire still says that the answer is JSON.
    """
    form = request.output_schema
    if form is None:
        return request
    if form.bare and not _can_ask_word(codec, quirks):
        form = _as_object(form)
        request = replace(request, output_schema=form)
    takes = refused.isdisjoint((form_kind(request), form_key(request)))
    if takes and _can_ask(codec, quirks, form.schema is not None):
        return request
    asked = replace(request, messages=instructed(request.messages, _format(form)))
    looser = replace(asked, output_schema=OutputSchema())
    weaker = form.schema is not None and form_kind(looser) not in refused and _can_ask(codec, quirks, False)
    return looser if weaker else replace(asked, output_schema=None)


def choice_instruction(request: Request, choice: ToolChoice) -> Request:
    """`request`, with the demand for a call as an instruction; a tool choice without one needs none."""
    if choice.mode not in {"required", "named"}:
        return request
    instruction = NAMED.format(name=choice.name) if choice.name else CALLED
    return replace(request, messages=instructed(request.messages, instruction))


def _format(form: OutputSchema) -> str:
    what = f" ({form.description})" if form.description else ""
    head = VALUE.format(kind="object" if form.schema is None else "value", what=what)
    return head if form.schema is None else head + FITTING.format(schema=dumps(form.schema))


def _as_object(form: OutputSchema) -> OutputSchema:
    """A word as the one field of an object: some APIs take schemas of objects alone."""
    inner = {"type": "object", "properties": {"value": form.schema}, "required": ["value"]}
    return OutputSchema(schema={**inner, "additionalProperties": False}, name="choice", strict=True)


@memoize(CONSTANTS)
def _can_ask_word(codec: Codec, quirks: Quirks) -> bool:
    """Can this wire ask for a word as it is?"""
    form = OutputSchema(schema={"type": "string", "enum": ["a"]}, bare=True)
    try:
        read = codec.decode_request(codec.encode_request(Request(model="m", output_schema=form), quirks))
    except CodecError:
        return False
    return read.output_schema is not None and read.output_schema.bare


@memoize(CONSTANTS)
def _can_ask(codec: Codec, quirks: Quirks, with_schema: bool) -> bool:
    """Can this wire ask for a form?  What it cannot say is not there when it is read back."""
    form = OutputSchema(schema={"type": "object"} if with_schema else None)
    written = codec.encode_request(Request(model="m", output_schema=form), quirks)
    try:
        return codec.decode_request(written).output_schema is not None
    except CodecError:
        return False


def instructed(messages: Sequence[Message], instruction: str) -> tuple[Message, ...]:
    """The messages with `instruction` behind the first instructions, however many messages these are; alone in front
    where there are none."""
    return _instructed(messages, instruction)


@by_growth
def _instructed(
    messages: Sequence[Message], start: int, known: tuple[Message, ...] | None, instruction: str
) -> tuple[Message, ...]:
    if known is not None and (len(known) == start or all(one.role != "system" for one in messages[start:])):
        return grown(known, messages[start:])
    systems = [at for at, message in enumerate(messages) if message.role == "system"]
    if not systems:
        return grown(None, (Message("system", instruction), *messages))
    last = next(at for n, at in enumerate(systems, 1) if n == len(systems) or systems[n] > at + 1)
    return grown(None, (*messages[:last], _with_more(messages[last], instruction), *messages[last + 1 :]))


def _with_more(message: Message, instruction: str) -> Message:
    """The message and `instruction` as one text: servers of small models read no lists.  One with fields of its own,
    which may be a cache marker, keeps its end."""
    *before, last = message.parts or (Text(""),)
    if not message.text.strip():
        return message.with_parts((*(part for part in message.parts if type(part) is not Text), Text(instruction)))
    if type(last) is not Text or last.metadata:
        return message.with_parts((*message.parts, Text(f"\n\n{instruction}")))
    return message.with_parts((*before, Text(f"{last.text}\n\n{instruction}")))
