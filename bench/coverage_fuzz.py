"""Damaged inputs, led by coverage: `python -m bench.coverage_fuzz --corpus DIR [libFuzzer options]`; needs `atheris`.

Three ways in, by the first byte of an input: a text through the parser, whole and in pieces; one value through the
lenient readers; a body, an answer or a stream through a wire API's decoders, and what was read out again on another
wire.  What may be raised is what the contracts name.  `DIR` is begun with the project's vectors and grows; a second run
goes on from it.  A finding ends the run, its input is kept as `crash-…` and shown by giving its name as an argument.
`--again DIR` runs what a corpus holds once, without atheris.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
VECTORS = HERE / "tests" / "vectors"
ODD: list[Any] = [None, True, 0, -1, 1.5, 10**30, "", "x", "\ud800", [], {}, [[]], [{}], {"a": 1}, "{}", "[DONE]"]
TEXT, VALUE, WIRE = range(3)
REQUEST, ANSWER, STREAM = range(3)
HEADER = 4
"""Bytes before the text of an input: which way in, and what of it."""
LONGEST = 4000


class Ways:
    """The ways in; made once atheris watches what is imported."""

    def __init__(self) -> None:
        self.fuzz = import_module("bench.fuzz")
        self.dragoman = import_module("dragoman")
        self.codecs = import_module("dragoman.codecs").CODECS
        self.reader = import_module("dragoman.lenient.reader")
        self.answers = import_module("dragoman.lenient.answers")
        self.yaml = import_module("dragoman.lenient.yaml")
        self.frames = import_module("dragoman.codecs.shared.frames")
        self.events = import_module("dragoman.events")
        self.errors = import_module("dragoman.errors")
        self.assert_strict = import_module("tests.support.recordings").assert_strict
        self.rows = list(self.dragoman.dialects)
        self.wires = list(self.codecs)
        self.writers = [name for name in self.wires if self.codecs[name].encode_request is not None]

    def one(self, data: bytes) -> None:
        """One input."""
        if len(data) < HEADER or len(data) > LONGEST:
            return
        way, what, which, seed = data[0] % 3, data[1], data[2], data[3]
        text = data[HEADER:].decode("utf-8", "surrogatepass" if seed % 7 == 0 else "replace") \
            if _is_text(data) else data[HEADER:].decode("latin-1")
        (self._parse, self._read, self._decode)[way](text, what, which, seed)

    def _parse(self, text: str, what: int, which: int, seed: int) -> None:
        tools = self.fuzz.TOOLS if what % 3 else None
        told = []
        for rng in (None, random.Random(seed)):
            events = self.fuzz.run(text, tools, rng)
            wrong = self.fuzz.violations(text, events)
            if wrong:
                raise AssertionError(wrong)
            told.append(self.fuzz.told(events))
        if told[0] != told[1]:
            raise AssertionError("pieces tell something else than the whole")
        row = self.rows[which % len(self.rows)]
        parser = self.dragoman.Parser(dialects=[row], tools=tools)
        parser.feed(text[: len(text) // 2])
        parser.feed(text[len(text) // 2 :])
        parser.close()

    def _read(self, text: str, what: int, which: int, seed: int) -> None:
        read: Callable[[], Any] = (
            lambda: self.reader.mend(text),
            lambda: self.yaml.read_mapping(text),
            lambda: self.answers.read_answer(text, None),
        )[what % 3]
        try:
            read()
        except (self.reader.Broken, self.reader.Cut, ValueError):
            return

    def _decode(self, text: str, what: int, which: int, seed: int) -> None:
        codec = self.codecs[self.wires[which % len(self.wires)]]
        other = self.codecs[self.wires[seed % len(self.wires)]]
        try:
            (self._request, self._answer, self._stream)[what % 3](codec, other, text)
        except self.errors.CodecError as error:
            if what % 3 != STREAM and not error.path.startswith("$"):
                raise
        except self.errors.ProviderError:
            return

    def _request(self, codec: Any, other: Any, text: str) -> None:
        body = _object(text)
        if body is not None:
            request = codec.decode_request(body)
            for each in (codec, other):
                self.frames.to_json(each.encode_request(request))

    def _answer(self, codec: Any, other: Any, text: str) -> None:
        body = _object(text)
        if body is not None:
            response = codec.decode_response(body)
            for each in (codec, other):
                self.frames.to_json(each.encode_response(response))

    def _stream(self, codec: Any, other: Any, text: str) -> None:
        decoder = codec.decode_stream()
        events: list[Any] = []
        for line in text.split("\n"):
            events += decoder.feed(self.frames.Frame(line))
        events += decoder.close()
        self.assert_strict(events)
        self.frames.to_json(other.encode_response(self.events.assemble(events)))
        encoder = other.encode_stream(whole_calls=False)
        for event in events:
            encoder.feed(event)
        encoder.close()


def _is_text(data: bytes) -> bool:
    try:
        data[HEADER:].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _object(text: str) -> dict[str, Any] | None:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def seeds() -> Iterator[bytes]:
    """The project's vectors as inputs."""
    fuzz = import_module("bench.fuzz")
    codecs = import_module("dragoman.codecs").CODECS
    asked = import_module("tests.support.gateways").ASKS
    for n, text in enumerate([*fuzz.material(), *(text for text, _ in fuzz.vectors())]):
        yield bytes((TEXT, n % 3, n % 256, n % 250)) + text.encode("utf-8", "replace")
        if n % 5 == 0:
            yield bytes((VALUE, n % 3, 0, 0)) + text.encode("utf-8", "replace")
    for at, name in enumerate(codecs):
        request = asked.get(name) or codecs[name].encode_request(codecs["openai_chat"].decode_request(
            {**asked["openai_chat"], "messages": [*asked["openai_chat"]["messages"], *_HISTORY]}))
        yield bytes((WIRE, REQUEST, at, at)) + json.dumps(request).encode()
        for line in (VECTORS / "codecs" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "response" in row:
                yield bytes((WIRE, ANSWER, at, at + 1)) + json.dumps(row["response"]).encode()
            if "stream" in row:
                chunks = (each if isinstance(each, str) else json.dumps(each) for each in row["stream"])
                yield bytes((WIRE, STREAM, at, at + 1)) + "\n".join(chunks).encode()


_HISTORY = [
    {"role": "assistant", "content": "So.", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"x": 1}'}}]},
    {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "seen"}]},
]  # fmt: skip


