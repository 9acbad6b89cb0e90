"""Judge the rows of a file in DuckDB's streams of Arrow batches: `python on_duckdb.py rows.jsonl`."""

import sys
from pathlib import Path

import duckdb
import pyarrow as pa

from dragoman.batch.arrow import judge_batch, raw_batch, schema


def main(path: str) -> None:
    """Count the verdicts, in SQL."""
    rows = [line for line in Path(path).read_bytes().splitlines() if line.strip()]
    raw = pa.Table.from_batches([raw_batch(rows, path)])  # noqa: F841  SQL names it
    stream = duckdb.connect().sql('select orig, source, "offset" from raw').to_arrow_reader(1000)
    judged = pa.RecordBatchReader.from_batches(schema(), map(judge_batch, stream))  # noqa: F841
    counted = duckdb.connect().sql("select verdict, count(*) from judged group by verdict order by verdict")
    for verdict, count in counted.fetchall():
        print(verdict, count)


if __name__ == "__main__":
    main(sys.argv[1])
