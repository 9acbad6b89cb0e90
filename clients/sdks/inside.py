"""Runs another script of this folder with the gateway inside its process: `python inside.py openai_sdk.py`.

Every client of httpx and httpx2 that the script, or a library it uses, makes on its own asks through one
`dragoman.transport` in front of $DRAGOMAN_UPSTREAM; nothing else is changed, and the address that scripts are given
leads nowhere, so what goes past the transport fails.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import dragoman

transport = dragoman.transport(upstream=os.environ["DRAGOMAN_UPSTREAM"], upstream_api="openai_chat", environ={},
                               model=os.environ["DRAGOMAN_UPSTREAM_MODEL"])  # fmt: skip


def answered(_: object, request: Any) -> Any:
    """In place of the library's own transport."""
    return transport.handle_request(request)


async def answered_async(_: object, request: Any) -> Any:
    """The same, awaited."""
    return await transport.handle_async_request(request)


for name in filter(importlib.util.find_spec, ("httpx", "httpx2")):
    library: Any = importlib.import_module(name)
    library.HTTPTransport.handle_request = answered
    library.AsyncHTTPTransport.handle_async_request = answered_async

script = Path(__file__).with_name(sys.argv[1])
sys.argv = [str(script)]
runpy.run_path(str(script), run_name="__main__")
