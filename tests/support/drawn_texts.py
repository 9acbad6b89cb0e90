"""Texts of a few words and marks, drawn: mostly prose, with what calls are made of among it."""

from __future__ import annotations

import random

SAID = """It can stay as he said; what we'd change is one line. function call tool action Action: Observation: final
read_file bash search web.search print read_file( bash: ls print( [x] [1] [TOOL the `code` ``` ~~~ * - # 1. > | & ' " “ ”
Thought: thought call_tool @ @bash $ } ] ) , . : ; ! ? – é 日本 Tool: tool_call name arguments /bash /read analysis commentary
to=functions json python Final Answer: Input: Action Input: Assistant: User: think <x { [/ system user assistant"""
WORDS = SAID.split()
GLUE = (" ", " ", " ", " ", "\n", "\n\n", "\n  ", "", "\r\n", "\t")


def drawn(seed: int) -> str:
    """The text of this number."""
    chance = random.Random(seed)
    words = chance.sample(WORDS, 12) if seed % 3 else WORDS[:12]
    return "".join(chance.choice(words) + chance.choice(GLUE) for _ in range(chance.randrange(1, 24)))
