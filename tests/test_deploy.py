"""What `deploy/` and docs/operations.md promise: the files parse, fit the gateway, and name what there is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dragoman.cli.serving import PORT, QUIET
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.config.environment import VARIABLES
from dragoman.gateway.config.load import read
from dragoman.gateway.telemetry.metrics import COUNTED
from tests.support.asgi import call
from tests.support.places import ROOT

DEPLOY, OPERATIONS = ROOT / "deploy", (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
KEY = {"DRAGOMAN_KEY": "a-key-of-a-client"}
PARTS: dict[str, Any] = {row["kind"]: row for row in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}
POD = PARTS["Deployment"]["spec"]["template"]["spec"]


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


SETTINGS = {
    "compose": (DEPLOY / "dragoman.toml").read_text(),
    "kubernetes": PARTS["ConfigMap"]["data"]["dragoman.toml"],
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=list(SETTINGS))
def test_the_settings_are_right_and_ask_for_a_key(text: str) -> None:
    settings = read(tomllib.loads(text), KEY)
    assert settings.config.default is not None
    assert len(settings.config.access) == 1


def test_the_time_to_end_is_longer_than_draining_takes() -> None:
    drains = {name: read(tomllib.loads(text), KEY).server.drain_seconds for name, text in SETTINGS.items()}
    ends = {
        "compose": int(compose()["services"]["dragoman"]["stop_grace_period"].removesuffix("s")),
        "kubernetes": POD["terminationGracePeriodSeconds"],
    }
    assert all(ends[name] > drains[name] + QUIET["timeout_graceful_shutdown"] for name in drains)
    probe = POD["containers"][0]["readinessProbe"]
    assert drains["kubernetes"] > probe["periodSeconds"] * probe["failureThreshold"]


def test_the_probes_are_served() -> None:
    (container,) = POD["containers"]
    app = create_app(GatewayConfig())
    for probe in ("livenessProbe", "readinessProbe"):
        assert call(app, container[probe]["httpGet"]["path"], method="GET").status == 200


def test_everybody_means_the_same_port() -> None:
    written = (DEPLOY / "Containerfile").read_text() + (DEPLOY / "compose.yaml").read_text()
    ports = re.findall(r"EXPOSE (\d+)|--port\", \"(\d+)|127\.0\.0\.1:(\d+)|:(\d+):(\d+)", written)
    assert {int(number) for row in ports for number in row if number} == {PORT}
    assert POD["containers"][0]["ports"][0]["containerPort"] == PORT


def test_what_is_copied_into_the_image_is_there() -> None:
    for line in re.findall(r"^COPY (?!--)(.*) \S+$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE):
        assert all((ROOT / name).exists() for name in line.split())


def test_the_document_names_every_metric_with_its_labels() -> None:
    for name, (kind, _, labels) in COUNTED.items():
        shown = f"{name}_total" if kind == "Counter" else name
        assert f"| `{shown}` | {', '.join(f'`{label}`' for label in labels)} |" in OPERATIONS


def test_the_files_the_document_names_are_there() -> None:
    named = set(re.findall(r"`((?:deploy|docs)/[\w./]+)`", OPERATIONS))
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


# ── what several gateways share ──────────────────────────────────────────────

SHARED = yaml.safe_load((DEPLOY / "compose.shared.yaml").read_text(encoding="utf-8"))


def test_what_the_services_wait_for_and_mount_is_there() -> None:
    services = {**compose()["services"], **SHARED["services"]}
    volumes = {*compose()["volumes"], *SHARED["volumes"]}
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in volumes
        for config in service.get("configs", ()):
            assert config["source"] in SHARED["configs"]


def test_whatever_is_waited_for_says_when_it_is_healthy() -> None:
    services = {**compose()["services"], **SHARED["services"]}
    for service in (*compose()["services"].values(), *SHARED["services"].values()):
        conditions = service.get("depends_on", {})
        for name, row in conditions.items() if isinstance(conditions, dict) else ():
            assert row["condition"] == "service_healthy"
            assert "healthcheck" in services[name]


def test_the_gateway_takes_what_its_variables_say() -> None:
    given = {**SHARED["services"]["dragoman"]["environment"], **KEY}
    assert set(given) - set(KEY) <= set(VARIABLES)
    given["DRAGOMAN_STATE_KEY"] = given["POSTGRES_PASSWORD"] = "a" * 64
    settings = read(tomllib.loads(SETTINGS["compose"]), given)
    assert settings.server.state == "redis://redis:6379/0"
    assert settings.server.namespace == "compose"


def test_no_secret_stands_in_a_file() -> None:
    text = (DEPLOY / "compose.shared.yaml").read_text(encoding="utf-8")
    for name in ("DRAGOMAN_STATE_KEY", "POSTGRES_PASSWORD"):
        assert f"${{{name}:?set {name} to" in text
    assert SHARED["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith("${")


def test_only_this_machine_reaches_what_is_published() -> None:
    for service in (*compose()["services"].values(), *SHARED["services"].values()):
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_prometheus_scrapes_the_job_that_the_rules_know() -> None:
    settings = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    (job,) = settings["scrape_configs"]
    assert f'job="{job["job_name"]}"' in (DEPLOY / "prometheus" / "dragoman.rules.yaml").read_text(encoding="utf-8")
    assert job["static_configs"][0]["targets"] == [f"dragoman:{PORT}"]
    (key,) = SHARED["services"]["prometheus"]["configs"]
    assert job["authorization"]["credentials_file"] == key["target"]
    mounted = {mount.split(":")[1] for mount in SHARED["services"]["prometheus"]["volumes"]}
    assert set(settings["rule_files"]) <= mounted


# ── what the image is made of ────────────────────────────────────────────────

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
EXTRAS = (DEPLOY / "extras.txt").read_text(encoding="utf-8").split()
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", re.MULTILINE)
CYCLONEDX = shutil.which("cyclonedx-py") or shutil.which("cyclonedx-py", path=str(Path(sys.executable).parent))


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Package → its version and the number of its hashes."""
    text = (DEPLOY / name).read_text(encoding="utf-8")
    found: dict[str, tuple[str, int]] = {
        canonicalize_name(row[1]): (row[2], row[3].count("sha256:")) for row in LOCKED.finditer(text)
    }
    assert len(found) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE)), "a line that is no locked package"
    return found


