"""Markup made harmless, reversibly: what a model reads must not act when the model copies it.

Text that comes from a tool or a user may hold the markup of any dialect and the control tokens of any chat template.
`neutralise` puts an invisible word joiner (U+2060) after the first character of each, so that neither the model's
tokenizer nor our parser takes it for the real thing and a copy of it is no call; `restore` takes the joiners out.
This module does not know about calls, judging or prompts.

Laws: `restore(neutralise(x, rows)) == x` for every `x`, joiners included (a joiner that was there is doubled);
`neutralise` is linear in its text; ordinary prose, Markdown and JSON come through unchanged.
Bare JSON is not markup and is left alone: what tells a copy of it from a call is provenance (judge-rules.md 8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .rows import ALL
from .spec import Dialect, Listing, TaggedArgs

JOINER = "\u2060"

CONTROL: tuple[tuple[str, str], ...] = (
    ("<", r"[|｜][^\s|｜<>][^|｜<>\n]{0,60}[|｜]>"),  # <|im_start|> <|eot_id|> <｜tool▁call▁begin｜>
    ("<", r"/?[|｜][a-z]\w{0,40}"),                   # <|channel> <｜DSML｜invoke
    ("<", r"[a-z]\w{0,40}[|｜]"),                     # <channel|> <tool_call|> <ifm|think>
    ("<", r"</?SYS>>"),
    ("<", r"/?(?:s|bos|eos|pad|unk)>"),
    ("<", r"(?:start|end)_of_(?:turn|image|text|role)>"),
    ("<", r"/?(?:seed|mm|minimax|longcat|steptml|atem|rfl):\w"),
    ("<", r"\s{0,4}/?\s{0,4}(?:tool|function)_(?:call|response|result|output)s?\b"),
    ("<", r"/?tools?(?=[ >])"),
    ("<", r"/?(?:antml:)?(?:invoke|parameter)\b"),
    ("<", r"(?:function|parameter)="),
    ("<", r"/?think(?:ing)?>"),
    ("[", r"/?(?:INST|THINK|ARGS|CALL_ID|[A-Z]{3,20}_[A-Z_]{3,20})\]"),
    ("]", r"<\]minimax\[>\["),
)
"""Control tokens by family, as their first character and the pattern of the rest.

Every chat template spells its own, few spell them alike.  Sources: formats.md §3 and §6.1, and the chat templates of
Llama 2-4, Qwen, DeepSeek, Mistral, Gemma, GLM and gpt-oss.
"""

ORDINARY = frozenset({"```json"})
"""Spellings of a row that are everyday text as well; the judge tells those by place and by name."""
TELLING = re.compile(r"[^\W\d_].*[^\w\s]|[^\w\s].*[^\W\d_]", re.DOTALL)
"""A marker worth breaking holds a letter and a sign: a bare bracket, quote or newline is everyday text."""
NAME_IN_TAG = "{name}"
"""Tags that are a tool's name are everyday markup until the tools are known: provenance guards those."""
FIELD = re.compile(r"\{\w+\}")
WORD_ENDS = r"(?!(?<=\w)\w)"
"""After a marker that ends in a letter no letter follows: `<tool ` is not found in `<toolbox>`."""
JOINERS = re.compile(f"{JOINER}({JOINER}?)")


def neutralise(text: str, dialects: Iterable[Dialect] = ALL) -> str:
    """`text` with every marker of `dialects` and every control token broken by a joiner after its first character."""
    doubled = text.replace(JOINER, JOINER + JOINER)
    return _finder(_markers(tuple(dialects))).sub(lambda m: m[0] + JOINER, doubled)


def restore(text: str) -> str:
    """The text that `neutralise` was given."""
    return JOINERS.sub(r"\1", text)


@lru_cache(maxsize=64)
def _markers(dialects: tuple[Dialect, ...]) -> tuple[str, ...]:
    """The telling spellings of the rows, longest first."""
    found = {m.strip() for d in dialects for m in _spellings(d)}
    telling = (m for m in found if m not in ORDINARY and NAME_IN_TAG not in m and TELLING.search(m))
    return tuple(sorted(telling, key=lambda m: (-len(m), m)))


def _spellings(dialect: Dialect) -> Iterable[str]:
    spans = [dialect.section, dialect.call, dialect.tool, dialect.body, *dialect.reasoning]
    if dialect.segments is not None:
        yield from (*dialect.segments.open, *dialect.segments.head, *dialect.segments.close)
    if isinstance(dialect.args, TaggedArgs):
        spans += [dialect.args.key, dialect.args.value]
    yield from (m for s in spans for m in (*s.open, *s.close))
    if dialect.listing is Listing.ARRAY:
        yield from (f"{m.strip()}[" for m in dialect.section.open)  # `functools` alone is everyday text
    yield from dialect.quiet
    if not dialect.result.startswith("{{"):
        yield from FIELD.split(dialect.result)


@lru_cache(maxsize=64)
def _finder(markers: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the first character of any marker, wherever one begins (also inside another).

    The first characters stand in one set, without case, so that the search runs over ordinary text at full speed.
    """
    rests: dict[str, list[str]] = {}
    for first, rest in (*CONTROL, *((m[0], re.escape(m[1:]) + WORD_ENDS) for m in markers)):
        rests.setdefault(first.casefold(), []).append(rest)
    firsts = "".join(sorted({c for f in rests for c in (f, f.upper())}))
    branches = "|".join(f"(?<={re.escape(first)})(?:{'|'.join(tails)})" for first, tails in rests.items())
    return re.compile(f"[{re.escape(firsts)}](?=(?i:{branches}))")
