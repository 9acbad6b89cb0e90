"""Right and wrong requests to every operation of our OpenAPI document, made by schemathesis: `make openapi`.

Starts a gateway before the scripted model, asks it, and ends with schemathesis' own status.  `SCHEMATHESIS` names the
program where it is not installed beside the interpreter.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

SERVE = ["-m", "dragoman", "serve", "--demo", "--model", "weak", "--port", "0"]
ASK = ["--checks", "all", "--mode", "all", "--seed", "7", "--continue-on-failure", "--generation-database", "none"]


def main(examples: str) -> int:
    """Ask so many examples of each operation."""
    program = os.environ.get("SCHEMATHESIS") or str(Path(sys.executable).with_name("schemathesis"))
    with subprocess.Popen([sys.executable, *SERVE], stderr=subprocess.PIPE, text=True) as gateway:
        try:
            assert gateway.stderr is not None
            found = next(filter(None, (re.search(r"listening on (\S+)", line) for line in gateway.stderr)))
            asked = [program, "run", f"{found[1]}/openapi.json", "--max-examples", examples, *ASK]
            return subprocess.run(asked, check=False).returncode
        finally:
            gateway.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "400"))
