"""Judge the rows of a file in Spark: `python on_spark.py rows.jsonl` (pyspark 3.3 or later, and Java)."""

import os
import sys

from pyspark.sql import SparkSession

from dragoman.batch.arrow import COLUMNS, judge_batch

TYPES = {"large_string": "string", "large_binary": "binary", "int64": "bigint", "int32": "int", "list": "array<string>"}


def main(path: str) -> None:
    """Count the verdicts."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need dragoman too
    spark = SparkSession.builder.master("local[1]").getOrCreate()
    columns = ", ".join(f"`{name}` {TYPES.get(kind, kind)}" for name, kind in COLUMNS)
    raw = spark.read.text(path).selectExpr("value as orig").where("trim(orig) <> ''")
    judged = raw.mapInArrow(lambda batches: map(judge_batch, batches), columns)
    for row in judged.groupBy("verdict").count().orderBy("verdict").collect():
        print(row["verdict"], row["count"])
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
