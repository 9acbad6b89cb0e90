"""Right and wrong requests to every operation of our OpenAPI document, made by schemathesis: `make openapi`.

Starts a gateway before the scripted model, asks it, and ends with schemathesis' own status.  `SCHEMATHESIS` names the
program where it is not installed beside the interpreter.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

SERVE = ["-m", "dragoman", "serve", "--demo", "--model", "weak", "--port", "0"]
ASK = ["--checks", "all", "--mode", "all", "--seed", "7", "--continue-on-failure", "--generation-database", "none"]


def _show(lines: Iterator[str]) -> None:
    """Pass on what the gateway logs: a pipe that nobody reads would hold it up."""
    for line in lines:
        print(line, end="", file=sys.stderr)


def main(examples: str) -> int:
    """Ask so many examples of each operation."""
    program = os.environ.get("SCHEMATHESIS") or str(Path(sys.executable).with_name("schemathesis"))
    with subprocess.Popen([sys.executable, *SERVE], stderr=subprocess.PIPE, text=True) as gateway:
        try:
            assert gateway.stderr is not None
            lines = iter(gateway.stderr)
            found = next(filter(None, (re.search(r"listening on (\S+)", line) for line in lines)))
            threading.Thread(target=_show, args=(lines,), daemon=True).start()
            asked = [program, "run", f"{found[1]}/openapi.json", "--max-examples", examples, *ASK]
            return subprocess.run(asked, check=False).returncode
        finally:
            gateway.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "400"))
