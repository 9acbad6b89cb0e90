"""Seeded tasks of several steps, and the tools that do them: plain data and plain functions, for any driver.

Knows no library.  A task says what must have happened in the end (`wanted`); what a driver really executed is kept by
`Desk`, call by call, so that anything that was not meant shows.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

NAMES = ("january", "february", "march", "april", "may", "june", "july", "august")
CITIES = ("Oslo", "Bergen", "Zürich", "São Paulo", "København")
TAGS = ("quiet", "sea view", "late", "ground floor", "no smoking")


@dataclass(frozen=True)
class Task:
    """What is asked, the files there are, and every execution that is meant, as (tool, arguments)."""

    prompt: str
    files: dict[str, str]
    wanted: tuple[tuple[str, dict[str, Any]], ...]

    @property
    def last(self) -> str:
        """The tool that ends the task."""
        return self.wanted[-1][0]


def tasks(count: int, seed: int) -> list[Task]:
    """The first `count` tasks of this seed."""
    luck = Random(seed)
    return [(_sums if n % 2 else _booking)(luck) for n in range(count)]


def _sums(luck: Random) -> Task:
    names = luck.sample(NAMES, luck.randint(2, 4))
    sources = {f"{name}.txt": _amounts(luck) for name in names}
    numbers = [word for text in sources.values() for word in text.split() if word.isdigit()]
    target = f"total-{luck.randint(1, 99)}.txt"
    prompt = f"Read {' and '.join(sources)}, add up the amounts, and write the total to {target}."
    reads = [("read_file", {"path": path}) for path in sources]
    total = ("calculate", {"expression": " + ".join(numbers)})
    write = ("write_file", {"path": target, "content": f"{sum(map(int, numbers))}\n"})
    return Task(prompt, sources, (*reads, total, write))


def _amounts(luck: Random) -> str:
    return "\n".join(f"item {chr(97 + n)}: {luck.randint(2, 900)}" for n in range(luck.randint(1, 3)))


def _booking(luck: Random) -> Task:
    city, guests, nights = luck.choice(CITIES), luck.randint(1, 9), luck.randint(1, 14)
    breakfast, tags = luck.random() < 0.5, luck.sample(TAGS, 2)
    text = f"Booked {nights} nights in {city} for {guests}"
    booking = {"city": city, "guests": guests, "nights": nights, "breakfast": breakfast, "tags": tags}
    told = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in booking.items())
    prompt = f'Call find_train with city="{city}" and call book_room with {told}, then call send_note with '
    prompt += f'text="{text}".'
    wanted = (("find_train", {"city": city}), ("book_room", booking), ("send_note", {"text": text}))
    return Task(prompt, {}, wanted)


class Desk:
    """The tools of one task; what was executed stands in `done`, in order."""

    def __init__(self, task: Task) -> None:
        self._task, self._files = task, dict(task.files)
        self.done: list[tuple[str, dict[str, Any]]] = []

    def tools(self) -> dict[str, Callable[..., str]]:
        """Name → function, with types and words as users write them."""
        made = (self.read_file, self.calculate, self.write_file, self.find_train, self.book_room, self.send_note)
        return {function.__name__: function for function in made}

    def read_file(self, path: str) -> str:
        """Read a file of the folder."""
        self.done.append(("read_file", {"path": path}))
        return self._files.get(path, f"[ERROR:ENOENT] there is no {path}")

    def calculate(self, expression: str) -> str:
        """Work out an arithmetic expression."""
        self.done.append(("calculate", {"expression": expression}))
        return str(sum(_terms(expression)))

    def write_file(self, path: str, content: str) -> str:
        """Write a file of the folder."""
        self.done.append(("write_file", {"path": path, "content": content}))
        self._files[path] = content
        return f"wrote {path}"

    def find_train(self, city: str) -> str:
        """Find a train to a city."""
        self.done.append(("find_train", {"city": city}))
        return f"a train to {city} leaves at 9"

    def book_room(self, city: str, guests: int, nights: int, breakfast: bool, tags: list[str]) -> str:
        """Book a room."""
        booking = {"city": city, "guests": guests, "nights": nights, "breakfast": breakfast, "tags": list(tags)}
        self.done.append(("book_room", booking))
        return "booked"

    def send_note(self, text: str) -> str:
        """Send a note to the traveller."""
        self.done.append(("send_note", {"text": text}))
        return "sent"

    @property
    def finished(self) -> bool:
        """Has everything happened that was meant?"""
        return all(step in self.done for step in self._task.wanted)

    @property
    def meant(self) -> int:
        """How many calls are meant."""
        return len(self._task.wanted)

    @property
    def unmeant(self) -> int:
        """How many executions nobody meant: another tool, or other arguments (also of another type)."""
        wanted = [_exact(step) for step in self._task.wanted]
        return sum(_exact(step) not in wanted for step in self.done)

    @property
    def repeated(self) -> int:
        """How many executions had happened before."""
        seen = [_exact(step) for step in self.done]
        return len(seen) - len(set(seen))


def _exact(step: tuple[str, dict[str, Any]]) -> str:
    return json.dumps(step, sort_keys=True, ensure_ascii=False)


def _terms(expression: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield node.value


@dataclass
class Tally:
    """What a driver came to over its tasks; `wordless` are runs that ended without an answer and without a reason."""

    tasks: int = 0
    finished: int = 0
    unmeant: int = 0
    repeated: int = 0
    wordless: int = 0
    meant: int = 0
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)

    def add(self, desk: Desk, ended: str, *, words: bool = True) -> None:
        """One task; `ended` is how the driver said it ended, "" for an answer; `words`: it said something."""
        self.tasks += 1
        self.wordless += not words
        self.meant += desk.meant
        self.finished += desk.finished
        self.unmeant += desk.unmeant
        self.repeated += desk.repeated
        if not desk.finished:
            why = ended or "it said it was done"
            self.failures[why] = self.failures.get(why, 0) + 1
