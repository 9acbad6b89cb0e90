"""A wish to think, mapped to what a model takes of it: words of effort, budgets, on and off, and what stands beside.

Knows requests and the rows of `providers/thinking.py`; no wire, no JSON.  Contract: pure; a wish that the model takes
comes through as it is; any other becomes the nearest it takes, never a stronger "off", and that is an `Issue`; a wish
said in the words of another API is translated without one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ..codecs.shared.spec import WireFields, extra_for
from ..providers.families import Profile
from ..providers.spec import Provider
from ..providers.thinking import (
    API_WORDS,
    BUDGETED,
    BUDGETS,
    DECIDES,
    OFFERS_OFF,
    SAID_BY,
    SWITCHED,
    WORDS,
    Controls,
    controls,
    word_of,
)
from ..types import Issue, IssueKind, Reasoning, Request, Sampling

LEFT_FOR_ANSWER = 8192
"""Tokens left for the answer behind a budget, where the caller set no limit of his own."""
EFFORT, BUDGET = "$.sampling.effort", "$.sampling.thinking_budget"
REFUSED = "effort"
"""Begins the refused demands about thinking: alone for all of it, before the words left, or the refused one."""
WHILE_TOOLS = "effort beside tools"
"""The refused demand of thinking in a request with function tools."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """The words and tokens asked for; None for what is not."""

    effort: str | None
    budget: int | None

    @property
    def off(self) -> bool:
        return self.effort == "none" or (self.effort is None and self.budget == 0)


UNSAID = _Wish(None, None)


def with_thinking(
    request: Request, provider: Provider, profile: Profile, refused: Collection[str] = ()
) -> tuple[Request, list[Issue]]:
    """`request` with the thinking its model takes here; `refused` are the demands it refused before."""
    asked = _Wish(request.sampling.effort, request.sampling.thinking_budget)
    if _says_it_itself(request, provider.codec):
        return request, []
    row = _taken(profile.thinking or controls(request.model, provider.codec, provider.name), provider, refused)
    barred = not row.tools and bool(request.tools)
    if asked == UNSAID and not (barred and row.thinks):
        return request, []
    wish = _without_tools(row) if barred else _nearest(asked, row, provider.codec, _says_no_thinking(request))
    issues = [*_changed(asked, wish, row, barred=barred)]
    if wish.budget is not None and wish.budget > 0 and provider.codec in OFFERS_OFF:
        return _beside_budget(request, wish, issues)
    return _put(request, wish), issues


def _put(request: Request, wish: _Wish) -> Request:
    sampling = replace(request.sampling, effort=wish.effort, thinking_budget=wish.budget)
    return request if sampling == request.sampling else replace(request, sampling=sampling)


def _taken(row: Controls | None, provider: Provider, refused: Collection[str]) -> Controls:
    """The row, without what the model refused; of a model nobody knows, what its API has."""
    codec = provider.codec
    if row is None:
        budgets = (1, 2**20) if codec in BUDGETED else None
        row = Controls(match=("*",), efforts=API_WORDS.get(codec, WORDS), budgets=budgets, adaptive=True, off=True)
    for one in refused:
        name, _, said = one.partition(":")
        if one == WHILE_TOOLS:
            row = replace(row, tools=False, thinks=True)
        if name != REFUSED:
            continue
        if not said:
            return replace(row, efforts=(), budgets=None, adaptive=False, off=False, thinks=True)
        named = frozenset(said.lstrip("-").split(","))
        words = named if not said.startswith("-") else frozenset(row.efforts) - named
        row = replace(row, efforts=tuple(word for word in WORDS if word in words))
    return row


def _says_it_itself(request: Request, codec: str) -> bool:
    """Does it say how to think in fields of this very wire that no value models?  Those go out as they came."""
    fields = extra_for(codec, request.extra)
    return bool(fields) and any(fields.get(name) is not None for name in SAID_BY.get(codec, ()))


def _says_no_thinking(request: Request) -> bool:
    """Was an effort asked for in the words of an API where that alone turns no thinking on?"""
    return isinstance(request.extra, WireFields) and request.extra.api in OFFERS_OFF


# ── the nearest that is taken ────────────────────────────────────────────────


def _without_tools(row: Controls) -> _Wish:
    """What a model takes that refuses tools while it thinks: no thinking, or the least there is."""
    return _Wish(row.efforts[0] if row.efforts else None, None)


def _nearest(asked: _Wish, row: Controls, codec: str, quiet: bool) -> _Wish:
    if asked.off:
        return _off(asked, row, codec)
    if asked.effort is not None and row.efforts:
        effort = _clamped(asked.effort, row.efforts)
        return _Wish(effort, _beside_word(asked.budget, row, codec, quiet))
    if asked.effort is not None and (asked.budget is None or asked.budget <= 0):
        return _Wish(None, _tokens(BUDGETS.get(asked.effort, BUDGETS["medium"]), row))
    return _of_budget(asked.budget, row, codec)


def _off(asked: _Wish, row: Controls, codec: str) -> _Wish:
    """Thinking turned off, or the least of it where it cannot be."""
    if "none" in row.efforts:
        return _Wish("none", None)
    if row.off and codec in BUDGETED:
        return _Wish(None, 0) if asked.budget == 0 or row.thinks or codec not in OFFERS_OFF else UNSAID
    if not row.thinks:
        return UNSAID
    if row.efforts:
        return _Wish(row.efforts[0], None)
    return _Wish(None, row.budgets[0]) if row.budgets else UNSAID


def _clamped(word: str, taken: Sequence[str]) -> str:
    """The weakest word not below the wish, else the strongest; a word nobody knows is sent as it is."""
    words = [one for one in taken if one != "none"] or taken
    if word not in WORDS:
        return word
    return next((one for one in words if WORDS.index(one) >= WORDS.index(word)), words[-1])


def _beside_word(budget: int | None, row: Controls, codec: str, quiet: bool) -> int | None:
    """The budget that goes with a word: the one asked for where both are taken; thinking on, where a word alone does
    not turn it on."""
    if codec not in OFFERS_OFF:
        return None
    if budget is not None and budget > 0 and row.budgets:
        return _tokens(budget, row)
    if budget is None and (quiet or row.thinks):
        return None
    return DECIDES if row.adaptive else _tokens(BUDGETS["high"], row) if budget is not None else None


def _tokens(budget: int, row: Controls) -> int | None:
    if row.budgets is None:
        return None
    least, most = row.budgets
    return min(max(budget, least), most)


def _of_budget(budget: int | None, row: Controls, codec: str) -> _Wish:
    if budget is None:
        return UNSAID
    if budget < 0:
        if row.adaptive and (codec in BUDGETED or codec in SWITCHED):
            return _Wish(None, DECIDES)
        return UNSAID if row.thinks else _Wish(*_said(BUDGETS["medium"], row, codec))
    return _Wish(*_said(budget, row, codec))


def _said(budget: int, row: Controls, codec: str) -> tuple[str | None, int | None]:
    """A budget of tokens in what the row takes."""
    if row.budgets is not None and codec in BUDGETED:
        return None, _tokens(budget, row)
    if row.efforts:
        return _clamped(word_of(budget), row.efforts), DECIDES if row.adaptive and codec in OFFERS_OFF else None
    return None, DECIDES if row.adaptive and codec in BUDGETED else None


# ── what is said of it, and what stands beside ───────────────────────────────


def _changed(asked: _Wish, wish: _Wish, row: Controls, *, barred: bool) -> list[Issue]:
    """What the model is asked otherwise than the caller did: another strength, or none of it."""
    wanted = "none" if asked.off else asked.effort
    if barred and asked != UNSAID and wish.effort != wanted:
        return [_issue(EFFORT, f"this model takes no tools while it thinks here; effort goes as {wish.effort!r}")]
    if asked in {UNSAID, wish}:
        return []
    path = EFFORT if asked.effort is not None else BUDGET
    if asked.off and wish.effort not in (None, "none"):
        return [_issue(path, f"this model always thinks; effort goes as {wish.effort!r}")]
    if asked.off and wish.budget not in (None, 0):
        return [_issue(path, f"this model always thinks; its budget goes as {wish.budget}")]
    if asked.effort is not None and wish.effort is not None and asked.effort != wish.effort:
        return [_issue(path, f"this model does not take effort {asked.effort!r}; it goes as {wish.effort!r}")]
    if asked.budget is not None and asked.budget > 0 and (wish.budget or 0) > 0 and asked.budget != wish.budget:
        return [_issue(path, f"this model does not take a budget of {asked.budget} tokens; it goes as {wish.budget}")]
    if wish == UNSAID and not asked.off and not (row.thinks and asked.effort is None):
        return [_issue(path, "this model takes no wish to think; it is left out")]
    return []


def _issue(path: str, message: str) -> Issue:
    return Issue(kind=IssueKind.UNSUPPORTED, message=message, path=path)


def wishes_thoughts(sampling: Sampling, codec: str) -> bool:
    """Is the model asked to think, in a way beside which it may be asked to show its thoughts?"""
    if codec in OFFERS_OFF:  # they stand in `thinking`, which no effort alone writes
        return sampling.thinking_budget not in (None, 0)
    return sampling.effort not in (None, "none") or sampling.thinking_budget not in (None, 0)


LEAST_BUDGET = 1024
UNSIGNED = "the model's last turn comes back without its signed thinking, which it demands while it thinks: it does not"


def _beside_budget(request: Request, wish: _Wish, issues: list[Issue]) -> tuple[Request, list[Issue]]:
    """A budget with what it demands beside it: a limit above it, no sampling, its thoughts of the turn under way."""
    if not _turn_is_signed(request):
        off = _Wish(wish.effort, None)
        return _put(request, off), [*issues, _issue(BUDGET, UNSIGNED)]
    sampling, budget = request.sampling, wish.budget or 0
    if sampling.max_tokens is None:
        sampling = replace(sampling, max_tokens=budget + LEFT_FOR_ANSWER)
    elif sampling.max_tokens <= LEAST_BUDGET:
        few = f"a budget of thinking begins at {LEAST_BUDGET} tokens, below max_tokens; there is none"
        return _put(request, _Wish(wish.effort, None)), [*issues, _issue(BUDGET, few)]
    elif budget >= sampling.max_tokens:
        budget = sampling.max_tokens - 1
        issues = [*issues, _issue(BUDGET, f"the budget of thinking stays below max_tokens: it goes as {budget}")]
    sampling, lost = _plain_sampling(sampling)
    issues = [*issues, *(_issue(f"$.sampling.{name}", f"{name} is refused while it thinks") for name in lost)]
    return _put(replace(request, sampling=sampling), replace(wish, budget=budget)), issues


def _plain_sampling(sampling: Sampling) -> tuple[Sampling, list[str]]:
    """The sampling that is taken beside a budget, and the names of what had to go."""
    taken = {"temperature": (None, 1), "top_k": (None,)}
    lost = [name for name, values in taken.items() if getattr(sampling, name) not in values]
    for name in lost:
        sampling = replace(sampling, **{name: None})  # type: ignore[arg-type]
    return sampling, lost


def _turn_is_signed(request: Request) -> bool:
    """Does the turn under way, if results were the last to be said, begin with signed thinking?"""
    turn = []
    for message in reversed(request.messages):
        if message.role == "user":
            break
        turn.append(message)
    calling = [message for message in turn if message.role == "assistant" and message.calls]
    thoughts = [part for message in calling for part in message.parts if isinstance(part, Reasoning)]
    return not calling or any(part.metadata.get("signature") or part.metadata.get("redacted") for part in thoughts)
