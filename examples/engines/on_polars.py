"""Judge the rows of a file in Polars: `python on_polars.py rows.jsonl`."""

import sys
from pathlib import Path

import polars as pl
import pyarrow as pa

from dragoman.batch.arrow import judge_batch, schema


def judged(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame of raw rows, judged."""
    batches = [judge_batch(batch) for batch in frame.to_arrow().to_batches()]
    return pl.DataFrame(pa.Table.from_batches(batches, schema()))


def main(path: str) -> None:
    """Count the verdicts."""
    rows = [line for line in Path(path).read_bytes().splitlines() if line.strip()]
    raw = pl.DataFrame({"orig": rows, "source": [path] * len(rows), "offset": range(len(rows))})
    types = pl.DataFrame(schema().empty_table()).schema
    verdicts = raw.lazy().map_batches(judged, schema=types).group_by("verdict").len().sort("verdict").collect()
    for verdict, count in verdicts.iter_rows():
        print(verdict, count)


if __name__ == "__main__":
    main(sys.argv[1])
