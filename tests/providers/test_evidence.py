"""Every row says on what it rests, and recordings that it names are there."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

from dragoman.providers.endpoints import HAS, RESTS_ON
from dragoman.providers.rows import ROWS
from dragoman.providers.spec import Evidence, EvidenceKind, Provider
from tests.support.recordings import SHARED

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
KINDS = list(EvidenceKind)


@every_row
def test_a_row_says_on_what_it_rests_the_best_first(row: Provider) -> None:
    assert row.evidence
    assert [one.kind for one in row.evidence] == sorted({one.kind for one in row.evidence}, key=KINDS.index)
    assert all(re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", one.read) for one in row.evidence)


FORMS = {
    EvidenceKind.RECORDED: r"[\w.-]+(:\d+)?/[\w./-]+",
    EvidenceKind.SDK: r"[\w-]+ \d+\.\d+\.\d+, [\w./:, -]+",
    EvidenceKind.DOCS: r"https://\S+",
    EvidenceKind.OTHERS: r".+",
}


@pytest.mark.parametrize("one", [*(one for row in ROWS for one in row.evidence), *RESTS_ON.values()])
def test_an_evidence_says_where_it_stands(one: Evidence) -> None:
    assert re.fullmatch(FORMS[one.kind], one.address)


@cache
def _recorded() -> tuple[str, ...]:
    """The addresses of all recordings, without their scheme."""
    lines = (line for path in SHARED.rglob("*.jsonl") for line in path.read_text(encoding="utf-8").splitlines())
    rows = (json.loads(line) for line in lines if '"url"' in line)
    given = (row.get("url") for row in rows if isinstance(row, dict))
    return tuple({url.partition("://")[2] for url in given if isinstance(url, str)})


@every_row
def test_what_a_row_says_was_recorded_is_among_the_recordings(row: Provider) -> None:
    if not SHARED.exists():
        pytest.skip("the recordings are not here")
    claimed = [one.address for one in row.evidence if one.kind is EvidenceKind.RECORDED]
    assert [address for address in claimed if not any(url.startswith(address) for url in _recorded())] == []


def test_every_row_of_endpoints_says_on_what_it_rests() -> None:
    assert set(RESTS_ON) == set(HAS)
    assert set(HAS) <= {row.name for row in ROWS}
