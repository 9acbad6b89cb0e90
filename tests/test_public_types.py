"""How much of the package's interface an editor knows: the measure of `pyright --verifytypes`, and completion by jedi.

Neither is needed to work on the package; where one is not installed, its tests are left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dragoman
from tests.support import places

COMPLETE = 0.99
"""Share of the public names whose type a checker need not guess."""
PACKAGES = {
    "dragoman.": dragoman.__all__,
    "dragoman.gateway.": ["GatewayConfig", "Limits", "create_app", "discover", "serve"],
    "from dragoman.codecs import ": ["decode", "decode_stream", "encode_definitions"],
    "dragoman.dialects.": ["learn"],
    "dragoman.Client().": ["close", "resume", "run", "stream", "turn"],
    "dragoman.parse('').": ["calls", "doubtful", "issues", "parts", "reasoning", "text"],
}


@pytest.mark.slow
def test_type_checkers_know_the_public_interface() -> None:
    if shutil.which("pyright") is None:
        pytest.skip("pyright is not installed: pip install pyright, which needs Node")
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PYTHONPATH": str(places.ROOT / "src"), "PATH": here}
    command = ["pyright", "--verifytypes", "dragoman", "--ignoreexternal", "--outputjson"]
    ran = subprocess.run(command, env=environ, cwd=places.ROOT, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(ran.stdout)["typeCompleteness"]
    assert Path(found["packageRootDirectory"]) == places.ROOT / "src" / "dragoman"
    unknown = [each["name"] for each in found["symbols"] if each["isExported"] and not each["isTypeKnown"]]
    assert found["completenessScore"] >= COMPLETE, unknown


@pytest.mark.parametrize("typed", PACKAGES)
def test_editors_complete_names_that_are_not_loaded_yet(typed: str) -> None:
    jedi = pytest.importorskip("jedi")
    script = jedi.Script(f"import dragoman\n{typed}", project=jedi.Project(places.ROOT / "src"))
    assert {*PACKAGES[typed]} <= {each.name for each in script.complete()}


@pytest.mark.parametrize("package", ["dragoman", "dragoman.gateway", "dragoman.dialects"])
@pytest.mark.costly
def test_a_prompt_completes_every_name_without_loading_it(package: str) -> None:
    code = (
        "import rlcompleter, sys; from importlib import import_module as load;"
        f"name = {package!r}; load(name); space = {{'dragoman': sys.modules['dragoman']}};"
        "names = rlcompleter.Completer(space).attr_matches(name + '.');"
        "print('\\n'.join(each.rstrip('()') for each in names))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    promised = {f"{package}.{name}" for name in PACKAGES[f"{package}."] if not name.startswith("_")}
    assert promised <= {*ran.stdout.split()}
