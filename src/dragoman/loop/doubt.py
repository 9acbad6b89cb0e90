"""Calls in doubt, as the policy of a run wants them: run, asked about, or left as text.

Knows responses; nothing of dialects or of how doubt arose.
Contract: with "ask" the response is as it was: the model was asked already (`turn/asking.py`).
"""

from __future__ import annotations

from dataclasses import replace

from ..types import Response

OVERLOOKED = "overlooked"
"""The rule of calls that never run by themselves."""


def settled(response: Response, doubt: str) -> Response:
    """`response` with its doubtful calls made calls ("run"), forgotten ("text"), or left as they are ("ask")."""
    if doubt == "ask" or not response.doubtful:
        return response
    if doubt == "text":
        return replace(response, doubtful=())
    sure = (call for call in response.doubtful if call.report is None or call.report.rule != OVERLOOKED)
    message = replace(response.message, parts=(*response.message.parts, *sure))
    return replace(response, message=message, doubtful=())
