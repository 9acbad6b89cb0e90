"""Where tests find files: the repository, the vectors in it, and the recordings beside it (absent in a bare clone).

A second working tree of the repository finds the recordings beside the first, further up.
"""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
VECTORS = TESTS / "vectors"
BESIDE = [place / "shared" / "vectors" for place in ROOT.parents]
RECORDINGS = next(filter(Path.exists, BESIDE), BESIDE[0])
