"""Write Grafana's dashboard and Prometheus's alert rules from the gateway's own table of metrics.

Run it as `python scripts/monitoring.py`.

`deploy/grafana/dragoman.json` and `deploy/prometheus/dragoman.rules.yaml`, and the copies that the Helm chart installs.
A metric is named by its row in `COUNTED`: one that is renamed there breaks this script, not a dashboard at three in the
morning; one that no panel names gets a panel of its own under *Others*.  Tests hold the files to what this writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dragoman.gateway.telemetry.metrics import COOLDOWN, COUNTED
from dragoman.types import IssueKind, Verdict

ROOT = Path(__file__).parent.parent
DASHBOARDS = (ROOT / "deploy/grafana/dragoman.json", ROOT / "deploy/helm/dragoman/files/dashboard.json")
RULES = (ROOT / "deploy/prometheus/dragoman.rules.yaml", ROOT / "deploy/helm/dragoman/files/rules.yaml")
OPERATIONS = "docs/operations.md"
LOST = "|".join((IssueKind.UNKNOWN_TOOL, IssueKind.INVALID_ARGUMENTS, IssueKind.MALFORMED, IssueKind.TRUNCATED))
"""Issues that stand for a call nobody will run."""
SUFFIXES = {"Counter": "_total", "Gauge": "", "Histogram": "_bucket"}


def series(name: str, labels: str = "") -> str:
    """The series of one of our metrics, with its selectors.  Raises KeyError for one that there is not."""
    kind, _, known = COUNTED[name]
    unknown = {part.split("=")[0].rstrip("!~") for part in labels.split(",") if part} - {*known, "le"}
    if unknown:
        raise KeyError(f"{name} has no label {', '.join(sorted(unknown))}")
    written = f"dragoman_{name}{SUFFIXES[kind]}"
    return f"{written}{{{labels}}}" if labels else written


def exactly(label: str, value: str) -> str:
    """The selector of one value."""
    return f'{label}="{value}"'


def like(label: str, value: str) -> str:
    """The selector of a pattern."""
    return f'{label}=~"{value}"'


def per_second(name: str, labels: str = "", by: str = "", over: str = "$__rate_interval") -> str:
    """How often, by these labels."""
    grouped = f" by ({by})" if by else ""
    return f"sum{grouped} (rate({series(name, labels)}[{over}]))"


def quantile(of: float, name: str, labels: str = "", by: str = "", over: str = "$__rate_interval") -> str:
    """A quantile of a histogram."""
    grouped = f"le, {by}" if by else "le"
    return f"histogram_quantile({of}, sum by ({grouped}) (rate({series(name, labels)}[{over}])))"


@dataclass(frozen=True)
class Panel:
    """One panel: expressions with their legends, and the unit of what they give."""

    title: str
    expressions: tuple[tuple[str, str], ...]
    unit: str = "short"
    kind: str = "timeseries"
    about: str = ""


MODEL, ROUTE = like("model", "$model"), like("route", "$route")
MODEL_AND_ROUTE = f"{MODEL},{ROUTE}"
CACHED, INPUT = (f'{MODEL_AND_ROUTE},{exactly("type", kind)}' for kind in ("cached", "input"))
LOSSES = per_second("issues", like("kind", LOST))
ROWS: tuple[tuple[str, tuple[Panel, ...]], ...] = (
    ("At a glance", (
        Panel("Requests", ((per_second("requests", MODEL), "requests"),), "reqps", "stat"),
        Panel("Failed", ((f'{per_second("requests", MODEL + "," + like("status", "5.."))} '
                          f'/ {per_second("requests", MODEL)}', "5xx"),), "percentunit", "stat"),
        Panel("First byte, 95 %", ((quantile(0.95, "time_to_first_byte_seconds", MODEL), "p95"),), "s", "stat"),
        Panel("Calls mended or lost", ((
            f'({per_second("tool_calls", exactly("verdict", Verdict.MENDED))} + {LOSSES}) '
            f'/ ({per_second("tool_calls")} + {LOSSES})', "share"),),
            "percentunit", "stat", "What a plain gateway would have passed on broken."),
    )),
    ("Requests", (
        Panel("Requests by status", ((per_second("requests", MODEL, "status"), "{{status}}"),), "reqps"),
        Panel("Requests by model", ((per_second("requests", MODEL, "model"), "{{model}}"),), "reqps"),
        Panel("Duration", tuple((quantile(of, "request_duration_seconds", MODEL), f"p{of * 100:g}")
                                for of in (0.5, 0.95, 0.99)), "s"),
        Panel("First byte", tuple((quantile(of, "time_to_first_byte_seconds", MODEL), f"p{of * 100:g}")
                                  for of in (0.5, 0.95, 0.99)), "s"),
        Panel("In flight", ((f'sum by (front) ({series("in_flight_requests")})', "{{front}}"),)),
        Panel("In the background", ((f'sum by (status) ({series("background_responses")})', "{{status}}"),)),
    )),
    ("Tool calls", (
        Panel("Calls by verdict", ((per_second("tool_calls", "", "verdict"), "{{verdict}}"),), "cps"),
        Panel("Calls by dialect", ((per_second("tool_calls", "", "dialect, tier"), "{{dialect}} ({{tier}})"),), "cps"),
        Panel("Mends by kind", ((per_second("edits", "", "kind"), "{{kind}}"),), "cps"),
        Panel("Issues by kind", ((per_second("issues", "", "kind"), "{{kind}}"),), "cps"),
        Panel("Re-asks", ((per_second("reasks", MODEL_AND_ROUTE, "route"), "{{route}}"),), "cps",
              about="What asking again costs: one more upstream request each."),
        Panel("Calls in doubt", ((per_second("questions", MODEL_AND_ROUTE, "said"), "{{said}}"),), "cps"),
        Panel("Tools ignored: tests", ((per_second("tool_checks", MODEL_AND_ROUTE, "route, kind"),
                                        "{{route}} {{kind}}"),), "cps"),
        Panel("Server tools", ((per_second("server_tool_calls", "", "tool, outcome"), "{{tool}} {{outcome}}"),), "cps"),
    )),
    ("Providers", (
        Panel("Upstream requests by outcome",
              ((per_second("upstream_requests", ROUTE, "route, outcome"), "{{route}} {{outcome}}"),), "reqps"),
        Panel("Share of requests", ((f'{per_second("upstream_requests", ROUTE, "route")} '
                                     f'/ scalar({per_second("upstream_requests", ROUTE)})', "{{route}}"),),
              "percentunit", about="How the routes of a model share its requests (balance)."),
        Panel("In flight at providers", ((f'sum by (route) ({series("upstream_in_flight_requests", ROUTE)})',
                                          "{{route}}"),)),
        Panel("Upstream duration, 95 %", ((quantile(0.95, "upstream_duration_seconds", ROUTE, "route"), "{{route}}"),),
              "s"),
        Panel("Routes that rest: seconds left", ((f'clamp_min(max by (route) ({series(COOLDOWN, ROUTE)}) - time(), 0)',
                                                  "{{route}}"),), "s"),
        Panel("Tokens", ((per_second("tokens", MODEL_AND_ROUTE, "type"), "{{type}}"),), "short"),
        Panel("Recorded, and dropped", (
            (per_second("recordings"), "recorded"),
            (per_second("recordings_dropped", by="reason"), "dropped: {{reason}}"),
        )),
        Panel("Input tokens from a cache", ((
            f'{per_second("tokens", CACHED, "route")} / {per_second("tokens", INPUT, "route")}', "{{route}}"),),
            "percentunit", about="Falls where conversations do not stay at their route (affinity)."),
    )),
    ("Shared state", (
        Panel("Store answers", ((f'min by (store) ({series("store_up")})', "{{store}}"),),
              about="0: away; requests go on without it, and what refers to something kept gets 503."),
        Panel("Questions to the store, 95 %", ((quantile(0.95, "store_seconds", by="store"), "{{store}}"),), "s"),
        Panel("Texts that were not kept", ((per_second("store_dropped", "", "store"), "{{store}}"),), "cps"),
    )),
)  # fmt: skip
"""The dashboard: rows of panels."""


@dataclass(frozen=True)
class Alert:
    """One alert: when it fires, after how long, how bad it is, and what to do."""

    name: str
    expression: str
    after: str
    severity: str
    summary: str
    do: str


def ratio(part: str, whole: str, above: float, least: float = 0.02) -> str:
    """`part` is more than this share of `whole`, where there is enough of it to say so (each second)."""
    return f"{part} / {whole} > {above} and {whole} > {least}"


FAILED = per_second("upstream_requests", 'outcome!="ok"', "route", "5m")
ASKED = per_second("upstream_requests", "", "route", "5m")
LOST_CALLS = per_second("issues", like("kind", LOST), over="30m")
CALLS = per_second("tool_calls", over="30m")
MENDED = per_second("tool_calls", exactly("verdict", Verdict.MENDED), over="1h")
IGNORED = series("issues", exactly("kind", IssueKind.TOOLS_IGNORED))
WAITING = series("background_responses", exactly("status", "queued"))
ALERTS: tuple[Alert, ...] = (
    Alert("DragomanDown", 'up{job="dragoman"} == 0', "2m", "critical", "A gateway does not answer its scraper.",
          "Look at its log; the scraper needs a key where [[keys]] are set (models = [])."),
    Alert("DragomanFailing",
          ratio(per_second("requests", 'status=~"5.."', over="5m"), per_second("requests", over="5m"), 0.05), "5m",
          "critical", "More than 5 % of requests fail with 5xx.",
          "By route: dragoman_upstream_requests_total; the access log names each failed attempt."),
    Alert("DragomanRouteFailing", ratio(FAILED, ASKED, 0.5, 0.01), "5m", "warning",
          "More than half of the requests to {{ $labels.route }} fail.",
          "Its key, its quota, its address: dragoman doctor asks it."),
    Alert("DragomanRouteResting", f"max by (route) ({series(COOLDOWN)}) > time()", "15m", "warning",
          "{{ $labels.route }} has rested for a quarter of an hour.", "As above; requests go to its other routes."),
    Alert("DragomanSlow", f'{quantile(0.95, "time_to_first_byte_seconds", by="model", over="10m")} > 30', "10m",
          "warning", "Every twentieth request to {{ $labels.model }} waits more than 30 s for its first byte.",
          "The provider is slow, or re-asks are many: dragoman_reasks_total."),
    Alert("DragomanCallsLost", ratio(LOST_CALLS, f"({CALLS} + {LOST_CALLS})", 0.1, 0.005), "30m", "warning",
          "More than a tenth of the calls that models make cannot run, and asking again did not help.",
          "dragoman_issues_total by kind; /inspect shows what was written; dragoman doctor says which dialect fits."),
    Alert("DragomanMendsRising",
          f'{MENDED} > 3 * {MENDED.replace("[1h]", "[1h] offset 1d")} and {MENDED} > 0.01', "1h", "info",
          "Three times as many calls are mended as a day ago.",
          "A server or a chat template was probably updated: dragoman_edits_total by kind."),
    Alert("DragomanReasking",
          ratio(per_second("reasks", by="route", over="30m"), per_second("upstream_requests", by="route", over="30m"),
                0.2, 0.005), "30m", "warning", "Every fifth request to {{ $labels.route }} is a re-ask.",
          "Each costs one more request: dragoman_issues_total says for what."),
    Alert("DragomanToolsIgnored", f"sum (increase({IGNORED}[1h])) > 0", "0m", "warning",
          "A backend takes tools and never shows them to its model; they go as text now.",
          'x-dragoman-ignored-tools and the access log name the route; tools = "text" saves the question.'),
    Alert("DragomanRefusingClients",
          ratio(per_second("requests", 'status="429"', over="10m"), per_second("requests", over="10m"), 0.1), "10m",
          "info", "More than a tenth of requests are refused with 429.",
          "Limits of keys (per_minute, max_concurrent), [limits] max_concurrent, or the provider's own."),
    Alert("DragomanStoreAway", f'min by (store) ({series("store_up")}) == 0', "2m", "warning",
          "The store of shared state ({{ $labels.store }}) does not answer.",
          "Limits hold as state_away of each key says, references get 503: is the server up, and near enough?"),
    Alert("DragomanBackgroundWaits", f"sum ({WAITING}) > 100", "15m", "warning",
          "More than 100 responses wait to be answered in the background.",
          "[limits] background says how many of a key run at a time; more replicas run more."),
)  # fmt: skip


# ── the dashboard ────────────────────────────────────────────────────────────


def _others() -> tuple[Panel, ...]:
    """A panel for each metric that no other names."""
    named = " ".join(expression for _, panels in ROWS for panel in panels for expression, _ in panel.expressions)
    missing = [name for name in COUNTED if f"dragoman_{name}" not in named]
    return tuple(_plain(name) for name in missing)


def _plain(name: str) -> Panel:
    kind, about, labels = COUNTED[name]
    by, legend = ", ".join(labels), " ".join(f"{{{{{label}}}}}" for label in labels) or name
    if kind == "Histogram":
        return Panel(name, ((quantile(0.95, name, by=by), legend),), "s", about=about)
    expression = per_second(name, by=by) if kind == "Counter" else f"sum by ({by}) ({series(name)})"
    return Panel(name, ((expression, legend),), about=about)


def _panels() -> Iterator[dict[str, Any]]:
    at, number = 0, 0
    for title, panels in (*ROWS, ("Others", _others())):
        if not panels:
            continue
        number += 1
        yield {"id": number, "type": "row", "title": title, "collapsed": False, "panels": [],
               "gridPos": {"x": 0, "y": at, "w": 24, "h": 1}}  # fmt: skip
        at += 1
        wide, high = (6, 4) if all(panel.kind == "stat" for panel in panels) else (12, 8)
        for place, panel in enumerate(panels):
            number += 1
            x, y = place * wide % 24, at + place * wide // 24 * high
            yield _panel(number, panel, {"x": x, "y": y, "w": wide, "h": high})
        at += -(-len(panels) * wide // 24) * high


SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + n), "expr": expression, "legendFormat": legend, "datasource": SOURCE}
        for n, (expression, legend) in enumerate(panel.expressions)
    ]
    return {
        "id": number, "type": panel.kind, "title": panel.title, "description": panel.about, "datasource": SOURCE,
        "gridPos": place, "targets": targets,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
    }  # fmt: skip


def _variable(name: str, metric: str) -> dict[str, Any]:
    """A choice among the values of a label."""
    query = f"label_values({series(metric)}, {name})"
    return {
        "name": name, "label": name.capitalize(), "type": "query", "datasource": SOURCE, "query": query, "refresh": 2,
        "definition": query, "multi": True, "includeAll": True, "allValue": ".*", "sort": 1,
        "current": {"text": "All", "value": "$__all"},
    }  # fmt: skip


def dashboard() -> str:
    """Grafana's dashboard, as JSON."""
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    made = {
        "uid": "dragoman", "title": "Dragoman", "tags": ["dragoman", "llm"], "schemaVersion": 39, "version": 1,
        "editable": True, "refresh": "30s", "time": {"from": "now-6h", "to": "now"}, "timezone": "browser",
        "templating": {"list": [source, _variable("model", "requests"), _variable("route", "upstream_requests")]},
        "annotations": {"list": []}, "links": [], "panels": list(_panels()),
    }  # fmt: skip
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


# ── the rules ────────────────────────────────────────────────────────────────


def rules(alerts: Sequence[Alert] = ALERTS) -> str:
    """Prometheus's rules, as YAML."""
    rows = [
        {
            "alert": each.name,
            "expr": each.expression,
            "for": each.after,
            "labels": {"severity": each.severity},
            "annotations": {"summary": each.summary, "description": f"{each.do} ({OPERATIONS})"},
        }
        for each in alerts
    ]
    head = "# Written by scripts/monitoring.py: change it there.\n"
    return head + yaml.safe_dump({"groups": [{"name": "dragoman", "rules": rows}]}, sort_keys=False, width=1000)


def files() -> dict[Path, str]:
    """Every file that is written, and what it says."""
    return {**dict.fromkeys(DASHBOARDS, dashboard()), **dict.fromkeys(RULES, rules())}


if __name__ == "__main__":
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
