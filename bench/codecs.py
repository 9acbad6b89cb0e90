"""What codecs cost, bytes against bytes: a request written, an answer read whole and streamed; `orjson` is the floor.

    python bench/codecs.py [--write] [--repeats N]

A request of 50 tools and 200 messages is taken from Dragoman's values to the bytes that are sent, through everything
that a turn does before it sends: cold, with values it has not seen, and warm, the next turn of the same conversation.
An answer of 2 kB, and a stream of 200 chunks, are taken from bytes to a response with parsed arguments.  The floor is
`orjson` on the same bytes.  Peers (bench/codec_peers.py) are measured where they are installed beside Dragoman.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import orjson
from codec_peers import ENCODERS, STREAMS, WHOLES, Makers
from codecs_material import CHUNKS, MESSAGES, MOST_REPEATS, TOOLS, Work, decoded, payloads, request, stream, whole
from table import machine, publish, table

from dragoman.codecs import CODECS
from dragoman.effects import Open
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.types import Message, Request

APIS = ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat", "gemini")
COLD, WARM, WHOLE, EACH = 4.0, 0.3, 4.0, 4.0
"""Targets: times `orjson` for a request and a whole answer, microseconds over `orjson` for a chunk."""


LEARNED = Capabilities()
"""What a client knows of models: one for all its turns."""


def sent(asked: Request, route: Route) -> bytes:
    """The bytes that a turn sends: it is driven to where it opens the exchange, and no further."""
    machine = turn(asked, route, LEARNED)
    effect = next(machine)
    while not isinstance(effect, Open):
        effect = machine.send(None)
    machine.close()
    return effect.body


def fresh(repeats: int, route: Route) -> Work:
    """Sends a request that nothing has seen before, each time."""
    waiting = [request() for _ in range(repeats + 1)]
    return lambda: sent(waiting.pop(), route)


def next_turns(repeats: int, route: Route) -> Work:
    """Sends one more turn of a conversation each time: all but the last two messages were sent before."""
    base = request()
    more = [
        replace(base, messages=(*base.messages, Message("assistant", f"Answer {i}."), Message("user", f"And {i}?")))
        for i in range(repeats + 1)
    ]
    sent(base, route)
    return lambda: sent(more.pop(), route)


def read(api: str, data: bytes) -> object:
    """A whole answer, with its arguments parsed."""
    response = CODECS[api].decode_response(orjson.loads(data))
    return [call.arguments for call in response.calls]


def costs(works: Sequence[Work], repeats: int) -> list[float]:
    """Median CPU microseconds of each, taken in turns after one run to warm up; garbage is collected between rounds."""
    for work in works:
        work()
    rounds = []
    gc.collect()
    gc.freeze()
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        rounds.append([_once(work) for work in works])
        gc.enable()
    gc.unfreeze()
    return [statistics.median(told) for told in zip(*rounds, strict=True)]


def _once(work: Work) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e6


def peers(makers: Makers, api: str) -> dict[str, Work]:
    """The peers that are installed and have a transformation of their own for this API."""
    found = {}
    for name, make in makers.items():
        with suppress(ImportError, KeyError):
            found[name] = make(api)
    return found


def ratios(base: Work, works: Mapping[str, Work], repeats: int) -> dict[str, float]:
    """What `base` takes in microseconds, as "base", and what each other takes as a multiple of it."""
    taken = costs([base, *works.values()], repeats)
    return {"base": taken[0], **{name: one / taken[0] for name, one in zip(works, taken[1:], strict=True)}}


def _cells(told: Mapping[str, float], names: Iterable[str], digits: int) -> list[str]:
    return [f"{told[name]:.{digits}f}" if name in told else "" for name in names]


def encoding(repeats: int) -> str:
    """The table of requests."""
    rows = list[Sequence[str]]()
    for api in APIS:
        route = Route(provider=COMPATIBLE[api], base_url="http://model.test")
        body = orjson.loads(sent(request(), route))
        ours = {"cold": fresh(repeats, route), "warm": next_turns(repeats, route)}
        told = ratios(lambda b=body: orjson.dumps(b), {**ours, **peers(ENCODERS, api)}, repeats)  # type: ignore[misc]
        size = f"{len(orjson.dumps(body)) / 1000:.0f}"
        rows.append([api, size, f"{told['base']:.0f}", *_cells(told, [*ours, *ENCODERS], 1)])
    head = ["a request, to bytes", "kB", "`orjson.dumps`, µs", "Dragoman cold, ×", "next turn, ×"]
    return table([*head, *(f"{name}, ×" for name in ENCODERS)], rows)


def answers(repeats: int) -> str:
    """The table of whole answers."""
    rows = list[Sequence[str]]()
    for api in APIS:
        data = whole(api)
        if not read(api, data):
            raise SystemExit(f"{api} did not read its own answer: the measurement would mean nothing")
        works: dict[str, Work] = {"ours": lambda a=api, d=data: read(a, d), **peers(WHOLES, api)}  # type: ignore[misc]
        told = ratios(lambda d=data: orjson.loads(d), works, repeats)  # type: ignore[misc]
        rows.append([api, f"{len(data) / 1000:.1f}", f"{told['base']:.1f}", *_cells(told, ["ours", *WHOLES], 1)])
    head = ["an answer, from bytes", "kB", "`orjson.loads`, µs", "Dragoman, ×", *(f"{name}, ×" for name in WHOLES)]
    return table(head, rows)


def streams(repeats: int) -> str:
    """The table of streams."""
    rows = list[Sequence[str]]()
    for api in APIS:
        data = stream(api)
        chunks, found = payloads(api, data), decoded(api, data)
        if len(found.calls) != 1 or not found.text.endswith(f"word {CHUNKS // 2 - 1} "):
            raise SystemExit(f"{api} did not read its own stream: the measurement would mean nothing")
        works: dict[str, Work] = {"ours": lambda a=api, d=data: decoded(a, d), **peers(STREAMS, api)}  # type: ignore[misc]
        told = ratios(lambda c=chunks: [orjson.loads(one) for one in c], works, repeats)  # type: ignore[misc]
        base = told.pop("base") / len(chunks)
        each = {name: base * ratio for name, ratio in told.items()}
        rows.append([api, str(len(chunks)), f"{base:.2f}", *_cells(each, ["ours", *STREAMS], 1)])
    head = ["a chunk, from bytes", "chunks", "`orjson.loads`, µs", "Dragoman, µs", *(f"{name}, µs" for name in STREAMS)]
    return table(head, rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=41)
    options.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    chosen = options.parse_args()
    if chosen.repeats > MOST_REPEATS:
        options.error(f"--repeats is at most {MOST_REPEATS}")
    note = (
        f"{machine()}; load {os.getloadavg()[0]:.1f}; CPU time, median of {chosen.repeats}; {TOOLS} tools, {MESSAGES}"
        " messages.  Targets: a request"
        f" at most {COLD:.0f} × cold and {WARM} × for the next turn, an answer {WHOLE:.0f} ×, a chunk {EACH:.0f} µs"
        " over `orjson`."
    )
    text = "\n\n".join((encoding(chosen.repeats), answers(chosen.repeats), streams(chosen.repeats), note))
    print(text)
    if chosen.write:
        publish("codecs", text)


if __name__ == "__main__":
    main()
