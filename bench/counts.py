"""What work costs in calls, which no load on the machine changes: counted, compared with the figures that are stored.

    python bench/counts.py [--write] [--json] [NAME ...]

Counted are the Python frames that Dragoman's code enters (comprehensions apart, which newer versions inline) and the
functions in C that it calls, once the caches are warm, but for the first parse.  `--write` stores the figures in
bench/counts.json; the full suite fails where one has grown by a third (tests/test_counts.py).
"""

# ruff: noqa: PLC0415  what is counted is imported where it is counted: the first parse wants a process without it

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "bench")]

STORED = ROOT / "bench" / "counts.json"
GROWTH = 4 / 3
PACKAGE = str(ROOT / "src" / "dragoman")
INLINED = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})
FIRST = """
import json, sys
sys.path[:0] = {path!r}
from bench.counts import counting
with counting() as count:
    import dragoman
    tools = [dragoman.Tool(name="f", parameters={{"type": "object", "properties": {{"a": {{"type": "string"}}}}}})]
    assert dragoman.parse('<tool_call>{{"name": "f", "arguments": {{"a": "x"}}}}</tool_call>', tools=tools).calls
print(count.calls)
"""


class counting:  # noqa: N801  used as a statement
    """Counts the calls of the package's code while it is open."""

    def __init__(self) -> None:
        self.calls = 0

    def __enter__(self) -> counting:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event in ("call", "c_call") and code.co_filename.startswith(PACKAGE):
            self.calls += event == "c_call" or code.co_name not in INLINED


def counted(work: Callable[[], object], warm: int = 2) -> int:
    """Calls of `work`, once it has been done `warm` times."""
    for _ in range(warm):
        work()
    with counting() as count:
        work()
    return count.calls


# ── the library ──────────────────────────────────────────────────────────────


def streams() -> Iterator[tuple[str, Callable[[], float]]]:
    """A token of each class of text, in pieces of four characters."""
    from parse_stream import KINDS, TOKEN, fours, ours

    for name, kind in KINDS.items():
        pieces = fours(kind.make(2000 * TOKEN))
        yield f"streamed token, {name}", lambda p=pieces, k=kind: counted(lambda: ours(p, k.calls), 1) / len(p)  # type: ignore[misc]


