"""Every table of docs/performance.md: which program writes it, and all of them anew.

    python -m bench                     what there is
    python -m bench --write [NAME ...]  renew these, or all; --with NAME="ARGUMENTS" gives a program more arguments

Tables that need somebody else's programs (a prototype, SGLang's wheel, LiteLLM's proxy, an interpreter with peers) are
renewed as far as they are at hand: what a program needs is said by its own --help.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from bench.table import PAGE

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = {
    "parse_stream": ("bench/parse_stream.py",),
    "parse_stream_unseen": ("bench/parse_stream.py", "--unseen"),
    "stream_peers": ("bench/stream_peers.py",),
    "codecs": ("bench/codecs.py",),
    "load": ("-m", "bench.load"),
    "dialects": ("bench/dialects.py",),
    "import_time": ("bench/import_time.py",),
    "chaos": ("-m", "bench.chaos"),
    "chaos_memory": ("-m", "bench.chaos", "--memory"),
    "soak": ("-m", "bench.soak"),
    "soak_machines": ("-m", "bench.soak.machines"),
    "request": ("-m", "bench.request"),
    "recording": ("-m", "bench.recording"),
    "transport": ("-m", "bench.transport"),
}
"""Table → how it is renewed; those that another writes along are in `ALONG`."""
ALONG = {"hostile": "dialects", "peers": "dialects", "sglang": "dialects"}


def tables() -> list[str]:
    """The tables of the page, in its order."""
    return re.findall(r"<!-- bench:(\w+) -->", PAGE.read_text(encoding="utf-8"))


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__, formatter_class=form)
    options.add_argument("names", nargs="*", help="tables; all, where none are named")
    options.add_argument("--write", action="store_true", help="renew them in docs/performance.md")
    options.add_argument("--with", dest="more", action="append", default=[], metavar="NAME=ARGUMENTS")
    chosen = options.parse_args()
    there = tables()
    if unknown := [name for name in chosen.names if name not in there]:
        options.error(f"no table {unknown[0]!r}; there are {', '.join(there)}")
    programs = dict.fromkeys(ALONG.get(name, name) for name in chosen.names or there)
    more = {name: shlex.split(given) for name, _, given in (one.partition("=") for one in chosen.more)}
    failed = []
    for name in programs:
        command = [*PROGRAMS[name], "--write", *more.get(name, [])]
        print("python", shlex.join(command), flush=True)
        if chosen.write:
            known = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            found = {**os.environ, "PYTHONPATH": known}
            ran = subprocess.run([sys.executable, *command], cwd=ROOT, env=found, check=False)
            failed += [name] if ran.returncode else []
    if failed:
        print(f"not renewed: {', '.join(failed)}; run them alone to see why", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
