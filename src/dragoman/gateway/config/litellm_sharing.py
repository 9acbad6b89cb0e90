"""How LiteLLM's deployments of one name share requests → the routes of a model, and their weights.

Knows LiteLLM's words for it and our file's form.  Contract: what LiteLLM's router would never ask while another
deployment answers comes last here (weight 0); the share of the others is the same.
Sources: litellm 1.106 router_strategy/simple_shuffle.py (weight, else rpm, else tpm, else all alike), utils.py
get_order_filtered_deployments, types/router.py OptionalPreCallChecks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...fallback import Sharing

METRICS = ("weight", "rpm", "tpm")
"""Fields of a deployment that are its share; the first counts that any deployment of the name has."""
STRATEGIES: Mapping[str, Sharing] = {
    "simple-shuffle": Sharing.WEIGHTED,
    "least-busy": Sharing.LEAST_IN_FLIGHT,
}
"""Their strategies that ours do the same as; what is none of them is shared by weight."""
USUAL = "simple-shuffle"
AFFINITIES = frozenset({"prompt_caching", "session_affinity", "deployment_affinity", "responses_api_deployment_check",
                        "encrypted_content_affinity"})  # fmt: skip
"""Their checks that keep a conversation to a deployment; here that is so anyway."""
LARGEST = 1e6


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment: our route, and what it says of its share and of its place in the order."""

    route: str
    shares: Mapping[str, float]
    order: float = math.inf


def deployment(route: str, params: Mapping[str, Any], info: Mapping[str, Any]) -> Deployment:
    """What `litellm_params` and `model_info` say of it."""
    order = params.get("order", info.get("order"))
    shares = {name: float(params[name]) for name in METRICS if is_share(params.get(name))}
    return Deployment(route, shares, float(order) if is_share(order) else math.inf)


def is_share(value: Any) -> bool:
    """Is it a number from 0 on?"""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e300


def shared(deployments: Sequence[Deployment], others: Iterable[str], sharing: Sharing) -> dict[str, Any]:
    """The settings of a model whose `deployments` share its requests, and whose `others` are asked after them."""
    weights = _weights(deployments, sharing)
    routes = {**weights, **{route: 0.0 for route in others if route not in weights}}
    if sum(weight > 0 for weight in routes.values()) < 2:
        return {"route": next(iter(routes))} if len(routes) == 1 else {"routes": list(routes)}
    if set(routes.values()) == {1.0}:
        return {"balance": str(sharing), "routes": list(routes)}
    return {"balance": str(sharing), "routes": [{"route": r, "weight": _plain(w)} for r, w in routes.items()]}


def _weights(deployments: Sequence[Deployment], sharing: Sharing) -> dict[str, float]:
    """Route → its weight, those that share before those that wait for them to fail."""
    ordered = sorted(deployments, key=lambda each: each.order)
    first = [each for each in ordered if each.order == ordered[0].order]
    metric = next((name for name in METRICS if any(each.shares.get(name) for each in first)), "")
    if sharing is not Sharing.WEIGHTED:
        metric = ""
    weights: dict[str, float] = {}
    for each in first:
        weights[each.route] = weights.get(each.route, 0.0) + (each.shares.get(metric, 0.0) if metric else 1.0)
    largest = max(weights.values())
    scale = LARGEST / largest if largest > LARGEST else 1.0
    if len(set(weights.values())) == 1:
        scale = 1.0 / largest
    ranked = sorted(weights, key=lambda route: weights[route] == 0)
    return {**{route: weights[route] * scale for route in ranked},
            **{each.route: 0.0 for each in ordered if each.route not in weights}}  # fmt: skip


def _plain(weight: float) -> float | int:
    return int(weight) if weight.is_integer() else weight
