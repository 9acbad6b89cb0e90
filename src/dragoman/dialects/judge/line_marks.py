"""How a line begins that outlasts itself: another party's turn, a fence, a diff, a listing, a block that quotes.

Knows these signs as one pattern; nothing of what they open, or of dialects.
"""

from __future__ import annotations

LINE_MARKS = (
    r"(?=[`~@+#*_UHI\[{.])(?:\.(?:[. ]?\w|[^\s.])|`{3}|~{3}|@@|\+{3}|#\+"
    r"|(?:#{1,6}[ \t]*+)?(?:[*_]{2})?(?:User|USER|Human|HUMAN|Instruction)"
    r"|\[(?:source|listing|literal|example|quote|verse)\b|\{(?i:code|noformat|quote)\b)"
)
"""Their first signs come once more before the choice, for most lines begin with none of them."""
