"""Text in colours: what a stretch of text is, shown in a terminal, in a notebook and on the inspector's page.

One table of kinds holds the words, signs and colours of all three.  Knows stretches, their kinds, and the fields of a
report; nothing of judging or where the text comes from.
Contract: the text shown is the text given, escaped where the place has markup; HTML holds no script, no address and no
class, for a notebook has its own; nothing of `rich` is imported, a terminal's console is used as it comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .records import NamedTuple, dataclass
from .report_words import edit_words, evidence_words


class Piece(NamedTuple):
    """A stretch of text, its kind (a name of `KINDS`), and what is said of it where the mouse rests on it."""

    text: str
    kind: str = "text"
    title: str = ""


class Pair(NamedTuple):
    """A colour on a light ground, and the same on a dark one."""

    light: str
    dark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How one kind of text is shown: words, a sign, a terminal's style; ink, ground and line of a page."""

    says: str
    sign: str = ""
    terminal: str = ""
    ink: Pair | None = None
    back: Pair | None = None
    line: str = ""
    css: str = ""


SOFT, RAISED = Pair("#58626f", "#98a3b0"), Pair("#eef0f3", "#21262e")
KINDS: Mapping[str, Kind] = {
    "text": Kind(says="text"),
    "reasoning": Kind(
        says="reasoning", terminal="italic", ink=Pair("#6d44a8", "#c2a5f0"), css="font-style: italic",
    ),
    "markup": Kind(says="markup", terminal="dim", ink=SOFT, back=RAISED),
    "accepted": Kind(
        says="call, as written", sign="✓", terminal="bold green", line="solid",
        ink=Pair("#12692f", "#6fd08c"), back=Pair("#dff3e4", "#14351f"),
    ),
    "mended": Kind(
        says="call, mended", sign="~", terminal="bold yellow", line="dashed",
        ink=Pair("#855300", "#f0bd5e"), back=Pair("#fdf0d2", "#3b2d10"),
    ),
    "doubtful": Kind(
        says="call in doubt", sign="?", terminal="bold magenta", line="dashed",
        ink=Pair("#9a1a68", "#f39bd0"), back=Pair("#fbe4f1", "#421a36"),
    ),
    "refused": Kind(
        says="call, refused", sign="✕", terminal="bold red", line="double",
        ink=Pair("#b3221d", "#ff9089"), back=Pair("#fce4e2", "#441c1a"),
    ),
    "quoted": Kind(
        says="not meant as a call", sign="“”", terminal="cyan", line="dotted",
        ink=Pair("#0b6377", "#71cde2"), back=Pair("#dbf1f6", "#123540"),
    ),
    "dropped": Kind(
        says="taken out", sign="–", terminal="dim", ink=SOFT, back=RAISED, css="text-decoration: line-through",
    ),
}  # fmt: skip
"""Every kind of text there is.  Colour alone says nothing: each verdict has a sign and a line of its own."""


# ── a page ───────────────────────────────────────────────────────────────────


def stylesheet() -> str:
    """The kinds as CSS: variables `--KIND` and `--KIND-back`, and the classes `span-KIND` and `chip is-KIND`."""
    variables = "".join(
        f"  --{name}{suffix}: {_both(pair)};\n"
        for name, kind in KINDS.items()
        for suffix, pair in (("", kind.ink), ("-back", kind.back))
        if pair is not None
    )
    return f":root {{\n{variables}}}\n" + "".join(_rules(name, kind) for name, kind in KINDS.items())


def _rules(name: str, kind: Kind) -> str:
    ink = f"color: var(--{name}); " if kind.ink else ""
    back = f"background: var(--{name}-back); " if kind.back else ""
    line = f"border-bottom: 2px {kind.line} var(--{name}); " if kind.line else ""
    more = f"{kind.css}; " if kind.css else ""
    chip = f".chip.is-{name} {{ {ink}{back}}}\n" if kind.line else ""
    return f".span-{name} {{ {ink}{back}{line}{more}}}\n{chip}"


def _both(pair: Pair) -> str:
    return f"light-dark({pair.light}, {pair.dark})"


# ── a notebook ───────────────────────────────────────────────────────────────

PAPER, INK = Pair("#ffffff", "#14171c"), Pair("#1b2027", "#dfe4ea")
ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
"""As `html.escape` does, without the two thousand names of characters that come with it."""
BOX = "margin:0;padding:6px 8px;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.5;border-radius:6px;"


def html(pieces: Iterable[Piece]) -> str:
    """The pieces as one block of HTML."""
    style = f"{BOX}{_colour('color', INK)}{_colour('background-color', PAPER)}"
    return f'<pre style="{style}">{"".join(map(_span, pieces))}</pre>'


def _span(piece: Piece) -> str:
    style = _style(KINDS[piece.kind])
    text, title = piece.text.translate(ESCAPED), piece.title.translate(ESCAPED)
    title = f' title="{title}"' if title else ""
    return f'<span style="{style}"{title}>{text}</span>' if style or title else text


def _style(kind: Kind) -> str:
    """Ink and ground always together, so that the text can be read on any page."""
    ink = _colour("color", kind.ink) if kind.ink else ""
    back = _colour("background-color", kind.back) if kind.back else ""
    line = f"border-bottom:2px {kind.line};" if kind.line else ""
    return f"{ink}{back}{line}{kind.css.replace(': ', ':')}{';' if kind.css else ''}"


def _colour(name: str, pair: Pair) -> str:
    """For browsers that know no `light-dark` the light one, which they keep when they skip the other."""
    return f"{name}:{pair.light};{name}:{_both(pair).replace(' ', '')};"


# ── a terminal ───────────────────────────────────────────────────────────────


def terminal(pieces: Iterable[Piece], console: Any) -> Any:
    """The pieces as rich's text, made by rich's `console` itself."""
    text = console.render_str("", markup=False, emoji=False, highlight=False)
    for piece in pieces:
        text.append(piece.text, KINDS[piece.kind].terminal)
    return text


# ── values ───────────────────────────────────────────────────────────────────


def report_pieces(report: Any) -> Iterator[Piece]:
    """A report: verdict, rule and reason, then a line for each piece of evidence and each mend."""
    verdict = str(report.verdict)
    yield Piece(f"{KINDS[verdict].sign} {verdict}", verdict)
    yield Piece(f" {': '.join(filter(None, (report.rule, report.reason)))}\n")
    if report.dialect:
        yield Piece(f"  written in: {report.dialect}\n", "markup")
    yield from (Piece(f"  {label}: {words}\n", "markup") for label, words in evidence_words(report.evidence))
    mends = (edit_words(edit.kind, edit.path, edit.before, edit.after) for edit in report.edits)
    yield from (Piece(f"  {mend}\n", "mended") for mend in mends)


def marked(text: str, marks: Iterable[tuple[int, int, str, str]]) -> Iterator[Piece]:
    """A text with marks in it: (start, end, kind, title); of those that overlap the first counts."""
    at = 0
    for start, end, kind, title in sorted(marks):
        if at <= start < end <= len(text):
            yield Piece(text[at:start])
            yield Piece(text[start:end], kind, title)
            at = end
    yield Piece(text[at:])


class Displayed:
    """A value that shows itself in colours, in notebooks and by rich; `_display_` says what there is to see."""

    __slots__ = ()

    def _display_(self) -> Iterable[Piece]:
        """The pieces, in order."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The value in a notebook."""
        return html(self._display_())

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield terminal(self._display_(), console)
