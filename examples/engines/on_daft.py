"""Judge the rows of a file in Daft: `python on_daft.py rows.jsonl`."""

import sys
from pathlib import Path

import daft
import pyarrow as pa

from dragoman.batch.arrow import judge_batch, raw_batch


@daft.func.batch(return_dtype=daft.DataType.string())
def verdict_of(rows: daft.Series) -> pa.Array:
    """The verdict of each raw row; any other column of the judged batch is had the same way."""
    return judge_batch(raw_batch(rows.to_pylist())).column("verdict")


def main(path: str) -> None:
    """Count the verdicts."""
    rows = [line for line in Path(path).read_bytes().splitlines() if line.strip()]
    frame = daft.from_pydict({"orig": rows}).with_column("verdict", verdict_of(daft.col("orig")))
    counted = frame.groupby("verdict").agg(daft.col("orig").count()).sort("verdict").to_pydict()
    for verdict, count in zip(counted["verdict"], counted["orig"], strict=True):
        print(verdict, count)


if __name__ == "__main__":
    main(sys.argv[1])
