"""Patterns that are compiled when they are first asked."""

from __future__ import annotations

import gc
import pkgutil
import re
from importlib import import_module

import pytest

import dragoman
from dragoman.late import _Late, _LateCall, late, late_call

EXTRAS = {"psycopg", "redis"}
"""Packages of which some modules are, and that need not be installed."""


def test_a_late_pattern_answers_as_the_pattern_does() -> None:
    source, flags, text = r"(a)|(?P<b>b)", re.IGNORECASE, "xAyb"
    now, then = re.compile(source, flags), late(source, flags)
    for method in ("search", "match", "fullmatch"):
        assert str(getattr(then, method)(text)) == str(getattr(now, method)(text))
    assert [m.span() for m in then.finditer(text)] == [m.span() for m in now.finditer(text)]
    assert then.findall(text) == now.findall(text)
    assert then.split(text) == now.split(text)
    assert then.sub("-", text) == now.sub("-", text)
    assert then.subn("-", text, count=1) == now.subn("-", text, count=1)
    assert then.pattern == now.pattern


def test_what_no_late_pattern_can_say_is_refused_with_words() -> None:
    with pytest.raises(AttributeError, match="compile the pattern"):
        _ = late("a").groupindex


def test_a_broken_pattern_fails_when_it_is_asked_and_every_one_of_ours_is_sound() -> None:
    with pytest.raises(re.error):
        late("(").search("")
    for module in pkgutil.walk_packages(dragoman.__path__, "dragoman."):
        if not module.name.endswith(("__main__", ".vllm_parser", ".sglang_detector")):  # those want their server
            try:
                import_module(module.name)
            except ModuleNotFoundError as error:
                assert error.name in EXTRAS, error  # noqa: PT017  another one is a mistake
    gc.unfreeze()  # a test before may have served, and what a server has loaded is no longer listed
    ours = [each for each in gc.get_objects() if type(each) is _Late and each.pattern != "("]
    assert len(ours) > 50
    for each in ours:
        each.search("")


def test_a_late_function_is_loaded_when_it_is_called_and_every_one_of_ours_is_there() -> None:
    assert late_call("html", "unescape")("&lt;") == "<"
    assert late_call(".jsontext", "dumps", "dragoman.late")([1]) == "[1]"
    for module in pkgutil.walk_packages(import_module("dragoman.dialects").__path__, "dragoman.dialects."):
        import_module(module.name)
    gc.unfreeze()
    ours = [each for each in gc.get_objects() if type(each) is _LateCall]
    assert len(ours) > 8
    for each in ours:
        assert callable(getattr(import_module(each._module, each._package), each._name))
