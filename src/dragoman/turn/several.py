"""The wish for several answers to one request (`n`): whether it is made, and a request without it.

Knows codecs by the field they ask with; nothing of answers.  Contract: pure; a request that asks for one is unchanged.
"""

from __future__ import annotations

from dataclasses import replace

from ..codecs import CODECS
from ..codecs.shared.body import rest
from ..codecs.shared.spec import CHOICES, Codec, WireFields, extra_for
from ..types import NOTHING, JsonObject, Request

FIELDS = frozenset(codec.several for codec in CODECS.values() if codec.several)


def asks_several(request: Request, codec: Codec, fields: JsonObject = NOTHING) -> bool:
    """Does the request, or what its route adds, ask for several answers on a wire that gives them?"""
    return how_many(request, codec, fields) > 1


def how_many(request: Request, codec: Codec, fields: JsonObject = NOTHING) -> int:
    """The answers that the request, or what its route adds, asks for on a wire that gives several."""
    if not codec.several or not (fields or request.extra):
        return 1
    wishes = (extra_for(codec.name, request.extra).get(codec.several), fields.get(codec.several))
    return max([wish for wish in wishes if isinstance(wish, int)], default=1)


def one_choice(request: Request) -> Request:
    """`request`, for one answer: what is asked besides, or again, is not asked several times over."""
    extra = request.extra
    if FIELDS.isdisjoint(extra):
        return request
    left = rest(extra, FIELDS)
    return replace(request, extra=WireFields(extra.api, left) if isinstance(extra, WireFields) else left)


def further(extra: JsonObject) -> JsonObject:
    """Of what an answer's end holds besides: its choices beside the first; they stay though that is asked for again."""
    if not isinstance(extra, WireFields) or CHOICES not in extra:
        return NOTHING
    return WireFields(extra.api, {CHOICES: extra[CHOICES]})
