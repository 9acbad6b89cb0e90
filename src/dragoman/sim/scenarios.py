"""The tasks the weak model knows, one row each.

A row is a pattern that recognises the task and a plan that does it (`plans.py` says what a plan is).  Tests and
programs pass their own rows the same way.  Order matters: the first row that recognises a task gets it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator

from ..types import Json, JsonObject
from .plans import Batch, Offer, Scenario, Task, Wish

_FILE = r"[\w./~-]*\w\.\w+"
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


def _add_up(task: Task) -> Generator[Batch, list[str], str]:
    sources = re.findall(_FILE, task.words["sources"])
    target = task.words["target"]
    texts = yield [Wish("read_file", {"path": path}) for path in sources]
    numbers = [number for text in texts for number in _NUMBER.findall(text)]
    if not numbers:
        return f"I found no numbers in {' and '.join(sources)}, so I wrote nothing."
    [total] = yield [Wish("calculate", {"expression": " + ".join(numbers)})]
    yield [Wish("write_file", {"path": target, "content": total.strip() + "\n"})]
    return f"The total is {total.strip()}; I wrote it to {target}."


def _weather(task: Task) -> Generator[Batch, list[str], str]:
    places = [p for p in re.split(r"\s*(?:,|\band\b)\s*", task.words["places"].strip()) if p]
    key = task.offer("get_weather").first_key("city")
    reports = yield [Wish("get_weather", {key: place}) for place in places]
    return " ".join(f"{place}: {report.strip()}." for place, report in zip(places, reports, strict=True))


_STRING = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
_VERB = r"\b(?:call|use|run)\b"
_ORDER = re.compile(
    rf"{_VERB}\s+[`\"']?(?P<tool>[A-Za-z_][\w.:/-]*\w)[`\"']?(?P<rest>(?:{_STRING}|.)*?)(?={_VERB}|$)",
    re.IGNORECASE | re.DOTALL,
)
_ARGUMENT = re.compile(rf"(?P<key>[A-Za-z_]\w*)\s*=\s*(?P<value>{_STRING}|\[[^\]]*\]|\{{[^}}]*\}}|[^\s,;]+)")
_THEN = re.compile(r"\bthen\b", re.IGNORECASE)


def _orders(task: Task) -> Generator[Batch, list[str], str]:
    """`call A with x=1 and call B, then call C`: A and B side by side, C after them."""
    answers: list[str] = []
    for wishes in _stages(task):
        results = yield wishes
        answers += [f"{w.tool} answered: {text.strip()}" for w, text in zip(wishes, results, strict=True)]
    return "\n".join(answers) or _about(task)


def _stages(task: Task) -> list[list[Wish]]:
    stages: list[list[Wish]] = [[]]
    for found in _ORDER.finditer(task.text):
        offer = task.offer(found["tool"])
        if task.knows(offer.name):
            stages[-1].append(Wish(offer.name, _arguments(found["rest"], offer)))
        if _THEN.search(re.sub(_STRING, "", found["rest"])):
            stages.append([])
    return [stage for stage in stages if stage]


def _arguments(text: str, offer: Offer) -> JsonObject:
    return {m["key"]: _value(m["value"], offer.properties.get(m["key"])) for m in _ARGUMENT.finditer(text)}


def _value(text: str, schema: JsonObject | None) -> Json:
    quoted = text[:1] in "\"'" and text[:1] == text[-1:] and len(text) > 1
    if text.startswith("'") and quoted:
        return text[1:-1]
    plain = text if quoted else text.rstrip(".!?")
    if not quoted and schema is not None and schema.get("type") == "string":
        return plain
    try:
        value: Json = json.loads(plain)
    except ValueError:
        return plain
    return value


def _introduce(task: Task) -> Generator[Batch, list[str], str]:
    yield from ()
    return _about(task)


def _about(task: Task) -> str:
    listed = ", ".join(o.name for o in task.offers) or "none"
    examples = "\n".join(f"- {s.example}" for s in SCENARIOS)
    return (
        "I am a scripted model for demonstrations and tests; I only follow plans like these:\n"
        f"{examples}\nTools I can see: {listed}."
    )


ADD_UP = Scenario(
    name="add_up",
    task=re.compile(
        rf"\bread\s+(?P<sources>{_FILE}(?:\s*(?:,|and|,\s*and)\s*{_FILE})*).*\b(?:add|sum|total)\b.*\bwrite\b.*?\bto\s+(?P<target>{_FILE})",
        re.IGNORECASE | re.DOTALL,
    ),
    plan=_add_up,
    example="Read january.txt and february.txt, add up the amounts, and write the total to total.txt.",
)
WEATHER = Scenario(
    name="weather",
    task=re.compile(r"\bweather\b.*?\b(?:in|for)\s+(?P<places>[^?.!\n]+)", re.IGNORECASE | re.DOTALL),
    plan=_weather,
    example="What is the weather in Oslo and Paris?",
)
ORDERS = Scenario(
    name="orders",
    task=_ORDER,
    plan=_orders,
    example='Call read_file with path="a.txt" and call list_files, then call delete_file with path="a.txt".',
)
SCENARIOS = (ADD_UP, WEATHER, ORDERS)
INTRODUCTION = Scenario(name="introduction", task=re.compile(""), plan=_introduce, example="Hello.")
"""For every task no other scenario knows: say what this model is."""
