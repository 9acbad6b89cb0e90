"""What a dialect is: frozen data, no behaviour.

A dialect is one way a model writes tool calls in text.  The vocabulary: a *section* around all calls, a *call* around
one, a *tool* span around its name, a *body* around its arguments, then the argument notation, a closed union.
`dialects/engine/parser.py` reads these rows, `dialects/writing/render.py` writes them, `dialects/writing/prompt.py`
explains them to a model; none of the three knows a
dialect by name.  This module does not know about text, tools or judging.

Contract: in every tuple of spellings the first is canonical (rendered), the rest are accepted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from ..records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A delimited region: spellings of its opener and of its closer (first canonical, all accepted).


    White space at the ends of a spelling is written by `dialects/writing/render.py` and not demanded by
    `dialects/engine/parser.py`.
    """

    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()


def span(open: str | tuple[str, ...] = (), close: str | tuple[str, ...] = ()) -> Span:  # noqa: A002
    """A `Span`; a single spelling may be given as a plain string, "" for none."""
    return Span(_spellings(open), _spellings(close))


def _spellings(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return ((given,) if given else ()) if isinstance(given, str) else given


class Place(StrEnum):
    """Where the opener may stand."""

    INLINE = "inline"  # anywhere in live text
    LINE = "line"      # first on its line
    LAST = "last"      # first on its line; also behind other words on it where the caller says the model speaks this
    WHOLE = "whole"    # first in the message
    OPENING = "opening"  # the same, by signs that lines of ordinary text begin with: looked for there alone


AT_FIRST = frozenset({Place.WHOLE, Place.OPENING})
"""Where a call counts as all that its message says, or not at all."""


class Strength(StrEnum):
    """How much the opener alone proves (judge rule 3)."""

    STRONG = "strong"  # nobody writes it by accident: a call as soon as it is complete
    WEAK = "weak"      # looks like ordinary text: a call only alone, at the end, by a declared name
    OWN = "own"        # strong where the caller says that the model speaks this, weak otherwise
    ASKED = "asked"    # strong where the caller says so; not listened for otherwise


class Listing(StrEnum):
    """How several calls stand together."""

    REPEAT = "repeat"  # one after the other, `between` in the middle
    ARRAY = "array"    # in one [...] list


# ── argument notations, a closed union ───────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonCall:
    """One JSON object holds the name and the arguments: `{"name": …, "arguments": {…}}`.

    `inside` is the key to descend into first (`action`), `single_key` says that the object's only key is the name
    (`{"get_weather": {…}}`), `thought` is a key whose string is reasoning, `answer` the key path of a final answer.
    """

    name: tuple[str, ...] = ("name",)
    args: tuple[str, ...] = ("arguments",)
    id: tuple[str, ...] = ("id",)
    inside: tuple[str, ...] = ()
    single_key: bool = False
    thought: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonArgs:
    """The name stands in the markup (`tool`), a JSON object of arguments follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordArgs:
    """A Python call: `name(key=value, …)`; the name ends at the parenthesis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BraceArgs:
    """Gemma's braces: `{key:value,…}` with bare keys and strings between `quotes`."""

    quotes: tuple[str, ...] = ('"',)


class Typing(StrEnum):
    """How a raw value gets its type when the tool's schema does not say."""

    TEXT = "text"          # it stays a string
    LITERAL = "literal"    # JSON if it parses as JSON, else a string


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedArgs:
    """Every argument is markup: `<parameter=city>Oslo</parameter>`.

    `key` delimits the key, `value` the raw value after it.  `trim` is dropped once from each end of a value.
    `raw_flag` are spellings that end the key and say "this value is text" (DSML's `" string="true">`);
    `json_flag` likewise "this value is JSON"; behind one of `joined` the value follows a declared key without an opener
    of its own (`<arg_key>city=Oslo</arg_value>`); `type` is where a type may stand between key and value.
    `entities` says that text may be escaped as XML escapes it; `attributes` that the name and the keys are, since they
    are attributes.
    """

    key: Span
    value: Span
    type: Span = Span()
    trim: str = ""
    typing: Typing = Typing.TEXT
    raw_flag: tuple[str, ...] = ()
    json_flag: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    entities: bool = False
    attributes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementArgs:
    """Every argument is an element named after it: `<city>Oslo</city>`.

    `prefix` stands before every tag (MiniMax M3); `nested` elements become objects and arrays by schema.  `trim` is
    dropped once from each end of a value.  `entities` says that text may be escaped as XML escapes it.
    """

    prefix: str = ""
    nested: bool = False
    trim: str = "\n"
    typing: Typing = Typing.TEXT
    entities: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeArgs:
    """Name and arguments are attributes of one tag: `<tool_call name="f" args='{…}' />`."""

    name: tuple[str, ...] = ("name",)
    args: tuple[str, ...] = ("args",)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlCall:
    """A YAML mapping holds the name and the arguments: `name: f` / `arguments:` / indented keys."""

    name: tuple[str, ...] = ("name",)
    args: tuple[str, ...] = ("arguments",)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlArgs:
    """The name stands in the markup (`tool`), a YAML mapping of arguments follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextArgs:
    """The name stands in the markup (`tool`), plain text follows: the tool's only argument.

    `first` stands between the name and the text, `last` between the text and the closer; neither is part of it.
    """

    first: str = "\n"
    last: str = "\n"


Notation: TypeAlias = (
    JsonCall | JsonArgs | KeywordArgs | BraceArgs | TaggedArgs | ElementArgs | AttributeArgs | YamlCall | YamlArgs
    | TextArgs
)


# ── segments ─────────────────────────────────────────────────────────────────


class Route(StrEnum):
    """Whom a segment of the message is for."""

    TEXT = "text"            # the reader: visible
    REASONING = "reasoning"  # the model itself
    CALLS = "calls"          # tools: markup in it is a call, other text is dropped
    NOBODY = "nobody"        # a built-in of the model's own host: dropped
    OTHERS = "others"        # another party's turn, invented: nothing from here on counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """The message is a row of segments, each under a header that says whom it is for (harmony, Muse).

    `open` begins a header, `head` ends it, `close` ends the segment; `words` is a pattern for each word of a header, so
    that prose about these tokens is none.  `routes` are patterns searched in the header, the
    first that is found decides; `begun` is what a message begins with when the prompt had written `open`.
    """

    open: tuple[str, ...]
    head: tuple[str, ...]
    close: tuple[str, ...]
    words: str
    routes: tuple[tuple[str, Route], ...]
    begun: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One row.

    name        how people ask for it; `aliases` are other names of the same thing
    call        around one call; `{name}` in it stands for each declared tool's name (`<{name}>`)
    section     around all of them, where there is such a thing
    lead        the beginning of a call that nothing is around: a declared name and the sign behind it (`{name}(`)
    tool        around the tool's name, where markup carries it (`tool.close` may also begin the arguments)
    tool_re     splits the text found in `tool`: groups `name` and, where the dialect has one, `id`
    tool_form   how a name (and id, index) is written there, a format string: `functions.{name}:{index}`
    body        around the arguments, where markup delimits them
    args        the argument notation
    between     what may stand between two calls (first is rendered)
    final       what begins, on its own line, a final answer: after it no call of this dialect counts
    quiet       framing that is not part of the visible text (`<response>`)
    reasoning   the family's own reasoning tags
    preface     a pattern of words that belong to the notation before a call (`Thought: …`)
    suffix      a pattern of what each tag may carry behind a colon, the same throughout (`<tool_call:6124c78e>`)
    segments    how the message is cut into parts for the reader, the model itself and tools, where it is
    result      how a past result is written for the model, a format string with {name} {id} {content}
    source      where the format is documented; `sample` a real sample of one call
    """

    name: str
    call: Span = Span()
    args: Notation
    section: Span = Span()
    lead: tuple[str, ...] = ()
    tool: Span = Span()
    tool_re: str = r"(?P<name>.+)"
    tool_form: str = "{name}"
    body: Span = Span()
    between: tuple[str, ...] = ("\n",)
    listing: Listing = Listing.REPEAT
    place: Place = Place.INLINE
    strength: Strength = Strength.STRONG
    final: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    reasoning: tuple[Span, ...] = ()
    preface: str = ""
    suffix: str = ""
    segments: Segments | None = None
    result: str = ""
    aliases: tuple[str, ...] = ()
    source: str = ""
    sample: str = ""

    def __hash__(self) -> int:
        """By name: rows are keys of many tables, and hashing all of a row each time would cost more than it tells."""
        return hash(self.name)

    @property
    def is_protocol(self) -> bool:
        """Is every message one JSON object, the final answer too?"""
        return isinstance(self.args, JsonCall) and bool(self.args.answer)
