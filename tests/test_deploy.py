"""What `deploy/` and docs/operations.md promise: the files parse, fit the gateway, and name what there is."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from dragoman.cli.serving import PORT, QUIET
from dragoman.gateway import GatewayConfig, create_app
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
