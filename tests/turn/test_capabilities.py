"""What was learnt about models: each apart, and no more of them than is bearable."""

from __future__ import annotations

from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.capabilities import MOST_DEMANDS, MOST_MODELS, MOST_SCHEMAS, Capabilities, Refusals

HERE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://here.test")
THERE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://there.test")


def test_a_refusal_counts_for_one_model_at_one_place() -> None:
    learned = Capabilities()
    learned.note(HERE, "m", Refusals(tools=True))
    assert [learned.refused(*at).tools for at in ((HERE, "m"), (HERE, "n"), (THERE, "m"))] == [True, False, False]
    assert not learned.refused(HERE, "m").constraint


def test_capabilities_learnt_for_one_owner_hold_for_all() -> None:
    learned = Capabilities()
    learned.of("alice").note(HERE, "m", Refusals(constraint=True))
    assert learned.of("bob").refused(HERE, "m") == Refusals(constraint=True)
    assert learned.of("alice").owner == "alice"


def test_models_that_clients_make_up_do_not_fill_the_memory() -> None:
    learned = Capabilities()
    for n in range(MOST_MODELS + 5):
        learned.note(HERE, f"m{n}", Refusals(tools=True))
    assert [learned.refused(HERE, f"m{n}").tools for n in (0, 4, 5, MOST_MODELS + 4)] == [False, False, True, True]


def test_refusals_remembered_of_one_model_are_bounded() -> None:
    learned = Capabilities()
    for n in range(MOST_DEMANDS + 1):
        learned.note(HERE, "m", Refusals(demands=frozenset({f"form {n}"})))
    assert learned.refused(HERE, "m").demands == {f"form {MOST_DEMANDS}"}
    learned.note(HERE, "m", Refusals(schemas=frozenset(f"t{n}" for n in range(MOST_SCHEMAS + 9))))
    assert len(learned.refused(HERE, "m").schemas) == MOST_SCHEMAS
