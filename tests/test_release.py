"""What a release promises: the package holds what it should, the public files parse and say what is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [p for p in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if p.stem != "config"]
PAGES = ("CONTRIBUTING.md", "SECURITY.md")
PLACE = re.compile(r"`((?:src|tests|docs|bench|scripts)/[\w./-]+)")
TYPES = {"textarea", "input", "dropdown", "checkboxes", "markdown"}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_public_ci_runs_what_ci_runs_here_on_every_promised_python() -> None:
    jobs = load(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    assert any(step.get("run") == ".ci/run" for step in jobs["all"]["steps"])
    promised = {c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+", c)}
    assert set(jobs["all"]["strategy"]["matrix"]["python"]) == promised


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_names_programs_that_are_there_and_rights_it_needs(path: Path) -> None:
    flow = load(path)
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            program = step.get("run", "").split(" ")[0]
            assert program in {"", "python"} or os.access(ROOT / program, os.X_OK), program


@pytest.mark.parametrize("path", FORMS, ids=lambda p: p.stem)
def test_an_issue_form_has_fields_of_known_kinds_with_ids_of_their_own(path: Path) -> None:
    form = load(path)
    assert form["name"]
    assert form["description"]
    fields = form["body"]
    assert {field["type"] for field in fields} <= TYPES
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_for_contributors_names_places_that_exist(page: str) -> None:
    named = PLACE.findall((ROOT / page).read_text(encoding="utf-8"))
    assert named
    assert not [place for place in named if not (ROOT / place).exists()]


@pytest.mark.slow
def test_the_sdist_and_the_wheel_hold_the_package_and_pass_the_index_check(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False, env={**os.environ, "PIP_NO_INDEX": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    check = [sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(tmp_path.iterdir()))]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel], [sdist] = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("dragoman/")}
    source = ROOT / "src"
    files = {p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file() and p.suffix != ".pyc"}
    assert held == files
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "tests/test_layers.py"} <= names
