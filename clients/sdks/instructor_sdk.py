"""Instructor: forms, by tools, by JSON in the answer, by a fence, over two APIs."""

from __future__ import annotations

from typing import Any

import instructor
from anthropic import Anthropic
from common import FORM, FORM_QUESTION, KEY, MODEL, URL, run
from openai import OpenAI
from pydantic import BaseModel


class Report(BaseModel):
    """The report of a temperature."""

    city: str
    temperature: int


ASKED: Any = [{"role": "user", "content": FORM_QUESTION}]


def _openai(mode: Any) -> Any:
    client = instructor.from_openai(OpenAI(base_url=URL + "/v1", api_key=KEY), mode=mode)
    return client.create(model=MODEL, messages=ASKED, response_model=Report).model_dump()


def tools() -> Any:
    return _openai(instructor.Mode.TOOLS)


def tools_strict() -> Any:
    return _openai(instructor.Mode.TOOLS_STRICT)


def json() -> Any:
    return _openai(instructor.Mode.JSON)


def json_schema() -> Any:
    return _openai(instructor.Mode.JSON_SCHEMA)


def md_json() -> Any:
    return _openai(instructor.Mode.MD_JSON)


def responses_tools() -> Any:
    return _openai(instructor.Mode.RESPONSES_TOOLS)


def tools_streamed() -> Any:
    client = instructor.from_openai(OpenAI(base_url=URL + "/v1", api_key=KEY))
    *_, last = client.create_partial(model=MODEL, messages=ASKED, response_model=Report)
    return last.model_dump()


def _anthropic(mode: Any) -> Any:
    client = instructor.from_anthropic(Anthropic(base_url=URL, api_key=KEY), mode=mode)
    return client.create(model=MODEL, max_tokens=1024, messages=ASKED, response_model=Report).model_dump()


def anthropic_tools() -> Any:
    return _anthropic(instructor.Mode.ANTHROPIC_TOOLS)


def anthropic_json() -> Any:
    return _anthropic(instructor.Mode.ANTHROPIC_JSON)


if __name__ == "__main__":
    openai = (tools, tools_strict, tools_streamed, json, json_schema, md_json, responses_tools)
    run(others=dict.fromkeys((*openai, anthropic_tools, anthropic_json), FORM))
