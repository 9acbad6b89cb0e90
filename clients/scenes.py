"""Play scenes over the official SDKs, at scripted models of each API, and write down what did not come through.

`python -m clients.scenes [CLIENT …]`: all of them, or those named.  A scene is one conversation (`scene_rows.py`): the
SDK's own script says what it showed, the model what reached it; both are compared with what must be there.  Everything
goes over real sockets: the SDK, the gateway, and a model that answers with bytes of its API, whole and streamed.
With `--page` the table of docs/clients.md is renewed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clients.installing import Missing, installed, node_bin
from clients.scene_rows import BACKENDS, GOT, UNNAMED, UNSAID, Backend
from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.auth import KeyHeader
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.sim.loopback import serving
from tests.support.cells import STREAMS, at, fits

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "clients.md"
SECONDS = 60
"""One scene may take so long."""


@dataclass(frozen=True, slots=True)
class Client:
    """An SDK, or several of one language: its script, and where to get what it needs."""

    name: str
    script: str
    registry: str
    packages: tuple[str, ...]
    folder: str
    files: tuple[str, ...] = ()


CLIENTS = (
    Client("OpenAI SDK", "scenes_openai.py", "pypi", ("openai",), "openai_sdk"),
    Client("Anthropic SDK", "scenes_anthropic.py", "pypi", ("anthropic",), "anthropic_sdk"),
    Client("Google Gen AI SDK", "scenes_google.py", "pypi", ("google-genai",), "google_sdk"),
    Client("Ollama SDK", "scenes_ollama.py", "pypi", ("ollama",), "ollama_sdk"),
    Client(
        "SDKs for Node", "scenes_node.mjs", "npm", ("openai@7", "@anthropic-ai/sdk@1", "ollama", "@google/genai@3"),
        "node_sdks",
        ("scenes.mjs", "scenes_openai.mjs", "scenes_anthropic.mjs", "scenes_google.mjs", "scenes_ollama.mjs"),
    ),
    Client(
        "AI SDK", "scenes_ai.mjs", "npm",
        ("ai@7", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible", "@ai-sdk/google", "zod"),
        "ai", ("scenes.mjs",),
    ),
)  # fmt: skip


# ── the stage ────────────────────────────────────────────────────────────────


class Models:
    """The scripted models, as an ASGI application: each request takes the next answer of the scene."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.sent: list[Any] = []
        self.swapped: dict[str, str] = {}  # words that a model says otherwise than its part has them

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked = json.loads(body)
        self.sent.append(asked)
        status, kind, pieces = self._answer(scope["path"], asked)
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def _answer(self, path: str, asked: Any) -> tuple[int, str, Sequence[bytes]]:
        if not self.answers:
            return 500, "application/json", [b'{"error": {"message": "the scene has no further answer"}}']
        text, name = json.dumps(self.answers.pop(0)), path.split("/")[1]
        for word, other in self.swapped.items():
            text = text.replace(word, other)
        body = json.loads(text)
        provider = BACKENDS[name].provider
        if asked.get("stream") is True or "stream" in path.rsplit("/", 1)[-1].lower():
            pieces, kind = STREAMS[PROVIDERS[provider].codec if provider else "openai_chat"](body)
            return 200, kind, pieces
        return 200, "application/json", [json.dumps(body).encode()]


def _routes(upstream: str) -> Iterator[tuple[str, Route]]:
    """Every model under its name: `chat`, or `chat think` where a scene wants another place."""
    for name, backend in BACKENDS.items():
        places = {name: (backend.provider, backend.model)}
        places |= {f"{name}-{scene}": place for scene, place in backend.models.items()}
        for called, (provider, model) in places.items():
            url = f"{upstream}/{name}/v1"
            row, tools = (_placed(provider, url), None) if provider else (COMPATIBLE["openai_chat"], Tools.TEXT)
            yield called, Route(provider=row, model=model, base_url=url, key="k", tools=tools)


def _placed(provider: str, url: str) -> Any:
    return replace(PROVIDERS[provider], auth=KeyHeader(), or_auth=(), settings=(), url_env=(), base_url=url)


@contextmanager
def stage() -> Iterator[tuple[str, Models]]:
    """The gateway's root, and the models behind it."""
    models = Models()
    with (
        serving(models) as upstream,
        serving(create_app(GatewayConfig(models=dict(_routes(upstream)), reasks=0))) as url,
    ):
        yield url, models


class Script:
    """A script of scenes, running."""

    def __init__(self, words: Sequence[str], url: str, errors: Any = None) -> None:
        environ = {**os.environ, "DRAGOMAN_URL": url}
        self._process = subprocess.Popen(
            list(words), env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        self.fronts: Mapping[str, Sequence[str]] = self._line()

    def play(self, front: str, scene: str, model: str, *, stream: bool) -> Any:
        """What the SDK showed, or its error."""
        assert self._process.stdin is not None
        asked = {"front": front, "scene": scene, "model": model, "stream": stream}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> Any:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], SECONDS)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self.close()
            raise RuntimeError(f"the script broke off with {self._process.returncode}, or took over {SECONDS} s")
        return json.loads(line)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


# ── scenes ───────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One conversation: over which API, at which model, whole or streamed."""

    front: str
    scene: str
    backend: str
    stream: bool


def scenes(fronts: Mapping[str, Sequence[str]]) -> Iterator[Scene]:
    """Every scene that a client can play, at every model that has a part in it."""
    for front, names in fronts.items():
        for scene in names:
            for name, backend in BACKENDS.items():
                for stream in (False, True) if scene in backend.answers else ():
                    yield Scene(front=front, scene=scene, backend=name, stream=stream)