def wholes() -> Iterator[tuple[str, Callable[[], float]]]:
    """Whole texts of three sizes: prose with signs and Markdown, then a call."""
    from parse_stream import MARKDOWN, PROSE, TOOLS

    from dragoman import parse

    call = '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.py", "content": "x = 1\\n"}}\n</tool_call>'
    for size in (1_000, 20_000, 100_000):
        text = ((PROSE + MARKDOWN) * (size // 500))[:size].rpartition("\n\n")[0] + "\n\n" + call
        yield f"whole parse, {size:,} characters", lambda t=text: counted(lambda: parse(t, tools=TOOLS))  # type: ignore[misc]


def codecs() -> Iterator[tuple[str, Callable[[], float]]]:
    """A request of ten tools and forty messages encoded and decoded, by each API's codec."""
    from codecs_material import request

    from dragoman.codecs import CODECS

    whole = request(tools=10, messages=40)
    for name, codec in CODECS.items():
        try:
            body = json.loads(json.dumps(codec.encode_request(whole)))
            codec.decode_request(body)
        except Exception:
            continue
        yield f"request encoded, {name}", lambda c=codec: counted(lambda: c.encode_request(whole))  # type: ignore[misc]
        yield f"request decoded, {name}", lambda c=codec, b=body: counted(lambda: c.decode_request(b))  # type: ignore[misc]


def first() -> Iterator[tuple[str, Callable[[], float]]]:
    """The first parse of a process, with all that is imported for it."""

    def work() -> float:
        code = FIRST.format(path=[str(ROOT), str(ROOT / "src")])
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    yield "first parse of a process", work


# ── the gateway ──────────────────────────────────────────────────────────────


def gateway() -> Iterator[tuple[str, Callable[[], float]]]:
    """Requests in process: native and in text, one message and a hundred, and a chunk of a stream."""
    yield "gateway request, native", lambda: _asked(native=True, messages=1)
    yield "gateway request, text", lambda: _asked(native=False, messages=1)
    yield "gateway request, counted and logged", lambda: _asked(native=True, messages=1, observed=True)
    yield "gateway turn of 101 messages, native", lambda: _asked(native=True, messages=101)
    yield "gateway turn of 101 messages, text", lambda: _asked(native=False, messages=101)
    yield "gateway chunk, native", lambda: (_asked(True, 1, 220) - _asked(True, 1, 20)) / 200
    yield "gateway chunk, text", lambda: (_asked(False, 1, 220) - _asked(False, 1, 20)) / 200


def _asked(native: bool, messages: int, chunks: int = 0, *, observed: bool = False) -> float:
    """Calls of one more turn of a conversation that the gateway knows; `observed` as `dragoman serve` observes."""
    from dragoman.gateway import GatewayConfig, create_app
    from dragoman.gateway.telemetry.logs import Logs
    from dragoman.gateway.telemetry.metrics import Metrics
    from dragoman.providers.route import Route
    from dragoman.providers.rows import COMPATIBLE
    from dragoman.providers.spec import Tools
    from dragoman.sim.scripted import ScriptedPeer
    from tests.support.asgi import Client

    way = Tools.NATIVE if native else Tools.TEXT
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", tools=way)
    observers: list[Any] = [Logs(), Metrics()] if observed else []
    app = create_app(
        GatewayConfig(default=route), ScriptedPeer(lambda _: _answer(native, chunks)), observers=observers
    )

    async def work() -> int:
        for more in (-4, -2):
            await Client(app, "/v1/chat/completions", _body(max(1, messages + more), chunks)).run()
        with counting() as count:
            reply = await Client(app, "/v1/chat/completions", _body(messages, chunks)).run()
        if reply.status != 200 or b"look" not in reply.body:
            raise SystemExit(f"the gateway answered {reply.status} {reply.body[:200]!r}: the count would mean nothing")
        return count.calls

    return asyncio.run(work())


def _body(messages: int, chunks: int) -> dict[str, Any]:
    tools = [
        {"type": "function", "function": {"name": f"look{i or ''}", "description": "Look.", "parameters": {
            "type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}}}
        for i in range(10)
    ]  # fmt: skip
    roles = ("user", "assistant")
    told = [{"role": roles[i % 2], "content": f"Message {i} says this and that."} for i in range(messages)]
    return {"model": "m", "messages": told, "tools": tools, "stream": bool(chunks)}


def _answer(native: bool, chunks: int) -> Any:
    from dragoman.sim.scripted import Answer

    if native:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
        message: dict[str, Any] = {"role": "assistant", "content": "I will look.", "tool_calls": [call]}
        ended = "tool_calls"
    else:
        text = 'I will look.\n~~~tool_call\n{"name": "look", "arguments": {"at": "sky"}}\n~~~'
        message, ended = {"role": "assistant", "content": text}, "stop"
    about: dict[str, Any] = {"id": "a", "created": 1, "model": "m"}
    if not chunks:
        choice = {"index": 0, "message": message, "finish_reason": ended}
        body = {**about, "object": "chat.completion", "choices": [choice]}
        return Answer((json.dumps(body).encode(),), 200, {"content-type": "application/json"})
    deltas: list[dict[str, Any]] = [{"content": f"word {i} "} for i in range(chunks)]
    if native:
        deltas.append({"tool_calls": [{"index": 0, **call}]})
    else:
        deltas.append({"content": "\n" + message["content"]})
    frames: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    frames.append({"index": 0, "delta": {}, "finish_reason": ended})
    told = [{**about, "object": "chat.completion.chunk", "choices": [frame]} for frame in frames]
    pieces = [f"data: {json.dumps(one)}\n\n".encode() for one in told]
    return Answer((*pieces, b"data: [DONE]\n\n"), 200, {"content-type": "text/event-stream"})


# ── figures ──────────────────────────────────────────────────────────────────


def figures(names: list[str]) -> dict[str, float]:
    """Each figure whose name holds one of `names`; all, where none are given."""
    works = (pair for group in (streams, wholes, first, gateway, codecs) for pair in group())
    return {name: round(work(), 2) for name, work in works if not names or any(part in name for part in names)}


def grown(now: Mapping[str, float], stored: Mapping[str, float]) -> list[str]:
    """What is wrong with the figures, each in a sentence."""
    told = [
        f"{name}: {now[name]:,} calls, {stored[name]:,} are stored"
        for name in sorted(now.keys() & stored.keys()) if now[name] > stored[name] * GROWTH
    ]  # fmt: skip
    told += [f"{name}: no figure is stored" for name in sorted(now.keys() - stored.keys())]
    return told + [f"{name}: stored, and no longer counted" for name in sorted(stored.keys() - now.keys())]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="parts of the names of the figures wanted")
    options.add_argument("--write", action="store_true", help="store the figures")
    options.add_argument("--json", action="store_true", help="print the figures and nothing else, as JSON")
    chosen = options.parse_args()
    now, stored = figures(chosen.names), json.loads(STORED.read_text()) if STORED.exists() else {}
    if chosen.json:
        print(json.dumps(now))
        return
    for name, figure in now.items():
        before = stored.get(name)
        print(f"{figure:>12,.2f}  {'' if not before else f'{figure / before:.2f}x':>6}  {name}")
    if chosen.write:
        kept = {} if not chosen.names else stored
        STORED.write_text(json.dumps({**kept, **now}, indent=1) + "\n")


if __name__ == "__main__":
    main()
