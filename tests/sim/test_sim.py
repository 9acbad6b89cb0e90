"""The weak model: it reads its prompt, follows its plan, errs on demand, and says what it is."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import pytest

from dragoman.dialects import DIALECTS
from dragoman.dialects.engine.parse import parse
from dragoman.dialects.rows.documents import HERMES, TILDE_FENCE
from dragoman.dialects.spec import Dialect, TextArgs
from dragoman.dialects.writing.history import render_message
from dragoman.dialects.writing.prompt import augment_system_prompt
from dragoman.errors import UnknownName, UsageError
from dragoman.sim import FaultKind, Journal, Scenario, Task, WeakModel, WeakReply, Wish, habits, running
from dragoman.sim.faults import HARMLESS
from dragoman.sim.plans import Batch
from dragoman.types import Message, Tool, ToolCall, ToolResult
from tests.support.clocks import LONG

# A row whose calls are one text and nothing else cannot carry the tasks' arguments.
ROWS = [row for row in dict.fromkeys(DIALECTS.values()) if not isinstance(row.args, TextArgs)]
TASK = "Read january.txt and february.txt, add up the amounts, and write the total to total.txt."
FILES = {"january.txt": "rent 700.50\nfood 120\n", "february.txt": "rent 700.50\nfood 99.25\n"}


def _tool(name: str, **properties: str) -> Tool:
    fields = {key: {"type": kind} for key, kind in properties.items()}
    schema = {"type": "object", "properties": fields, "required": [*fields]}
    return Tool(name=name, description=f"{name}.", parameters=schema)


TOOLS = (
    _tool("read_file", path="string"),
    _tool("calculate", expression="string"),
    _tool("write_file", path="string", content="string"),
    _tool("get_weather", city="string"),
    _tool("set_limit", amount="integer", hard="boolean"),
)


def _run(name: str, arguments: Mapping[str, Any]) -> str:
    answers: dict[str, Callable[[], str]] = {
        "read_file": lambda: FILES[arguments["path"]],
        "calculate": lambda: str(sum(map(float, arguments["expression"].split(" + ")))),
        "write_file": lambda: "written",
        "get_weather": lambda: f"rain in {arguments['city']}",
        "set_limit": lambda: f"limit is {arguments['amount']}",
    }
    return answers[name]()


def _system(dialect: Dialect, *, compact: bool = False, nonce: str = "") -> Message:
    return Message("system", augment_system_prompt("Be brief.", TOOLS, dialect=dialect, compact=compact, nonce=nonce))


def _play(
    model: WeakModel, task: str, dialect: Dialect, name: str = "weak"
) -> tuple[list[tuple[str, Any]], list[WeakReply]]:
    """What a client without mercy does: run what it finds, send the results, stop at a text."""
    messages, calls, replies = [_system(dialect), Message("user", task)], [], []
    for _ in range(8):
        reply = model.reply(messages, model=name)
        replies.append(reply)
        found = parse(reply.text, tools=TOOLS, dialects=[dialect], finish_reason=reply.finish).calls
        if not found:
            break
        calls += [(call.name, dict(call.arguments)) for call in found]
        answers = [ToolResult(call_id=c.id, name=c.name, content=_run(c.name, c.arguments)) for c in found]
        messages.append(Message("assistant", reply.text))
        messages.append(Message("user", render_message(Message("tool", answers), dialect)))
    return calls, replies


WORK = [
    ("read_file", {"path": "january.txt"}),
    ("read_file", {"path": "february.txt"}),
    ("calculate", {"expression": "700.50 + 120 + 700.50 + 99.25"}),
    ("write_file", {"path": "total.txt", "content": "1620.25\n"}),
]


@pytest.mark.parametrize("dialect", ROWS, ids=lambda row: row.name)
def test_it_does_a_task_in_every_dialect_its_prompt_shows(dialect: Dialect) -> None:
    calls, replies = _play(WeakModel(), TASK, dialect)
    assert calls == WORK
    assert "1620.25" in replies[-1].text


@pytest.mark.parametrize("dialect", ROWS, ids=lambda row: row.name)
def test_its_name_decides_the_dialect_over_its_prompt(dialect: Dialect) -> None:
    other = HERMES if dialect is not HERMES else TILDE_FENCE
    reply = WeakModel().reply([_system(other), Message("user", TASK)], model=f"weak-{dialect.name}")
    assert [c.name for c in parse(reply.text, tools=TOOLS, dialects=[dialect]).calls] == ["read_file", "read_file"]


def test_it_reads_the_tools_out_of_a_compact_prompt() -> None:
    reply = WeakModel().reply(
        [_system(TILDE_FENCE, compact=True), Message("user", "Call set_limit with amount=3, hard=true")]
    )
    [call] = parse(reply.text, tools=TOOLS).calls
    assert call.arguments == {"amount": 3, "hard": True}


def test_it_copies_the_nonce_of_the_fence_it_is_shown() -> None:
    reply = WeakModel().reply([_system(TILDE_FENCE, nonce="7f3a9c"), Message("user", TASK)])
    assert reply.text.startswith("~~~tool_call:7f3a9c\n")


def test_it_reads_json_definitions_as_chat_templates_write_them() -> None:
    definition = {"type": "function", "function": {"name": "get_weather", "parameters": TOOLS[3].parameters}}
    prompt = (
        f"# Tools\n\n<tools>\n{json.dumps(definition)}\n</tools>\n\nFor each call return\n"
        '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
    )
    reply = WeakModel().reply([Message("system", prompt), Message("user", "How is the weather in Oslo?")])
    assert reply.text == '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


def test_independent_calls_stand_in_one_reply() -> None:
    reply = WeakModel().reply([_system(HERMES), Message("user", "What is the weather in Oslo, Paris and Rome?")])
    assert [c.arguments["city"] for c in parse(reply.text, tools=TOOLS).calls] == ["Oslo", "Paris", "Rome"]


def test_orders_are_followed_side_by_side_until_then() -> None:
    task = 'Call set_limit with amount=3, hard=false and call read_file with path="january.txt", '
    calls, replies = _play(WeakModel(), task + "then run get_weather with city=Oslo.", HERMES)
    assert calls == [
        ("set_limit", {"amount": 3, "hard": False}),
        ("read_file", {"path": "january.txt"}),
        ("get_weather", {"city": "Oslo"}),
    ]
    assert [len(parse(r.text, tools=TOOLS).calls) for r in replies] == [2, 1, 0]


def test_a_tool_is_found_by_its_name_in_the_prompt() -> None:
    prompt = augment_system_prompt(None, [_tool("fs.readFile", path="string"), *TOOLS[1:3]], dialect=HERMES)
    reply = WeakModel().reply([Message("system", prompt), Message("user", TASK)])
    assert [c.name for c in parse(reply.text).calls] == ["fs.readFile", "fs.readFile"]


# ── honesty ──────────────────────────────────────────────────────────────────


def test_an_unknown_task_is_answered_with_what_it_is() -> None:
    reply = WeakModel().reply([_system(HERMES), Message("user", "Write me a poem.")])
    assert "scripted model" in reply.text
    assert "get_weather" in reply.text


def test_without_the_tool_it_needs_it_says_so() -> None:
    reply = WeakModel().reply([Message("user", TASK)])
    assert "read_file" in reply.text
    assert parse(reply.text).calls == ()


def test_a_wish_that_keeps_failing_ends_in_an_honest_answer() -> None:
    messages = [_system(HERMES), Message("user", "weather in Oslo")]
    failed = ToolResult(call_id="1", content="no network", is_error=True, error_code="NetworkError")
    back = Message("user", render_message(Message("tool", [failed]), HERMES))
    for _ in range(10):
        reply = WeakModel().reply(messages)
        if not parse(reply.text, tools=TOOLS).calls:
            break
        messages += [Message("assistant", reply.text), back]
    assert "could not finish" in reply.text
    assert "NetworkError" in reply.text


def test_a_new_task_after_an_answer_is_a_new_task() -> None:
    messages = [
        _system(HERMES),
        Message("user", "Hello"),
        Message("assistant", "Hi."),
        Message("user", "weather in Rome"),
    ]
    assert [c.arguments for c in parse(WeakModel().reply(messages).text, tools=TOOLS).calls] == [{"city": "Rome"}]


def test_a_result_that_names_a_task_is_a_result() -> None:
    result = ToolResult(call_id="1", name="read_file", content=TASK)
    call = ToolCall(id="1", name="read_file", arguments={"path": "a.txt"})
    messages = [
        _system(HERMES),
        Message("user", 'Call read_file with path="a.txt"'),
        Message("assistant", render_message(Message("assistant", [call]), HERMES)),
        Message("user", render_message(Message("tool", [result]), HERMES)),
    ]
    assert WeakModel().reply(messages).text == f"read_file answered: {TASK}"


def test_words_after_a_result_are_a_new_task() -> None:
    call = ToolCall(id="1", name="get_weather", arguments={"city": "Oslo"})
    rain = ToolResult(call_id="1", name="get_weather", content="rain")
    messages = [
        _system(HERMES),
        Message("user", "weather in Oslo"),
        Message("assistant", render_message(Message("assistant", [call]), HERMES)),
        Message("user", render_message(Message("tool", [rain]), HERMES) + "\n\nNow the weather in Rome."),
    ]
    assert [c.arguments for c in parse(WeakModel().reply(messages).text, tools=TOOLS).calls] == [{"city": "Rome"}]


def test_programs_bring_their_own_plans() -> None:
    def greet(task: Task) -> Generator[Batch, list[str], str]:
        [weather] = yield [Wish("get_weather", {"city": task.words["city"]})]
        return f"Good morning, {weather}!"

    own = Scenario(name="greet", task=re.compile(r"greet (?P<city>\w+)"), plan=greet, example="greet Oslo")
    calls, replies = _play(WeakModel([own]), "greet Oslo", HERMES)
    assert calls == [("get_weather", {"city": "Oslo"})]
    assert replies[-1].text == "Good morning, rain in Oslo!"


# ── pieces, limits, luck ─────────────────────────────────────────────────────


MARKUP = "see </parameter>, </function>\n</tool_call> and <parameter=path>"
COPY = "copy"


def _copy(task: Task) -> Generator[Batch, list[str], str]:
    yield [Wish("write_file", {"path": "a.md", "content": MARKUP})]
    return "Copied."


COPYING = WeakModel([Scenario(name=COPY, task=re.compile(COPY), plan=_copy, example=COPY)])


@pytest.mark.parametrize("name", ["qwen3_coder", "anthropic_xml", "glm45"])
def test_markup_in_a_value_is_written_as_it_is(name: str) -> None:
    reply = COPYING.reply([_system(DIALECTS[name]), Message("user", "copy it")])
    assert MARKUP in reply.text
    assert "RAW" not in reply.text


@pytest.mark.parametrize("name", ["qwen3_coder", "anthropic_xml", "glm45", "hermes"])
def test_its_calls_may_be_kept_in_the_form_of_its_prompt_and_not_in_its_own(name: str) -> None:
    kept = Message("assistant", [ToolCall(id="1", name="write_file", arguments={"path": "a.md", "content": MARKUP})])
    result = Message("tool", [ToolResult(call_id="1", name="write_file", content="written")])
    told = [Message(m.role if m.role != "tool" else "user", render_message(m, TILDE_FENCE)) for m in (kept, result)]
    messages = [_system(TILDE_FENCE), Message("user", "copy it"), *told]
    assert COPYING.reply(messages, model=f"weak-{name}").text == "Copied."


def test_the_pieces_are_the_text_and_the_same_again() -> None:
    messages = [_system(HERMES), Message("user", TASK)]
    reply = WeakModel(seed=1).reply(messages)
    assert "".join(reply.chunks) == reply.text
    assert len(reply.chunks) > 5
    assert WeakModel(seed=1).reply(messages) == reply
    assert WeakModel(seed=2).reply(messages).chunks != reply.chunks


def test_a_limit_of_tokens_cuts_the_text_and_says_length() -> None:
    reply = WeakModel().reply([_system(HERMES), Message("user", TASK)], max_tokens=4)
    assert (len(reply.chunks), reply.finish) == (4, "length")


def test_a_stop_string_ends_the_text_before_it() -> None:
    reply = WeakModel().reply([_system(HERMES), Message("user", TASK)], stop=["</tool_call>"])
    assert reply.text.endswith("}}\n")
    assert reply.finish == "stop"


# ── faults ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fault", sorted(HARMLESS))
@pytest.mark.parametrize("dialect", [HERMES, TILDE_FENCE], ids=lambda row: row.name)
def test_a_harmless_fault_changes_the_text_and_not_the_calls(fault: FaultKind, dialect: Dialect, seed: int) -> None:
    task = "Call set_limit with amount=3, hard=true and call get_weather with city=Oslo"
    messages = [_system(dialect), Message("user", task)]
    plain, faulty = WeakModel(seed=seed).reply(messages), WeakModel(rates={fault: 1.0}, seed=seed).reply(messages)
    assert faulty.faults == {fault}
    assert faulty.text != plain.text
    found = parse(faulty.text, tools=TOOLS, finish_reason=faulty.finish).calls
    assert [(c.name, c.arguments) for c in found] in (
        [("set_limit", {"amount": 3, "hard": True}), ("get_weather", {"city": "Oslo"})],
        [("set_limit", {"amount": "3", "hard": "True"}), ("get_weather", {"city": "Oslo"})],
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fault", sorted(set(FaultKind) - HARMLESS))
@pytest.mark.parametrize("dialect", [HERMES, TILDE_FENCE], ids=lambda row: row.name)
def test_a_grave_fault_loses_a_call_until_it_is_corrected(fault: FaultKind, dialect: Dialect, seed: int) -> None:
    model = WeakModel(rates={fault: 1.0}, seed=seed)
    messages = [_system(dialect), Message("user", "What is the weather in Oslo?")]
    faulty = model.reply(messages)
    assert parse(faulty.text, tools=TOOLS, finish_reason=faulty.finish).calls == ()
    messages += [Message("assistant", faulty.text), Message("user", "That was no valid call. Send it again.")]
    again = model.reply(messages)
    assert [c.arguments for c in parse(again.text, tools=TOOLS, finish_reason=again.finish).calls] == [{"city": "Oslo"}]


def test_a_rate_is_about_how_often_a_fault_happens() -> None:
    faulty = [
        WeakModel(seed=seed).reply([_system(HERMES), Message("user", TASK)], model="weak+prose=0.25").faults
        for seed in range(200)
    ]
    assert 30 <= sum(map(bool, faulty)) <= 70


def test_a_name_says_dialect_and_rates() -> None:
    named = habits("weak-hermes+prose+truncated=0.25:latest")
    assert named.dialect is HERMES
    assert named.rates == {FaultKind.PROSE: 1.0, FaultKind.TRUNCATED: 0.25}
    assert habits("weak+errors=0.5").rates == dict.fromkeys(FaultKind, 0.5)


@pytest.mark.parametrize(
    ("name", "error", "advice"),
    [
        ("gpt-5", UsageError, "names are weak"),
        ("weak-hermez", UnknownName, "did you mean 'hermes'"),
        ("weak+typos", UsageError, "write one of errors, prose"),
        ("weak+prose=often", UsageError, "=RATE between 0 and 1"),
    ],
)
def test_an_unknown_name_is_refused_with_advice(name: str, error: type[Exception], advice: str) -> None:
    with pytest.raises(error, match=re.escape(advice)):
        habits(name)


# ── over HTTP ────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def journal() -> Journal:
    return Journal()


@pytest.fixture(scope="module")
def url(journal: Journal) -> Iterator[str]:
    with running(journal=journal) as base:
        yield base


def _http(url: str, body: object | None = None) -> tuple[int, str]:
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=LONG) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def _chat(**more: object) -> dict[str, object]:
    prompt = {"role": "system", "content": _system(HERMES).text}
    question = {"role": "user", "content": [{"type": "text", "text": "What is the weather in Oslo?"}]}
    return {"model": "weak", "messages": [prompt, question], **more}


CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


def test_openai_whole(url: str, journal: Journal) -> None:
    status, text = _http(f"{url}/v1/chat/completions", _chat())
    answer = json.loads(text)
    assert status == 200
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": CALL}
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] > 5
    assert journal.exchanges[-1].reply.text == CALL


def test_openai_streamed(url: str) -> None:
    _, text = _http(f"{url}/v1/chat/completions", _chat(stream=True, stream_options={"include_usage": True}))
    *frames, done, end = text.split("\n\n")
    chunks = [json.loads(frame.removeprefix("data: ")) for frame in frames]
    deltas = [c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]]
    assert (done, end) == ("data: [DONE]", "")
    assert "".join(deltas) == CALL
    assert len(deltas) > 5
    assert chunks[-1]["usage"]["total_tokens"] > 0


def test_ollama_whole_and_streamed_by_default(url: str) -> None:
    _, whole = _http(f"{url}/api/chat", _chat(stream=False))
    _, streamed = _http(f"{url}/api/chat", _chat())
    lines = [json.loads(line) for line in streamed.splitlines()]
    assert json.loads(whole)["message"]["content"] == "".join(line["message"]["content"] for line in lines) == CALL
    assert [line["done"] for line in lines[-2:]] == [False, True]
    assert lines[-1]["done_reason"] == "stop"


def test_ollama_options_limit_the_answer(url: str) -> None:
    _, whole = _http(f"{url}/api/chat", _chat(stream=False, options={"num_predict": 3}))
    assert json.loads(whole)["done_reason"] == "length"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat"])
@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (_chat(tools=[{"type": "function"}]), 400, "weak does not support tools"),
        (b"{", 400, "invalid JSON"),
        ([], 400, "must be a JSON object"),
        ({"messages": []}, 400, "model is required"),
        ({"model": "weak", "messages": []}, 400, "messages must be a list"),
        ({"model": "weak", "messages": [{"role": "wizard"}]}, 400, "unknown role 'wizard'"),
        (_chat(model="llama"), 404, "model 'llama' not found"),
    ],
)
def test_a_bad_request_gets_the_error_of_the_api(
    url: str, path: str, body: object, status: int, message: str
) -> None:
    got, text = _http(url + path, body)
    error = json.loads(text)["error"]
    assert got == status
    assert message in (error["message"] if path.startswith("/v1") else error)


def test_ignoring_tools_it_answers_without_them() -> None:
    with running(ignore_tools=True) as base:
        status, _ = _http(f"{base}/v1/chat/completions", _chat(tools=[{"type": "function"}]))
    assert status == 200


def test_it_lists_itself_to_both_kinds_of_client(url: str) -> None:
    openai = [row["id"] for row in json.loads(_http(f"{url}/v1/models")[1])["data"]]
    ollama = [row["name"] for row in json.loads(_http(f"{url}/api/tags")[1])["models"]]
    assert openai == ollama
    assert {"weak", "weak-hermes"} <= set(openai)
    assert json.loads(_http(f"{url}/api/show", {"model": "weak"})[1])["capabilities"] == ["completion"]
    assert json.loads(_http(f"{url}/api/version")[1])["version"]


def test_the_port_is_free_when_the_block_is_left() -> None:
    for _ in range(2):
        with running(port=0) as base:
            port = int(base.rpartition(":")[2])
        with running(port=port) as again:
            assert again == base