@pytest.mark.parametrize("name", ["requirements.lock", "build.lock"])
def test_every_package_has_one_version_and_hashes(name: str) -> None:
    assert all(hashes for _, hashes in locked(name).values())


def test_the_lock_is_of_what_the_package_asks_for() -> None:
    asked = [*PROJECT["project"]["dependencies"]]
    for extra in EXTRAS:
        asked += PROJECT["project"]["optional-dependencies"][extra]
    found = locked("requirements.lock")
    for requirement in map(Requirement, asked):
        version, _ = found[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"run scripts/lock: {requirement} is locked at {version}"


def test_the_tools_that_build_are_locked_too() -> None:
    wanted = {*PROJECT["build-system"]["requires"], *(DEPLOY / "build.in").read_text(encoding="utf-8").split()}
    assert {Requirement(each).name for each in wanted} <= set(locked("build.lock"))


def test_the_image_takes_nothing_that_is_not_locked() -> None:
    installs = re.findall(r"pip install ([^\n\\&]*)", CONTAINERFILE)
    assert installs
    assert all("--require-hashes" in each or "--no-deps --no-index" in each for each in installs)
    assert "PIP_ONLY_BINARY=:all:" in CONTAINERFILE
    assert "--output-file /opt/dragoman/sbom.cdx.json" in CONTAINERFILE


@pytest.mark.skipif(CYCLONEDX is None, reason="cyclonedx-py is not installed (pip install cyclonedx-bom)")
@pytest.mark.slow
def test_the_bill_of_materials_names_every_package_and_is_always_the_same(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.json", "two.json")]
    for file in files:
        command, environ = [str(ROOT / "scripts" / "sbom"), str(file)], {"CYCLONEDX": str(CYCLONEDX), "PATH": "/usr/bin:/bin"}
        subprocess.run(command, check=True, capture_output=True, env=environ)
    assert files[0].read_bytes() == files[1].read_bytes()
    made = json.loads(files[0].read_text(encoding="utf-8"))
    assert (made["bomFormat"], made["metadata"]["component"]["name"]) == ("CycloneDX", "dragoman")
    named = {canonicalize_name(each["name"]): each["version"] for each in made["components"]}
    assert named == {name: version for name, (version, _) in locked("requirements.lock").items()}
    assert all(each["purl"].startswith("pkg:pypi/") for each in made["components"])
