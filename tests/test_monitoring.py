"""The dashboard and the alert rules: what the script writes, about metrics that there are, in queries that parse."""

from __future__ import annotations

import importlib
import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dragoman.gateway.telemetry.metrics import COUNTED
from tests.support.places import ROOT

MADE: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "monitoring.py"))
DASHBOARD = json.loads((ROOT / "deploy/grafana/dragoman.json").read_text(encoding="utf-8"))
RULES_FILE = ROOT / "deploy/prometheus/dragoman.rules.yaml"
ALERTS: list[dict[str, Any]] = yaml.safe_load(RULES_FILE.read_text(encoding="utf-8"))["groups"][0]["rules"]
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
EXPRESSIONS = [*(query.replace("$__rate_interval", "5m") for query in QUERIES), *(alert["expr"] for alert in ALERTS)]
SERIES = re.compile(r"dragoman_(\w+)(?:\{([^}]*)\})?")
SUFFIX = re.compile(r"_(total|bucket|count|sum)$")


def labels_of(name: str) -> set[str] | None:
    """The labels of a series; None where no metric of ours has it."""
    for known, (kind, _, labels) in COUNTED.items():
        suffixes = {"Counter": ("_total",), "Gauge": ("",), "Histogram": ("_bucket", "_count", "_sum")}[kind]
        if name in {f"{known}{suffix}" for suffix in suffixes}:
            return {*labels, "le"}
    return None


def test_the_files_are_those_that_the_script_writes() -> None:
    stale = [str(path.relative_to(ROOT)) for path, text in MADE["files"]().items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]  # fmt: skip
    assert stale == [], "run python scripts/monitoring.py"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_series_and_label_is_of_a_metric_there_is(expression: str) -> None:
    for name, selectors in SERIES.findall(expression):
        known = labels_of(name)
        assert known is not None, f"no metric dragoman_{name}"
        assert {re.split(r"[=!]", each)[0] for each in selectors.split(",") if each} <= known
        for grouped in re.findall(r"by \(([^)]*)\)", expression):
            assert {each.strip() for each in grouped.split(",")} <= known


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_expression_parses(expression: str) -> None:
    pytest.importorskip("promql_parser")
    importlib.import_module("promql_parser").parse(expression)


def test_every_metric_is_drawn() -> None:
    drawn = {SUFFIX.sub("", name) for query in QUERIES for name, _ in SERIES.findall(query)}
    assert drawn == {SUFFIX.sub("", name) for name in COUNTED}


def test_a_metric_that_nobody_drew_gets_a_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    new = {"things": ("Counter", "Things.", ("kind",)), "size": ("Gauge", "Size.", ("kind",)),
           "wait_seconds": ("Histogram", "Waits.", ())}  # fmt: skip
    for name, row in new.items():
        monkeypatch.setitem(COUNTED, name, row)
    others = {panel.title: panel.expressions[0][0] for panel in MADE["_others"]()}
    assert set(others) == set(new)
    assert others["things"] == "sum by (kind) (rate(dragoman_things_total[$__rate_interval]))"


def test_a_metric_or_label_there_is_not_breaks_the_script() -> None:
    for name, labels in (("request", ""), ("requests", 'verdict="mended"')):
        with pytest.raises(KeyError):
            MADE["series"](name, labels)


def test_panels_stand_beside_each_other_and_on_none() -> None:
    taken = set[tuple[int, int]]()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    assert len({alert["alert"] for alert in ALERTS}) == len(ALERTS)
    for alert in ALERTS:
        assert alert["alert"].startswith("Dragoman")
        assert alert["labels"]["severity"] in {"critical", "warning", "info"}
        assert alert["annotations"]["summary"].endswith(".")
        for label in re.findall(r"\$labels\.(\w+)", str(alert["annotations"])):
            assert f"by ({label})" in alert["expr"] or f", {label})" in alert["expr"]


# ── with Prometheus's own tool ───────────────────────────────────────────────