def played(one: Scene, script: Script, models: Models) -> list[str]:
    """What is not as it must be; nothing is a scene that came through."""
    backend = BACKENDS[one.backend]
    models.answers, models.sent = list(backend.answers[one.scene]), []
    model = f"{one.backend}-{one.scene}" if one.scene in backend.models else one.backend
    told = script.play(one.front, one.scene, model, stream=one.stream)
    if "error" in told:
        return [told["error"].replace("\n", " ")[:300]]
    wish = UNSAID.get((one.front, one.scene), GOT[one.scene])
    got = told["got"]
    unseen = [f"showed {key}: {got.get(key)!r}, not {value!r}" for key, value in wish.items() if got.get(key) != value]
    return [*unseen, *_unsent(one, backend, models.sent)]


def _unsent(one: Scene, backend: Backend, sent: Sequence[Any]) -> Iterator[str]:
    if not sent:
        yield "the model was not asked"
        return
    named = {} if one.front in UNNAMED else backend.named.get(one.scene, {})
    wishes = [*((sent[0], *pair) for pair in backend.first.get(one.scene, {}).items())]
    wishes += [(sent[-1], *pair) for pair in (*backend.sent.get(one.scene, {}).items(), *named.items())]
    for body, path, wish in wishes:
        if not fits(at(body, path), wish):
            yield f"sent {path}: {at(body, path)!r}, not {wish!r}; all: {json.dumps(body)[:1500]}"
    for one_path, other in backend.pairs.get(one.scene, ()):
        if at(sent[-1], one_path) != at(sent[-1], other):
            yield f"sent {one_path}: {at(sent[-1], one_path)!r}, but {other}: {at(sent[-1], other)!r}"


# ── running ──────────────────────────────────────────────────────────────────


def main() -> int:
    """Play what is asked for; gives the number of scenes that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CLIENT")
    parser.add_argument("--page", action="store_true", help="renew the table of docs/clients.md")
    parser.add_argument("--here", action="store_true", help="run Python SDKs as this Python has them")
    parser.add_argument("--only", default="", help="front, scene and model of the scenes to play, as a pattern")
    asked = parser.parse_args()
    if unknown := set(asked.names) - {client.name for client in CLIENTS}:
        parser.error(f"there is no client {', '.join(sorted(unknown))}; there are {', '.join(c.name for c in CLIENTS)}")
    failed = 0
    for client in CLIENTS:
        if not asked.names or client.name in asked.names:
            failed += _try(client, here=asked.here, page=asked.page, only=asked.only)
    return min(failed, 100)


def _try(client: Client, *, here: bool, page: bool, only: str) -> int:
    try:
        words, version = _words(client, here=here)
    except Missing as missing:
        print(f"{client.name}: {missing}", flush=True)
        return 1
    passed, all_, notes = Counter[tuple[str, str]](), Counter[tuple[str, str]](), []
    with stage() as (url, models), open(os.devnull, "w") as aside:
        script, start = Script(words, url, aside), time.monotonic()
        for one in scenes(script.fronts):
            how = f"{one.front} · {one.scene} · {one.backend} · {'streamed' if one.stream else 'whole'}"
            if not re.search(only, how):
                continue
            faults = played(one, script, models)
            all_[one.front, one.scene] += 1
            passed[one.front, one.scene] += not faults
            notes += [f"{client.name} · {how}: {fault}" for fault in faults]
        script.close()
    print(*notes, sep="\n")
    total, good = sum(all_.values()), sum(passed.values())
    print(f"{client.name} {version}: {good} of {total} scenes in {time.monotonic() - start:.0f} s", flush=True)
    if page:
        _renew({front: _row(client, version, front, passed, all_) for front in script.fronts})
    return total - good


def _words(client: Client, *, here: bool) -> tuple[list[str], str]:
    """The command line of the script, and the versions it runs."""
    script = HERE / "sdks" / client.script
    if here and client.registry == "pypi":
        return [sys.executable, str(script)], ""
    place = installed(client.folder, client.registry, client.packages)
    bare = [re.sub(r"(?<=.)@.*", "", package) for package in client.packages]
    version = place.version(bare[0]) if client.folder == "ai" or len(bare) == 1 else ""
    version = version or ", ".join(f"{package} {place.version(package)}" for package in bare)
    if client.registry == "pypi":
        return [str(place.bin / "python"), str(script)], version
    for file in (client.script, *client.files):  # packages are looked for from where a script lies
        shutil.copy(script.with_name(file), place.root)
    return [str(node_bin() / "node"), str(place.root / client.script)], version


# ── the table ────────────────────────────────────────────────────────────────

HEAD = f"| client | version | API | {' | '.join(GOT)} |\n" + "|---" * (3 + len(GOT)) + "|\n"


def _row(client: Client, version: str, front: str, passed: Counter[Any], all_: Counter[Any]) -> str:
    cells = [f"{passed[front, scene]}/{all_[front, scene]}" if all_[front, scene] else "–" for scene in GOT]
    return "| " + " | ".join([client.name, version, front, *cells]) + " |"


def _renew(rows: Mapping[str, str]) -> None:
    """Put the rows of one client into their table, where that client's rows stood."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"<!-- table:scenes -->\n(.*?)<!-- /table:scenes -->", page, re.DOTALL)
    if found is None:
        raise SystemExit(f"{PAGE} has no table of scenes")
    lines = {_key(line): line for line in found[1].splitlines()[2:]}
    lines |= {_key(line): line for line in rows.values()}
    text = HEAD + "".join(f"{line}\n" for line in lines.values())
    PAGE.write_text(page[: found.start(1)] + text + page[found.end(1) :], encoding="utf-8")


def _key(line: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in line.split("|")]
    return cells[1], cells[3]


if __name__ == "__main__":
    sys.exit(main())
