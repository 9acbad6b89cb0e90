"""Scenes over the official SDKs, each a process of its own, at models of every API: `clients/scenes.py` plays them.

The same scenes are played over the SDKs for Node by `make clients`; here are those whose SDKs the tests have anyway.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from clients.scene_rows import PLAYS
from clients.scenes import CLIENTS, HERE, Models, Scene, Script, played, scenes, stage

SCRIPTS = {"openai chat": "scenes_openai.py", "openai responses": "scenes_openai.py", "anthropic": "scenes_anthropic.py",
           "google": "scenes_google.py", "ollama": "scenes_ollama.py"}  # fmt: skip
SCENES = [*scenes(PLAYS)]


class Theatre:
    """The stage, and the scripts that were needed so far."""

    def __init__(self, url: str, models: Models, stack: ExitStack) -> None:
        self.models, self._url, self._stack = models, url, stack
        self._scripts: dict[str, Script] = {}

    def script(self, name: str) -> Script:
        if name not in self._scripts:
            script = Script([sys.executable, str(HERE / "sdks" / name)], self._url, subprocess.DEVNULL)
            self._stack.callback(script.close)
            self._scripts[name] = script
        return self._scripts[name]


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with ExitStack() as stack:
        url, models = stack.enter_context(stage())
        yield Theatre(url, models, stack)


@pytest.mark.parametrize(
    "one", SCENES, ids=[f"{s.front}:{s.scene}:{s.backend}:{'streamed' if s.stream else 'whole'}" for s in SCENES]
)
@pytest.mark.costly
def test_a_scene_over_an_official_sdk_comes_through(theatre: Theatre, one: Scene) -> None:
    assert played(one, theatre.script(SCRIPTS[one.front]), theatre.models) == []


@pytest.mark.parametrize("name", sorted({*SCRIPTS.values()}))
@pytest.mark.costly
def test_a_script_plays_every_scene_its_api_has_words_for(theatre: Theatre, name: str) -> None:
    assert theatre.script(name).fronts == {
        front: list(PLAYS[front]) for front, script in SCRIPTS.items() if script == name
    }


def test_a_scene_that_does_not_come_through_is_found(theatre: Theatre) -> None:
    script = theatre.script("scenes_ollama.py")
    scene = Scene(front="ollama", scene="state", backend="anthropic", stream=False)
    theatre.models.swapped = {"Hello Ada.": "Hello Eve."}
    try:
        found = played(scene, script, theatre.models)
    finally:
        theatre.models.swapped = {}
    assert found[0] == "showed first: 'Hello Eve.', not 'Hello Ada.'"
    assert found[1].startswith("sent messages[1].content: [{'type': 'text', 'text': 'Hello Eve.'}]")


def test_every_script_is_there() -> None:
    assert all((HERE / "sdks" / file).exists() for client in CLIENTS for file in (client.script, *client.files))
