"""Texts as models write them around a call: prose with ordinary signs, lists, inline code, fences, tables, reasoning.

Knows nothing of parsers.  `answer(size)` is the visible part, `thought(size)` the reasoning before it; both are made of
paragraphs in an order drawn by a seed, each with words of its own, so that nothing is the same line over and over.
Contract: the same size gives the same text; sizes are in bytes of UTF-8, and what is made is no longer.
"""

from __future__ import annotations

import random

END = "Now I'll write it, since `x < 1` isn't enough [1].\n\n"
"""What is said before a call."""
WORDS = (
    "parser", "cache", "order", "invoice", "reader", "window", "branch", "index", "sample", "ticket", "stream", "table",
    "request", "customer", "session", "token", "module", "record", "budget", "release",
)  # fmt: skip
PARAGRAPHS = (
    "If {0} < {1} (and {1} <= {n}), take the smaller one; \"smaller\" is meant as in [1], not as in C's `min`. It's "
    "fine for {0}[i] & {1}, costs ${n} and is here for half the users.",
    "The {0} keeps a dict{{}} of every {1} — about {n} of them — so it's cheap to ask again. That's why I'd leave it.",
    "Let me look at the {0} first. The {1} may be wrong, but I don't think so: it returned {n} rows, as expected.",
    "- **{0}**: holds the {1}, see `{0}.{1}()`\n- **{1}**: at most {n}, or `None`\n- anything else isn't kept",
    "1. Open the {0} and check that `len({1}) > {n}`.\n2. Don't touch the {1} yet.\n3. Run it again, with `--{0}`.",
    "```python\n{0} = [x for x in {1} if x < {n}]\nfor key, value in {0}.items():\n"
    "    print(f\"{{key}}: {{value!r}}\")\n```",
    "## The {0}\n\nHere's what happens: the {1} is read once → the {0} is built → and {n} entries go out.",
    "It's described in [the docs](https://example.org/{0}?{1}={n}#top), though \"{0}\" is spelt 'the {1}' there.",
    "> Note: the {0} isn't thread-safe; hold the {1}'s lock.\n\nSo for {n} workers we'd need one each.",
    "| {0} | {1} |\n| --- | --- |\n| `{n}` | int |\n| `{1}_id` | str |",
    "What about List<{0}> or Map<String, {1}>? A generic is x -> y; with {n} > 3 & {n} != 7 it's the same thing.",
    "I've compared both: {0} took {n} ms, the {1} 2.5x that (±3%). So: keep the {0}, drop the {1}; \"done\".",
)
THOUGHTS = (
    "Okay, the user wants the {0}. Let me think: I should look at the {1} with `{0}` first, not at all {n} of them.",
    "Wait, is {0} < 0 possible? Hmm... if {1}[0] is \"{0}\", then yes. So I'd check it — it's {n} lines.",
    "The {1} can't be empty here, since the {0} was read before (step {n}). I'll call the tool then.",
    "- maybe the {0} is stale\n- or the {1} isn't there: {{\"{1}\": {n}}}\n\nEither way, I need to look.",
)


def answer(size: int) -> str:
    """Paragraphs of an answer, the last of which says that a call follows; nothing where not even that fits."""
    left = size - len(END)
    return _paragraphs(PARAGRAPHS, left) + END if left >= 0 else ""


def thought(size: int) -> str:
    """Paragraphs of reasoning."""
    return _paragraphs(THOUGHTS, size)


def _paragraphs(kinds: tuple[str, ...], size: int) -> str:
    rng, made, left = random.Random(7), list[str](), size
    deck: list[str] = []
    while True:
        deck = deck or rng.sample(kinds, len(kinds))
        text = deck.pop().format(*rng.sample(WORDS, 2), n=rng.randrange(2, 9999)) + "\n\n"
        left -= len(text.encode())
        if left < 0:
            return "".join(made)
        made.append(text)