def mutated(data: bytes, rng: random.Random, others: Callable[[bytes], bytes]) -> bytes:
    """An input like `data`: as bytes, or, where it is JSON, with parts of it replaced, dropped, doubled."""
    lines = data[HEADER:].decode("utf-8", "replace").split("\n") if len(data) > HEADER and data[0] % 3 == WIRE else []
    at = rng.randrange(len(lines)) if lines else 0
    try:
        body = json.loads(lines[at]) if lines and rng.random() < 0.7 else None
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict | list):
        return others(data)
    for _ in range(rng.randint(1, 3)):
        _change(body, rng)
    lines[at] = json.dumps(body)
    if rng.random() < 0.2:
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return data[:HEADER] + "\n".join(lines).encode("utf-8", "replace")


def _change(body: Any, rng: random.Random) -> None:
    inside = body
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(inside[key], dict | list) and rng.random() < 0.8:
            inside = inside[key]
            continue
        break
    deed = rng.randrange(5)
    if deed == 0:
        del inside[key]
    elif deed == 1 and isinstance(inside, list):
        inside.append(deepcopy(inside[key]))
    elif deed == 2 and isinstance(inside, dict):
        inside[rng.choice(("type", "id", "name", "content", "text", "arguments", "x"))] = deepcopy(inside[key])
    else:
        inside[key] = deepcopy(rng.choice(ODD))


def begin(corpus: Path) -> None:
    """Fill an empty corpus."""
    corpus.mkdir(parents=True, exist_ok=True)
    if not any(corpus.iterdir()):
        for n, data in enumerate(seeds()):
            if len(data) <= LONGEST:
                (corpus / f"seed-{n}").write_bytes(data)


def again(folder: Path) -> None:
    """Run every input of a corpus once."""
    ways, inputs = Ways(), sorted(folder.iterdir())
    for path in inputs:
        try:
            ways.one(path.read_bytes())
        except Exception as error:
            sys.exit(f"{path}: {type(error).__name__}: {error}")
    print(f"{len(inputs):,} inputs, no violation")


def main() -> None:
    """Fuzz until ended, or run a corpus once."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--corpus", type=Path, default=Path("corpus"))
    options.add_argument("--again", type=Path)
    chosen, rest = options.parse_known_args()
    if chosen.again is not None:
        again(chosen.again)
        return
    atheris = import_module("atheris")
    watching: AbstractContextManager[Any] = atheris.instrument_imports(include=["dragoman"])
    with watching or nullcontext():
        ways = Ways()
    begin(chosen.corpus)

    def as_bytes(data: bytes) -> bytes:
        return bytes(atheris.Mutate(data, max(len(data), min(LONGEST, 2 * len(data) + 8))))

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        return mutated(data, random.Random(seed), as_bytes)[:most]

    atheris.Setup([sys.argv[0], *rest, f"-max_len={LONGEST}", str(chosen.corpus)], ways.one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