promtool = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(promtool is None, reason="promtool is not installed (Debian: prometheus)")
DAY = 24 * 60
# (alert, series of counters and how much they grow a minute, whether it ever fires)
CASES: list[tuple[str, dict[str, str], bool]] = [
    ("DragomanDown", {'up{job="dragoman"}': "0x120"}, True),
    ("DragomanDown", {'up{job="dragoman"}': "1x120"}, False),
    ("DragomanFailing", {'dragoman_requests_total{status="200"}': "0+80x120",
                         'dragoman_requests_total{status="502"}': "0+20x120"}, True),
    ("DragomanFailing", {'dragoman_requests_total{status="200"}': "0+99x120",
                         'dragoman_requests_total{status="502"}': "0+1x120"}, False),
    ("DragomanFailing", {'dragoman_requests_total{status="502"}': "0+0.1x120"}, False),
    ("DragomanRouteFailing", {'dragoman_upstream_requests_total{route="a",outcome="ok"}': "0+1x120",
                              'dragoman_upstream_requests_total{route="a",outcome="server"}': "0+9x120",
                              'dragoman_upstream_requests_total{route="b",outcome="ok"}': "0+9x120"}, True),
    ("DragomanRouteResting", {'dragoman_route_cooldown_until_timestamp_seconds{route="a"}': "9000x120"}, True),
    ("DragomanRouteResting", {'dragoman_route_cooldown_until_timestamp_seconds{route="a"}': "0x120"}, False),
    ("DragomanSlow", {'dragoman_time_to_first_byte_seconds_bucket{model="m",le="30"}': "0+1x120",
                      'dragoman_time_to_first_byte_seconds_bucket{model="m",le="60"}': "0+9x120",
                      'dragoman_time_to_first_byte_seconds_bucket{model="m",le="+Inf"}': "0+9x120"}, True),
    ("DragomanCallsLost", {'dragoman_tool_calls_total{verdict="accepted"}': "0+6x120",
                           'dragoman_issues_total{kind="unknown_tool"}': "0+4x120"}, True),
    ("DragomanCallsLost", {'dragoman_tool_calls_total{verdict="accepted"}': "0+6x120",
                           'dragoman_issues_total{kind="reasked"}': "0+4x120"}, False),
    ("DragomanReasking", {'dragoman_reasks_total{route="a"}': "0+4x120",
                          'dragoman_upstream_requests_total{route="a",outcome="ok"}': "0+10x120"}, True),
    ("DragomanToolsIgnored", {'dragoman_issues_total{kind="tools_ignored"}': "0x60 1x60"}, True),
    ("DragomanRefusingClients", {'dragoman_requests_total{status="429"}': "0+5x120",
                                 'dragoman_requests_total{status="200"}': "0+5x120"}, True),
    ("DragomanMendsRising", {'dragoman_tool_calls_total{verdict="mended"}': "0+1x1500 1510+10x180"}, True),
    ("DragomanMendsRising", {'dragoman_tool_calls_total{verdict="mended"}': "0+1x1500 1502+2x180"}, False),
    ("DragomanStoreAway", {'dragoman_store_up{store="redis"}': "0x120"}, True),
    ("DragomanStoreAway", {'dragoman_store_up{store="redis"}': "1x120"}, False),
    ("DragomanBackgroundWaits", {'dragoman_background_responses{status="queued"}': "200x120"}, True),
]  # fmt: skip


@needs_promtool
@pytest.mark.slow
def test_prometheus_takes_the_rules_and_they_fire_when_they_should(tmp_path: Path) -> None:
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": series, "values": values} for series, values in inputs.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(count_over_time(ALERTS{{alertname="{alert}",alertstate="firing"}}[{2 * DAY}m]))',
                    "eval_time": f"{2 * DAY}m",
                    "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
                }
            ],
        }
        for alert, inputs, fires in CASES
    ]
    file = tmp_path / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES_FILE)], "evaluation_interval": "1m", "tests": tests}))
    ran = subprocess.run([str(promtool), "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
