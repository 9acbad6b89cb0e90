"""What `import dragoman` costs, and that it brings no HTTP and no server library along.

python bench/import_time.py [--write]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

from table import machine, publish, table

FORBIDDEN = ("aiohttp", "httpx2", "httpx", "starlette", "uvicorn", "click", "rich", "asyncio", "jinja2")
WATCHED = ("dragoman", "dragoman.cli", "dragoman.sim")


def milliseconds(module: str) -> float:
    """The cumulative time of importing `module` in a fresh interpreter."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {module}"], capture_output=True, text=True, check=True
    )
    # `import a.b` tells the time of `a` and of `a.b` on lines of their own; their own children are inside.
    wanted = [module.partition(".")[0], module] if "." in module else [module]
    times = {m[2]: int(m[1]) for m in re.finditer(r"\|\s*(\d+) \|\s+([\w.]+)$", ran.stderr, re.MULTILINE)}
    return sum(times[name] for name in wanted) / 1000


def brought(module: str) -> list[str]:
    """Which of the forbidden libraries `module` imports."""
    code = f"import sys, {module}; print(*[m for m in {FORBIDDEN!r} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=9)
    options.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = options.parse_args()
    rows = [
        [
            f"`import {name}`",
            f"{min(milliseconds(name) for _ in range(chosen.repeats)):.0f}",
            ", ".join(brought(name)) or "none",
        ]
        for name in WATCHED
    ]
    note = f"{machine()}; `-X importtime`, cumulative, best of {chosen.repeats}, fresh interpreters, warm byte code."
    text = table(["", "ms", f"of {', '.join(FORBIDDEN)}"], rows) + "\n\n" + note
    print(text)
    if chosen.write:
        publish("import_time", text)


if __name__ == "__main__":
    main()
