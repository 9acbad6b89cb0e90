"""The stage: a scripted model that has no tools, the gateway in front of it, and a record of what clients asked.

The model knows three tasks.  WEATHER (of `dragoman.sim`) makes two calls side by side.  WRITE writes a file with
whatever tool the client offers for that, and reads it again where there is a tool for that too: it knows no client, and
finds the tools by the words of their names and their properties.  REPORT fills a form: with a tool that has its
properties, else in JSON the way weak models write it, in a fence and with words around it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim import Scenario, WeakModel, WeakReply, Wish, running, serving
from dragoman.sim.plans import Batch, Offer, Task
from dragoman.sim.scenarios import SCENARIOS
from dragoman.types import Message

TASK = "Please write the words {content} into the file {path} now."
_TASK = re.compile(r"write the words (?P<content>.+?) into the file (?P<path>\S+) now")
MODEL = "weak"
ERRING = "weak+prose+malformed=0.5+wrong_name=0.5+wrong_types=0.5+sloppy=0.5+rehearsed=0.3"
"""It talks around its calls, and half of them are broken in one way or several; nearly none is right as it stands."""

PATHS = ("file_path", "filePath", "filepath", "path", "absolute_path", "target_file", "filename", "file")
CONTENTS = ("content", "contents", "file_content", "file_text", "text", "new_text")
COMMANDS = ("command", "shell_command", "cmd", "commands", "script", "code")
WRITERS = frozenset({"write", "create", "save", "editor"})
READERS = frozenset({"read", "view"})
SHELLS = frozenset({"bash", "shell", "exec", "execute", "run", "terminal", "command", "commands"})
ENDERS = frozenset({"complete", "attempt_completion", "submit_and_exit", "task_complete", "finish"})
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What mini-SWE-agent's prompt asks for at the end."""


def _words(name: str) -> frozenset[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z0-9]+", spaced.casefold()))


def _first(offer: Offer, names: Sequence[str]) -> str:
    return next((name for name in names if name in offer.properties), "")


def _writers(offers: Sequence[Offer]) -> list[Offer]:
    return [o for o in offers if _words(o.name) & WRITERS and _first(o, PATHS) and _first(o, CONTENTS)]


def _shells(offers: Sequence[Offer]) -> list[Offer]:
    return [o for o in offers if _words(o.name) & SHELLS and _first(o, COMMANDS)]


def _padded(offer: Offer, arguments: dict[str, Any]) -> Wish:
    """The call with what else the tool requires, filled with something of the right kind."""
    plain: dict[object, Any] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
    rest = {name: _value(offer.properties.get(name, {}), plain) for name in offer.required if name not in arguments}
    return Wish(offer.name, {**rest, **arguments})


def _value(schema: Any, plain: dict[object, Any]) -> Any:
    if schema.get("enum"):
        return next((value for value in ("create", "shell", "bash") if value in schema["enum"]), schema["enum"][0])
    return plain.get(schema.get("type"), "write the file")


def _command(offer: Offer, line: str) -> Wish:
    key = _first(offer, COMMANDS)
    many = offer.properties[key].get("type") == "array"
    given: Any = ([line] if key == "commands" else ["bash", "-lc", line]) if many else line
    said = {"language": "shell"} if "language" in offer.properties else {}
    return _padded(offer, {**said, key: given})


def _write(task: Task) -> Generator[Batch, list[str], str]:
    path, content = task.words["path"], task.words["content"]
    writers, shells = _writers(task.offers), _shells(task.offers)
    if writers:
        offer = writers[0]
        yield [_padded(offer, {_first(offer, PATHS): path, _first(offer, CONTENTS): content + "\n"})]
    elif shells:
        yield [_command(shells[0], f"printf '%s\\n' {shlex.quote(content)} > {shlex.quote(path)}")]
    else:
        return "Writing a file"
    if _submits(task):
        yield [_command(shells[0], SUBMIT)]
    readers = [o for o in task.offers if _words(o.name) & READERS and _first(o, PATHS)]
    if writers and readers:
        yield [_padded(readers[0], {_first(readers[0], PATHS): path})]
    yield from _enders(task)
    return f"I wrote {path}."


def _submits(task: Task) -> bool:
    """Is the end of the task to be told by a command?"""
    return SUBMIT.split()[1] in task.text and bool(_shells(task.offers))


def _enders(task: Task) -> Generator[Batch, list[str], None]:
    """What tells a program that its task is done, where it has a tool for that."""
    for offer in [o for o in task.offers if o.name in ENDERS][:1]:
        yield [_padded(offer, {})]


def _list_file(task: Task) -> Generator[Batch, list[str], str]:
    """For programs without tools that take files out of the text: aider's "file listing"."""
    yield from ()
    return f"{task.words['path'].rpartition('/')[2]}\n```\n{task.words['content']}\n```\n"


