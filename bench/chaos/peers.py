"""The same tasks by `pydantic-ai` and by `forge-guardrails`, in their own environment: `python peers.py NAME URL …`.

Runs without dragoman; prints a tally as JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from tasks import Desk, Tally, Task, tasks  # type: ignore[import-not-found]  # noqa: E402

TURNS = 25
SYSTEM = "Do what the user asks with the tools."


def _pydantic_ai(url: str, model: str) -> Any:
    from pydantic_ai import Agent, Tool, UsageLimits  # noqa: PLC0415
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    backend = OpenAIChatModel(model, provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))

    async def one(task: Task, desk: Desk) -> str:
        made = [Tool(function, max_retries=3) for function in desk.tools().values()]
        agent = Agent(backend, tools=made, system_prompt=SYSTEM, retries=3)
        done = await agent.run(task.prompt, usage_limits=UsageLimits(request_limit=TURNS))
        return str(done.output)

    return one


def _forge(url: str, model: str) -> Any:
    from forge import ContextManager, NoCompact, OpenAICompatClient, ToolDef, ToolSpec, Workflow, WorkflowRunner  # noqa: PLC0415
    from pydantic import TypeAdapter, create_model  # noqa: PLC0415

    del TypeAdapter

    async def one(task: Task, desk: Desk) -> str:
        tools = {}
        for name, function in desk.tools().items():
            hints = {key: hint for key, hint in function.__annotations__.items() if key != "return"}
            import typing  # noqa: PLC0415

            real = typing.get_type_hints(function)
            fields: Any = {key: (real[key], ...) for key in hints}
            spec = ToolSpec(name=name, description=function.__doc__ or "", parameters=create_model(name, **fields))
            tools[name] = ToolDef(spec=spec, callable=function)
        workflow = Workflow(
            name="task",
            description="a task",
            tools=tools,
            required_steps=[],
            terminal_tool=task.last,
            system_prompt_template=SYSTEM,
        )
        client = OpenAICompatClient(base_url=f"{url}/v1", model=model)
        context = ContextManager(strategy=NoCompact(), budget_tokens=32_768)
        runner = WorkflowRunner(client=client, context_manager=context, max_iterations=TURNS)
        return str(await runner.run(workflow, task.prompt) or desk.finished or "")

    return one


DRIVERS = {"pydantic-ai": _pydantic_ai, "forge-guardrails": _forge}


async def main(name: str, url: str, model: str, count: int, seed: int) -> Tally:
    """Run the tasks one after the other."""
    drive, tally = DRIVERS[name](url, model), Tally()
    begun = time.perf_counter()
    for task in tasks(count, seed):
        desk = Desk(task)
        ended, words = "", True
        try:
            words = bool((await asyncio.wait_for(drive(task, desk), 60)).strip())
        except Exception as error:
            ended = type(error).__name__
        tally.add(desk, ended, words=words)
    tally.seconds = time.perf_counter() - begun
    return tally


if __name__ == "__main__":
    name, url, model, count, seed = sys.argv[1:]
    print(json.dumps(asdict(asyncio.run(main(name, url, model, int(count), int(seed))))))
