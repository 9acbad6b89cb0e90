"""Synthetic corpora: one dialogue, told in every shape by hand-written tellers that share no code with the writers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

WORDS = ["weather", "stock", "Öl", "flight", "taxi", "東京", "price", "'quoted'", "news", '"x"', "hotel", "recipe", "naïve", "map", "list", "5%", "note"]


class Call(NamedTuple):
    name: str
    arguments: dict[str, Any]


class Round(NamedTuple):
    """What the user asks, what is called, what came of it, what is said in the end."""

    question: str
    calls: list[Call]
    results: list[str]
    answer: str


class Dialogue(NamedTuple):
    system: str
    rounds: list[Round]
    tools: list[dict[str, Any]]

    @property
    def calls(self) -> list[Call]:
        return [call for each in self.rounds for call in each.calls]


def dialogue(seed: int, *, parallel: bool = True, rounds: int = 3) -> Dialogue:
    """A dialogue; without `parallel` each round has one call."""
    rnd = random.Random(seed)
    tools = [_tool(rnd, i) for i in range(rnd.randint(1, 4))]
    made = []
    for _ in range(rnd.randint(1, rounds)):
        count = rnd.randint(1, 3) if parallel else 1
        calls = [_call(rnd, rnd.choice(tools)) for _ in range(count)]
        results = [json.dumps({"value": rnd.randint(0, 99)}) if rnd.random() < 0.5 else _text(rnd) for _ in calls]
        made.append(Round(_text(rnd), calls, results, _text(rnd)))
    return Dialogue("You help. " + _text(rnd), made, tools)


def _text(rnd: random.Random) -> str:
    return " ".join(rnd.choice(WORDS) for _ in range(rnd.randint(4, 9))) + "."


def _tool(rnd: random.Random, number: int) -> dict[str, Any]:
    properties = {
        f"city_{number}": {"type": "string", "description": "where"}, "days": {"type": "integer"},
        "exact": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}},
    }  # fmt: skip
    chosen = {key: properties[key] for key in rnd.sample(list(properties), rnd.randint(1, 4))}
    schema = {"type": "object", "properties": chosen, "required": [next(iter(chosen))]}
    return {"name": f"get_{rnd.choice(['alpha', 'beta', 'gamma'])}_{number}", "description": _text(rnd), "parameters": schema}


def _call(rnd: random.Random, tool: dict[str, Any]) -> Call:
    values: dict[str, Callable[[], Any]] = {
        "string": lambda: rnd.choice(WORDS), "integer": lambda: rnd.randint(-5, 500), "boolean": lambda: rnd.random() < 0.5,
        "array": lambda: [rnd.choice(WORDS) for _ in range(rnd.randint(1, 2))],
    }  # fmt: skip
    schema = tool["parameters"]
    given = {
        key: values[one["type"]]() for key, one in schema["properties"].items()
        if key in schema["required"] or rnd.random() < 0.6
    }  # fmt: skip
    return Call(tool["name"], given)


# ── tellers ──────────────────────────────────────────────────────────────────


def functions(talk: Dialogue) -> list[dict[str, Any]]:
    return [{"type": "function", "function": tool} for tool in talk.tools]


def chat(talk: Dialogue, *, text: bool = True, nine: bool = False, system: bool = True) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{"role": "system", "content": talk.system}] if system else []
    count = 0
    for each in talk.rounds:
        made.append({"role": "user", "content": each.question})
        ids = [f"abcde{count + i:04}" if nine else f"call_{count + i}" for i in range(len(each.calls))]
        count += len(ids)
        made.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": id_, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments) if text else c.arguments}}
            for id_, c in zip(ids, each.calls, strict=True)]})  # fmt: skip
        made += [{"role": "tool", "tool_call_id": id_, "content": r} for id_, r in zip(ids, each.results, strict=True)]
        made.append({"role": "assistant", "content": each.answer})
    return made


def sharegpt(talk: Dialogue) -> dict[str, Any]:
    made = []
    for each in talk.rounds:
        calls = [{"name": c.name, "arguments": c.arguments} for c in each.calls]
        made += [
            {"from": "human", "value": each.question},
            {"from": "function_call", "value": json.dumps(calls[0] if len(calls) == 1 else calls)},
            {"from": "observation", "value": each.results[0] if len(calls) == 1 else json.dumps(each.results)},
            {"from": "gpt", "value": each.answer},
        ]
    return {"conversations": made, "system": talk.system, "tools": json.dumps(talk.tools)}


def hermes(talk: Dialogue) -> dict[str, Any]:
    made = [{"from": "system", "value": talk.system}]
    for each in talk.rounds:
        calls = "\n".join(
            f"<tool_call>\n{json.dumps({'name': c.name, 'arguments': c.arguments}, ensure_ascii=False)}\n</tool_call>"
            for c in each.calls
        )
        results = "\n".join(f"<tool_response>\n{r}\n</tool_response>" for r in each.results)
        made += [{"from": "human", "value": each.question}, {"from": "gpt", "value": calls},
                 {"from": "tool", "value": results}, {"from": "gpt", "value": each.answer}]  # fmt: skip
    return {"id": "1", "conversations": made, "tools": json.dumps(functions(talk)), "category": "c", "task": "t"}


def chatml(talk: Dialogue, *, tools_inside: bool = False) -> dict[str, Any]:
    told = "".join(f"<tools>\n{json.dumps(one)}\n</tools>" for one in functions(talk)) if tools_inside else ""
    made = [("system", talk.system + told)]
    for each in talk.rounds:
        calls = "\n".join(f"<tool_call>\n{json.dumps({'name': c.name, 'arguments': c.arguments})}\n</tool_call>" for c in each.calls)
        results = "\n".join(f"<tool_response>\n{r}\n</tool_response>" for r in each.results)
        made += [("user", each.question), ("assistant", calls), ("user", results), ("assistant", each.answer)]
    text = "\n".join(f"<|im_start|>{role}\n{words}<|im_end|>" for role, words in made)
    return {"text": text} if tools_inside else {"text": text, "tools": functions(talk)}


def swift(talk: Dialogue) -> dict[str, Any]:
    made = [{"role": "system", "content": talk.system}]
    for each in talk.rounds:
        made.append({"role": "user", "content": each.question})
        made += [{"role": "tool_call", "content": json.dumps({"name": c.name, "arguments": c.arguments})} for c in each.calls]
        made += [{"role": "tool_response", "content": r} for r in each.results]
        made.append({"role": "assistant", "content": each.answer})
    return {"tools": json.dumps(functions(talk)), "messages": made}


def anthropic(talk: Dialogue) -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    count = 0
    for each in talk.rounds:
        ids = [f"toolu_{count + i}" for i in range(len(each.calls))]
        count += len(ids)
        made += [
            {"role": "user", "content": each.question},
            {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": c.name, "input": c.arguments} for i, c in zip(ids, each.calls, strict=True)]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": r} for i, r in zip(ids, each.results, strict=True)]},
            {"role": "assistant", "content": each.answer},
        ]  # fmt: skip
    tools = [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in talk.tools]
    return {"system": talk.system, "messages": made, "tools": tools}


def gemini(talk: Dialogue) -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    for each in talk.rounds:
        results = [{"functionResponse": {"name": c.name, "response": {"result": r}}} for c, r in zip(each.calls, each.results, strict=True)]
        made += [
            {"role": "user", "parts": [{"text": each.question}]},
            {"role": "model", "parts": [{"functionCall": {"name": c.name, "args": c.arguments}} for c in each.calls]},
            {"role": "user", "parts": results}, {"role": "model", "parts": [{"text": each.answer}]},
        ]  # fmt: skip
    return {"systemInstruction": {"parts": [{"text": talk.system}]}, "contents": made, "tools": [{"functionDeclarations": talk.tools}]}


def responses(talk: Dialogue) -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    for number, each in enumerate(talk.rounds):
        ids = [f"call_{number}_{i}" for i in range(len(each.calls))]
        made.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": each.question}]})
        made += [{"type": "function_call", "call_id": i, "name": c.name, "arguments": json.dumps(c.arguments)} for i, c in zip(ids, each.calls, strict=True)]
        made += [{"type": "function_call_output", "call_id": i, "output": r} for i, r in zip(ids, each.results, strict=True)]
        made.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": each.answer}]})
    return {"model": "m", "instructions": talk.system, "input": made, "tools": [{"type": "function", **tool} for tool in talk.tools]}


def converse(talk: Dialogue) -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    for number, each in enumerate(talk.rounds):
        ids = [f"tooluse_{number}_{i}" for i in range(len(each.calls))]
        made += [
            {"role": "user", "content": [{"text": each.question}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": i, "name": c.name, "input": c.arguments}} for i, c in zip(ids, each.calls, strict=True)]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": i, "content": [{"text": r}]}} for i, r in zip(ids, each.results, strict=True)]},
            {"role": "assistant", "content": [{"text": each.answer}]},
        ]  # fmt: skip
    specs = [{"toolSpec": {"name": t["name"], "description": t["description"], "inputSchema": {"json": t["parameters"]}}} for t in talk.tools]
    return {"system": [{"text": talk.system}], "messages": made, "toolConfig": {"tools": specs}}


def glaive(talk: Dialogue) -> dict[str, Any]:
    chat_ = ""
    for each in talk.rounds:
        [called] = each.calls
        chat_ += f"USER: {each.question}\n\n\nASSISTANT: <functioncall> {{\"name\": \"{called.name}\", \"arguments\": '{json.dumps(called.arguments)}'}} <|endoftext|>\n\n\nFUNCTION RESPONSE: {each.results[0]}\n\n\nASSISTANT: {each.answer} <|endoftext|>\n\n\n"
    listed = "\n".join(json.dumps(tool, indent=4) for tool in talk.tools)
    return {"system": f"SYSTEM: {talk.system} Use them if required -\n{listed}\n", "chat": chat_}


def xlam(talk: Dialogue) -> dict[str, Any]:
    words = {"string": "str", "integer": "int", "boolean": "bool", "array": "List[str]"}
    tools = []
    for t in talk.tools:
        required = t["parameters"]["required"]
        parameters = {
            name: {"description": "d", "type": words[one["type"]] + ("" if name in required else ", optional")}
            for name, one in t["parameters"]["properties"].items()
        }
        tools.append({"name": t["name"], "description": t["description"], "parameters": parameters})
    answers = [{"name": c.name, "arguments": c.arguments} for c in talk.rounds[0].calls]
    return {"id": 7, "query": talk.rounds[0].question, "tools": json.dumps(tools), "answers": json.dumps(answers)}


def toolace(talk: Dialogue) -> dict[str, Any]:
    tools = [{**t, "parameters": {**t["parameters"], "type": "dict"}} for t in talk.tools]
    made = []
    for each in talk.rounds:
        calls = ", ".join(f"{c.name}({', '.join(f'{k}={v!r}' for k, v in c.arguments.items())})" for c in each.calls)
        made += [{"from": "user", "value": each.question}, {"from": "assistant", "value": f"[{calls}]"},
                 {"from": "tool", "value": json.dumps(each.results)}, {"from": "assistant", "value": each.answer}]  # fmt: skip
    return {"system": f"{talk.system}\nHere is a list of functions in JSON format that you can invoke:\n{json.dumps(tools)}\nNo other.", "conversations": made}


def toolbench(talk: Dialogue) -> dict[str, Any]:
    made = [{"from": "system", "value": talk.system + " " + repr(talk.tools)}]
    for each in talk.rounds:
        [called] = each.calls
        made += [{"from": "user", "value": each.question},
                 {"from": "assistant", "value": f"Thought: so be it\nAction: {called.name}\nAction Input: {json.dumps(called.arguments)}"},
                 {"from": "function", "value": each.results[0]}, {"from": "assistant", "value": each.answer}]  # fmt: skip
    return {"id": "q", "conversations": made}


def tau(talk: Dialogue) -> dict[str, Any]:
    made = []
    for message in chat(talk, text=False, system=False):
        calls = message.pop("tool_calls", None)
        if calls:
            message["tool_calls"] = [{"id": c["id"], **c["function"], "requestor": "assistant"} for c in calls]
        if message["role"] == "tool":
            message = {"role": "tool", "id": message["tool_call_id"], "content": message["content"], "requestor": "assistant", "error": False}
        made.append(message)
    return {"task_id": "1", "trial": 0, "reward_info": {"reward": 1.0}, "messages": made, "tools": functions(talk)}


def otel(talk: Dialogue) -> dict[str, Any]:
    asked = []
    for message in chat(talk, text=False, system=False):
        if message["role"] == "tool":
            parts = [{"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}]
        else:
            parts = [{"type": "text", "content": message["content"]}] if message["content"] else []
            parts += [{"type": "tool_call", "id": c["id"], **c["function"]} for c in message.get("tool_calls", ())]
        asked.append({"role": message["role"], "parts": parts})
    answer = {**asked.pop(), "finish_reason": "stop"}
    system = [{"type": "text", "content": talk.system}]
    return {"attributes": {"gen_ai.system_instructions": json.dumps(system), "gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": [answer], "gen_ai.tool.definitions": json.dumps(talk.tools)}}


def openinference(talk: Dialogue) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    messages = chat(talk)
    for name, some in (("input", messages[:-1]), ("output", messages[-1:])):
        for i, message in enumerate(some):
            root = f"llm.{name}_messages.{i}.message"
            for key in ("role", "content", "tool_call_id"):
                if message.get(key) is not None:
                    flat[f"{root}.{key}"] = message[key]
            for j, call in enumerate(message.get("tool_calls", ())):
                base = f"{root}.tool_calls.{j}.tool_call"
                flat |= {f"{base}.id": call["id"], f"{base}.function.name": call["function"]["name"], f"{base}.function.arguments": call["function"]["arguments"]}
    flat |= {f"llm.tools.{i}.tool.json_schema": json.dumps(tool) for i, tool in enumerate(talk.tools)}
    return {"attributes": flat}


def atif(talk: Dialogue) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"step_id": 0, "source": "system", "message": talk.system}]
    count = 0
    for each in talk.rounds:
        ids = [f"c{count + i}" for i in range(len(each.calls))]
        count += len(ids)
        calls = [{"tool_call_id": i, "function_name": c.name, "arguments": c.arguments} for i, c in zip(ids, each.calls, strict=True)]
        results = [{"source_call_id": i, "content": r} for i, r in zip(ids, each.results, strict=True)]
        steps += [{"source": "user", "message": each.question},
                  {"source": "agent", "message": "", "tool_calls": calls, "observation": {"results": results}},
                  {"source": "agent", "message": each.answer}]  # fmt: skip
    return {"schema_version": "ATIF-v1.4", "agent": {"tool_definitions": functions(talk)}, "steps": steps}


def preference(talk: Dialogue) -> dict[str, Any]:
    messages = chat(talk, text=False)
    return {"prompt": messages[:2], "chosen": messages[2:], "rejected": [{"role": "assistant", "content": "No."}], "tools": functions(talk)}


def openai_preference(talk: Dialogue) -> dict[str, Any]:
    messages = chat(talk)
    return {"input": {"messages": messages[:-1], "tools": functions(talk)}, "preferred_output": messages[-1:], "non_preferred_output": [{"role": "assistant", "content": "No."}]}


def padded(talk: Dialogue) -> dict[str, Any]:
    """As Arrow gives messages back: every key of any role, null where a row has none."""
    keys = ("role", "content", "tool_calls", "tool_call_id", "name")
    return {"trajectory_id": "t", "trajectory": [{k: m.get(k) for k in keys} for m in chat(talk)], "tools": functions(talk)}


def events(talk: Dialogue) -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    for each in talk.rounds:
        [called] = each.calls
        made.append({"id": len(made), "source": "user", "action": "message", "args": {"content": each.question}})
        made.append({"id": len(made), "source": "agent", "action": called.name, "args": called.arguments})
        made.append({"id": len(made), "source": "agent", "observation": called.name, "content": each.results[0], "cause": len(made) - 1})
        made.append({"id": len(made), "source": "agent", "action": "message", "args": {"content": each.answer}})
    return {"events": made}


def with_train(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**m, "train": i % 2 == 0} if m["role"] == "assistant" else m for i, m in enumerate(messages)]


class Teller(NamedTuple):
    """How a format tells a dialogue; `parallel`: several calls a round; `first`: the first round only; `calls`: are told."""

    name: str
    tell: Callable[[Dialogue], dict[str, Any]]
    parallel: bool = True
    first: bool = False
    calls: bool = True


TELLERS: tuple[Teller, ...] = (
    Teller("openai", lambda t: {"messages": chat(t), "tools": functions(t), "parallel_tool_calls": False}),
    Teller("openai", openai_preference),
    Teller("trl", lambda t: {"messages": chat(t, text=False), "tools": functions(t)}),
    Teller("trl", lambda t: {"messages": chat(t, text=False), "tools": json.dumps(functions(t))}),
    Teller("trl", preference),
    Teller("trl", lambda t: {"prompt": chat(t, text=False)[:2], "completion": chat(t, text=False)[2:], "tools": functions(t)}),
    Teller("trl", lambda t: {"prompt": t.rounds[0].question, "completion": t.rounds[0].answer}, calls=False),
    Teller("alpaca", lambda t: {"instruction": t.rounds[0].question, "input": "", "output": t.rounds[0].answer}, calls=False),
    Teller("alpaca", lambda t: {"instruction": t.system, "input": t.rounds[0].question, "output": t.rounds[0].answer, "system": "s", "history": [["a", "b"]]}, calls=False),
    Teller("alpaca", lambda t: {"instruction": t.rounds[0].question, "context": "", "response": t.rounds[0].answer, "category": "qa"}, calls=False),
    Teller("chatml", chatml),
    Teller("chatml", lambda t: chatml(t, tools_inside=True)),
    Teller("mistral", lambda t: {"messages": chat(t, nine=True), "tools": functions(t)}),
    Teller("axolotl", lambda t: {"messages": with_train(chat(t)), "tools": functions(t)}),
    Teller("openai", lambda t: {"uuid": "u", "messages": chat(t), "tools": functions(t), "license": "x", "used_in": []}),
    Teller("swift", swift),
    Teller("anthropic", anthropic),
    Teller("batch", lambda t: {"custom_id": "r", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": chat(t), "tools": functions(t)}}),
    Teller("body", gemini),
    Teller("body", responses),
    Teller("body", converse),
    Teller("batch", lambda t: {"custom_id": "r", "params": {"max_tokens": 9, **anthropic(t)}}),
    Teller("sharegpt", sharegpt),
    Teller("sharegpt", lambda t: {"conversation": json.dumps(sharegpt(t)["conversations"]), "tools": sharegpt(t)["tools"]}),
    Teller("openai", lambda t: {"messages": json.dumps(chat(t)), "metadata": json.dumps({"tools": functions(t)})}),
    Teller("hermes", hermes),
    Teller("toolace", toolace),
    Teller("toolbench", toolbench, parallel=False),
    Teller("glaive", glaive, parallel=False),
    Teller("xlam", xlam, first=True),
    Teller("when2call", lambda t: {"uuid": "u", "question": t.rounds[0].question, "correct_answer": "direct", "answers": {"direct": t.rounds[0].answer, "cannot_answer": "No."}, "target_tool": "x", "tools": [json.dumps(x) for x in t.tools]}, calls=False),
    Teller("bfcl", lambda t: {"id": "simple_1", "question": [[{"role": "user", "content": r.question}] for r in t.rounds], "function": t.tools}, calls=False),
    Teller("bfcl_answer", lambda t: {"id": "simple_1", "ground_truth": [{c.name: {k: [v] for k, v in c.arguments.items()}} for c in t.calls]}, calls=False),
    Teller("bfcl_result", lambda t: {"id": "simple_1", "result": [{c.name: json.dumps(c.arguments)} for c in t.rounds[0].calls]}, first=True),
    Teller("answer", lambda t: {"id": "a", "raw_output": t.rounds[0].answer, "tools": functions(t), "expected_possible": []}, calls=False),
    Teller("tau", tau),
    Teller("swe_agent", lambda t: {"trajectory": [{"response": r.answer, "thought": "", "action": "ls", "observation": r.results[0], "state": "{}"} for r in t.rounds], "info": {}}, calls=False),
    Teller("openhands", padded),
    Teller("openhands_events", events, parallel=False),
    Teller("atif", atif),
    Teller("otel", otel),
    Teller("openinference", openinference),
    Teller("log", lambda t: {"id": "l", "input": {"messages": chat(t)[:-1], "tools": functions(t)}, "output": chat(t)[-1], "tags": {}}),
    Teller("log", lambda t: {"messages": chat(t)[:-1], "response": {"choices": [{"message": chat(t)[-1]}]}, "model_parameters": {"tools": functions(t)}}),
    Teller("log", lambda t: {"messages": chat(t)[:-1], "response": {"choices": [{"message": None, "delta": chat(t)[-1]}]}, "tools": functions(t)}),
    Teller("log", lambda t: {"request_body": json.dumps({"messages": chat(t)[:-1], "tools": functions(t)}), "response_body": json.dumps({"choices": [{"message": chat(t)[-1]}]})}),
    Teller("log", lambda t: {"input": json.dumps(chat(t)[:-1]), "output": chat(t)[-1]["content"], "tools": functions(t)}),
)  # fmt: skip


def row(teller: Teller, seed: int) -> tuple[Dialogue, bytes]:
    """A dialogue, and a row that tells it."""
    talk = dialogue(seed, parallel=teller.parallel)
    return talk, json.dumps(teller.tell(talk), ensure_ascii=bool(seed % 2)).encode()
