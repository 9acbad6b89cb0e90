"""Where tests find files: the repository, the vectors in it, and the recordings beside it (absent in a bare clone)."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
VECTORS = TESTS / "vectors"
RECORDINGS = ROOT.parent / "shared" / "vectors"
