"""Many clients for a long time: `python -m bench.soak [--minutes N] [--clients N] [--workers N] [--write]`.

Clients of five APIs ask a model that errs in three answers of ten through `dragoman serve`; some hang up in the middle,
one upstream connection in twenty is reset.  What must hold: every answer that is not hung up on ends and is
read by the official client; memory and sockets of the gateway stay flat; nothing is stuck.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..load.processes import free_port, process
from ..table import machine, publish, table
from .clients import Clients

SETTINGS = """
[server]
port = {port}
workers = {workers}

[limits]
max_concurrent = 512

[providers.weak]
base_url = "{upstream}/v1"
tools = "text"

[default]
route = "weak"
"""


def processes(config: Path) -> list[int]:
    """The processes of the gateway that serves by `config`: the first, and those it has begun."""
    parents: dict[int, int] = {}
    first = 0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            status, line = (path / "stat").read_text(), (path / "cmdline").read_text(errors="replace")
        except OSError:
            continue
        parents[int(path.name)] = int(status.rpartition(")")[2].split()[1])
        if f"--config\0{config}" in line:
            first = int(path.name)
    return [pid for pid in parents if first in (pid, parents[pid])]


def resources(config: Path) -> tuple[float, int]:
    """MB of memory the gateway's processes hold, and their open files."""
    pages = files = 0
    for pid in processes(config):
        pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        files += len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return pages * 4096 / 1e6, files


async def soak(url: str, config: Path, minutes: float, at_once: int) -> tuple[Counter[str], list[list[str]]]:
    """Ask for `minutes`; how the requests ended, and the gateway's resources at eleven moments and afterwards."""
    clients, end = Clients(url, 1), time.monotonic() + minutes * 60
    rows: list[list[str]] = []

    def note(moment: str) -> None:
        held, files = resources(config)
        rows.append([moment, f"{held:.0f}", str(files), f"{clients.ends.total():,}"])
        print(rows[-1], file=sys.stderr, flush=True)

    async def client() -> None:
        while time.monotonic() < end:
            await clients.one()

    async def watch() -> None:
        for moment in range(11):
            await asyncio.sleep(minutes * 6 if moment else 5)
            note(f"{moment * 10} %")

    await asyncio.gather(watch(), *(client() for _ in range(at_once)))
    await asyncio.sleep(6)  # longer than connections are kept for the next request
    note("idle again")
    return clients.ends, rows


def main(argv: Sequence[str] | None = None) -> None:
    """Soak, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(argv)
    ports = free_port(), free_port()
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with (
        tempfile.TemporaryDirectory() as folder,
        process([sys.executable, "-m", "bench.soak.servers", str(ports[0])], urls[0]),
    ):
        config = Path(folder, "dragoman.toml")
        config.write_text(SETTINGS.format(port=ports[1], workers=given.workers, upstream=urls[0]), encoding="utf-8")
        with process([sys.executable, "-m", "dragoman", "serve", "--config", str(config)], urls[1]):
            ends, rows = asyncio.run(soak(urls[1], config, given.minutes, given.clients))
    told = ", ".join(f"{name} {count:,}" for name, count in ends.most_common())
    text = f"{given.minutes:g} minutes, {given.clients} clients; {machine()}.  Ends: {told}.\n\n"
    text += table(("moment", "gateway MB", "open files", "requests"), rows)
    print(text)
    if given.write:
        publish("soak", text)


if __name__ == "__main__":
    main()
