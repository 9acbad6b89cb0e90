"""What was learnt about models: each apart, and no more of them than is bearable."""

from __future__ import annotations

from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.capabilities import MOST_BARE, MOST_MODELS, MOST_UNTOLD, Learned
from dragoman.types import Tool

HERE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://here.test")
THERE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://there.test")


def test_what_one_model_refused_is_held_against_it_alone_and_there_alone() -> None:
    learned = Learned()
    learned.note_no_tools(HERE, "m")
    assert [learned.no_tools(*at) for at in ((HERE, "m"), (HERE, "n"), (THERE, "m"))] == [True, False, False]
    assert not learned.free(HERE, "m")


def test_what_was_learnt_for_one_owner_of_models_holds_for_all() -> None:
    learned = Learned()
    learned.of("alice").note_free(HERE, "m")
    assert learned.of("bob").free(HERE, "m")
    assert learned.of("alice").owner == "alice"


def test_models_that_clients_make_up_do_not_fill_the_memory() -> None:
    learned = Learned()
    for n in range(MOST_MODELS + 5):
        learned.note_no_tools(HERE, f"m{n}")
    assert [learned.no_tools(HERE, f"m{n}") for n in (0, 4, 5, MOST_MODELS + 4)] == [False, False, True, True]


def test_of_one_model_a_bounded_number_of_demands_and_schemas_is_remembered() -> None:
    learned = Learned()
    for n in range(MOST_UNTOLD + 1):
        learned.note_untold(HERE, "m", f"form {n}")
    assert learned.untold(HERE, "m") == {f"form {MOST_UNTOLD}"}
    learned.note_bare(HERE, "m", (Tool(name=f"t{n}") for n in range(MOST_BARE + 9)))
    assert len(learned.bare(HERE, "m")) == MOST_BARE
