"""Installing clients, each into a folder of its own, once.

The folders are below $DRAGOMAN_CLIENTS_CACHE.  Contract: a folder is used again when its packages are the ones asked
for; one that was not finished is made anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CACHE = Path(os.environ.get("DRAGOMAN_CLIENTS_CACHE") or Path.home() / ".cache" / "dragoman-clients")
DONE = "installed.json"
NODE = "node@22"


class Missing(Exception):
    """Something a client needs is not on this machine."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client is installed."""

    root: Path
    bin: Path

    def version(self, package: str) -> str:
        """The version of a package that is really there."""
        bare = re.sub(r"\[.*|[=<>!~].*|(?<=.)@[^/]*$", "", package)
        manifest = self.root / "node_modules" / bare / "package.json"
        if manifest.exists():
            return str(json.loads(manifest.read_text())["version"])
        code = f"from importlib.metadata import version; print(version({bare!r}))"
        return subprocess.run(
            [self.bin / "python", "-c", code], capture_output=True, text=True, check=False
        ).stdout.strip()


def installed(name: str, registry: str, packages: Sequence[str], python: str = "") -> Place:
    """The client, installed if it is not yet.  Raises Missing."""
    root = CACHE / name
    place = Place(root, root / "node_modules" / ".bin" if registry == "npm" else root / "bin")
    done = root / DONE
    if done.exists() and json.loads(done.read_text()) == list(packages):
        return place
    interpreter = _interpreter(python)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for words in _npm(root, packages) if registry == "npm" else _pip(root, packages, interpreter):
        print(f"installing {name} …", file=sys.stderr, flush=True)
        run = subprocess.run(words, capture_output=True, text=True, check=False)
        if run.returncode:
            raise Missing(f"could not be installed: {(run.stderr or run.stdout).strip()[-200:]}")
    done.write_text(json.dumps(list(packages)))
    return place


def _interpreter(name: str) -> str:
    """A Python that really starts: version managers put commands on the path that only say how to get one."""
    for folder in os.get_exec_path() if name else ():
        found = shutil.which(name, path=folder)
        if found and not subprocess.run([found, "--version"], capture_output=True, check=False).returncode:
            return found
    if name:
        raise Missing(f"needs {name}, which is not on the path")
    return sys.executable


def _npm(root: Path, packages: Sequence[str]) -> list[list[str]]:
    return [["npm", "install", "--prefix", str(root), "--no-audit", "--no-fund", *packages]]


def _pip(root: Path, packages: Sequence[str], interpreter: str) -> list[list[str]]:
    if uv := shutil.which("uv"):  # several times as fast
        return [
            [uv, "venv", "--quiet", "--seed", "--python", interpreter, str(root)],
            [uv, "pip", "install", "--quiet", "--python", str(root / "bin" / "python"), *packages],
        ]
    return [
        [interpreter, "-m", "venv", str(root)],
        [str(root / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages],
    ]


@cache
def node_bin() -> Path:
    """The folder of a Node that is new enough for every client."""
    return installed("node", "npm", [NODE]).bin