def _report(task: Task) -> Generator[Batch, list[str], str]:
    form = {"city": task.words["city"], "temperature": int(task.words["degrees"])}
    offer = next((offer for offer in task.offers if form.keys() <= offer.properties.keys()), None)
    if offer is not None:
        yield [_padded(offer, form)]
        return "I filled in the form."
    return f"Here is the report:\n\n```json\n{json.dumps(form)}\n```\n"


REPORT = Scenario(
    name="report",
    task=re.compile(r"temperature in (?P<city>\w+) is (?P<degrees>\d+) degrees"),
    plan=_report,
    example="Report that the temperature in Oslo is 21 degrees.",
)


def _observed(task: Task) -> Generator[Batch, list[str], str]:
    """For programs that tell in words what was called and what came back: smolagents'."""
    cities = re.findall(r"'city': '(\w+)'", task.words["calls"])
    seen = zip(cities, task.words["seen"].split(), strict=False)
    text = " ".join(f"{city}: {report}." for city, report in sorted(seen))
    if task.knows("final_answer"):
        yield [Wish("final_answer", {"answer": text})]
    return text


OBSERVED = Scenario(
    name="observed",
    task=re.compile(r"\bweather\b.*Calling tools:\s*(?P<calls>.+?)\s*Observation:\s*(?P<seen>.+)", re.DOTALL),
    plan=_observed,
    example="Calling tools: [{'city': 'Oslo'}] Observation: rain",
)
WRITE = Scenario(name="write", task=_TASK, plan=_write, example=TASK.format(content="Hello", path="/tmp/hello.txt"))
LIST_FILE = Scenario(name="list_file", task=_TASK, plan=_list_file, example=WRITE.example)


def _told_in_words(messages: Sequence[Message]) -> Sequence[Message]:
    """The conversation with what was said up to the last observation as one message, where there is one."""
    last = max((n for n, m in enumerate(messages) if m.role == "user" and "Observation:" in m.text), default=0)
    if not last:
        return messages
    system = [message for message in messages[:last] if message.role == "system"]
    said = "\n\n".join(message.text for message in messages[: last + 1] if message.role != "system")
    return [*system, Message("user", said), *messages[last + 1 :]]


class Watched(WeakModel):
    """Counts the replies in which it made a mistake; reads a history told in words as one message."""

    slips = 0

    def reply(self, messages: Sequence[Message], **options: Any) -> WeakReply:
        """The reply to a conversation."""
        said = super().reply(_told_in_words(messages), **options)
        self.slips += bool(said.faults)
        return said


class Forgetful(Watched):
    """Sees instructions and the last message only: examples that stand before as a conversation do not mislead it."""

    def reply(self, messages: Sequence[Message], **options: Any) -> WeakReply:
        """The reply to the last message."""
        return super().reply([*(m for m in messages[:-1] if m.role == "system"), *messages[-1:]], **options)


@dataclass(slots=True)
class Asked:
    """One request a client made."""

    method: str
    path: str
    streamed: bool = False
    tools: int = 0
    status: int = 0
    body: bytes = field(default=b"", repr=False)
    answer: bytes = field(default=b"", repr=False)


class Record:
    """An ASGI application that writes down what goes through it."""

    def __init__(self, app: Any, model: Watched) -> None:
        self._app, self._model = app, model
        self.asked: list[Asked] = []

    @property
    def slips(self) -> int:
        """In how many replies the model made a mistake."""
        return self._model.slips

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        one = Asked(scope["method"], scope["path"])
        self.asked.append(one)

        async def received() -> Any:
            message = await receive()
            one.body += message.get("body", b"")
            return message

        async def sent(message: Any) -> None:
            one.status = message.get("status", one.status)
            one.answer += message.get("body", b"")
            await send(message)

        try:
            await self._app(scope, received, sent)
        finally:
            _understand(one)


def _understand(one: Asked) -> None:
    try:
        body = json.loads(one.body or b"{}")
    except ValueError:
        return
    if not isinstance(body, dict):
        return
    ollama = one.path.endswith(("/api/chat", "/api/generate"))
    one.streamed = bool(body.get("stream", ollama)) or "streamGenerateContent" in one.path
    tools = body.get("tools") or ()
    one.tools = sum(len(t.get("functionDeclarations", ())) or 1 for t in tools if isinstance(t, dict))


@contextmanager
def stage(*, tools: bool = True, model: str = MODEL) -> Iterator[tuple[str, Record]]:
    """The gateway's root, and the record of what it is asked; without `tools` the client is one that has none."""
    weak = Watched((WRITE, REPORT, OBSERVED, *SCENARIOS)) if tools else Forgetful((LIST_FILE,))
    with running(weak) as upstream:
        route = Route(provider=COMPATIBLE["openai_chat"], base_url=upstream, model=model)
        record = Record(create_app(GatewayConfig(default=route)), weak)
        with serving(record) as url:
            yield url, record
