"""Somebody else's template in a process of its own: what it may not use or reach, and that real ones still learn."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.dialects.learning import LearnError
from dragoman.dialects.learning import learn as learn_here
from dragoman.io import box
from tests.support.places import VECTORS

WARM: Mapping[str, Any] = {}
"""What the process is warmed with when a function of this module runs in it."""
ME = __name__
TEMPLATES = sorted((VECTORS / "learn").glob("*.jinja"))
SECONDS = 2.0


def give_back(value: Any) -> Any:
    return value


def meddle(value: Mapping[str, Any]) -> Any:
    """What a template that broke out might try; errors are swallowed, as it would."""
    for name in value:
        with contextlib.suppress(Exception):
            MEDDLING[name]()
    return "done"


MEDDLING: Mapping[str, Any] = {
    "read": lambda: Path("/etc/passwd").read_text(),
    "write": lambda: Path("/tmp/box-was-here").write_text("x"),
    "list": lambda: list(Path("/").iterdir()),
    "connect": lambda: __import__("socket").create_connection(("127.0.0.1", 9)),
    "run": lambda: os.system("true"),
    "fork": os.fork,
    "spawn": lambda: __import__("subprocess").run(["true"]),
    "lift": lambda: resource.setrlimit(resource.RLIMIT_CPU, (99, 99)),
    "kill": lambda: os.kill(os.getppid(), 0),
    "foreign": lambda: __import__("ctypes").CDLL(None),
    "rename": lambda: os.rename("/tmp/a", "/tmp/b"),
}


def environment(_: Any) -> Any:
    return sorted(os.environ)


def hog(value: Mapping[str, Any]) -> Any:
    return len(bytearray(value.get("bytes", 0)))


def spin(value: Mapping[str, Any]) -> Any:
    while value:
        pass


def shout(value: Mapping[str, Any]) -> Any:
    return "x" * value.get("characters", 0)


def break_down(value: Mapping[str, Any]) -> Any:
    return os._exit(3) if value else None


posix = pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")


def test_a_value_comes_back_as_it_was() -> None:
    value = {"a": [1, "é\ud800", None, 1.5, True], "b": {}}
    assert box.run(f"{ME}:give_back", value) == value


@pytest.mark.parametrize("what", MEDDLING)
def test_what_runs_in_the_box_reaches_nothing_and_is_told_of(what: str) -> None:
    with pytest.raises(box.Stopped, match="file, the network or another process"):
        box.run(f"{ME}:meddle", {what: 1})


def test_the_box_sees_no_environment() -> None:
    os.environ["DRAGOMAN_BOX_SECRET"] = "sk-secret"
    try:
        seen = box.run(f"{ME}:environment", {})
    finally:
        del os.environ["DRAGOMAN_BOX_SECRET"]
    assert set(seen) <= {"PYTHONPATH", "LC_CTYPE", *box.KEPT}


@posix
@pytest.mark.parametrize(
    ("target", "value", "why"),
    [
        ("hog", {"bytes": 1 << 30}, "megabytes|MB"),
        ("spin", {"on": 1}, "seconds"),
        ("shout", {"characters": 5_000_000}, "too long"),
        ("break_down", {"now": 1}, "broke down"),
    ],
)
def test_a_limit_that_is_met_is_named(target: str, value: Any, why: str) -> None:
    with pytest.raises(box.Stopped, match=why):
        box.run(f"{ME}:{target}", value)


def test_the_wall_clock_ends_what_waits() -> None:
    with pytest.raises(box.Stopped, match="seconds"):
        box.run(f"{ME}:spin", {"on": 1}, box.Limits(seconds=0.5))


# ── templates ────────────────────────────────────────────────────────────────


def test_learning_in_the_box_gives_what_learning_here_gives() -> None:
    for path in TEMPLATES[:: 1 if len(TEMPLATES) < 40 else 2][:6]:
        source = path.read_text(encoding="utf-8")
        assert dragoman.learn(source) == learn_here(source)


def outcome(learn: Callable[[str], object], source: str) -> object:
    try:
        return learn(source)
    except LearnError as why:
        return why.what


@pytest.mark.slow
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: p.stem)
def test_every_real_template_is_learned_in_the_box(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert outcome(dragoman.learn, source) == outcome(learn_here, source)


def test_an_error_of_the_template_is_told_as_it_is_told_here() -> None:
    with pytest.raises(LearnError, match="calls"):
        dragoman.learn("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")


def test_what_is_no_json_is_refused_with_words() -> None:
    with pytest.raises(LearnError, match="not JSON"):
        dragoman.learn(tokenizer_config={"chat_template": object()})


BIG = "('ab' * 90000)"
LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
GROWN = "{{% set ns = namespace(a={0}) %}}{{% for i in range(60) %}}{{% set ns.a = {1} %}}{{% endfor %}}{{{{ {2} }}}}"
STARTS = {"[1]": "a list", "{'k': 1}": "a mapping", "(1,)": "a tuple"}
GROWS = {
    "[ns.a, ns.a]": "twice in a list",
    "{'x': ns.a, 'y': ns.a}": "twice in a mapping",
    "(ns.a, ns.a, ns.a)": "thrice in a tuple",
    "[ns.a] * 90": "ninety times",
    "{'x': [ns.a, ns.a], 'y': [ns.a]}": "in both",
}
SHOWS = {
    "ns.a": "printed",
    "ns.a | tojson": "as JSON",
    "ns.a | string": "as text",
    "ns.a == ns.a": "compared",
    "ns.a | tojson(indent=9)": "indented",
    "ns.a ~ 'x'": "joined",
    "'%s' % (ns.a,)": "formatted",
    "ns.a | pprint": "pretty",
    "[ns.a] | join('x')": "in a join",
    "ns.a | string | length": "counted",
}
WIDE = (
    "('\\t' * 90000).expandtabs(90000)", "('b' * 90000).join('a' * 90000)", "('a' * 90000) | join('b' * 90000)",
    "('b' * 90000).join(range(90000) | map('string'))", "('a\\n' * 90000) | indent(90000)",
    "('{0:>99999}' * 9000).format(1)", "[[[[1] * 900] * 90]] | tojson(indent=90000)", "'%*d' % (999999999, 1)",
    "('{:99999}' * 9999).format(*range(9999))", "('%99999d' * 9999) % ((1,) * 9999)", "('a' * 90000).replace('', 'b' * 90000)",
    "('a ' * 90000) | wordwrap(1, wrapstring='x' * 90000)", "('a' * 90000).center(99999) * 99", "('<' * 300000) | escape | escape",
    "('a' * 90000) | list | map('center', 90000) | list", "range(99999) | map('string') | map('center', 99999) | list",
    "('a' * 99999) | batch(1, 'x' * 99999) | list", "('a' * 99999) | slice(99999, 'x' * 99999) | list",
    "(range(99999) | list) | tojson(indent=99999)", "('a' * 90000).encode('utf-16')", "('é' * 900000) | urlencode",
    "('a.' * 90000).split('.') | map('ljust', 90000) | join", "([1] * 90000) | sum(start=[])", "('x' * 900000).splitlines() * 900",
    "dict(range(99999) | map('string') | zip(range(99999)))", "('{0}' * 90000).format('x' * 90000)",
    "('{a}' * 90000).format(a='x' * 90000)", "('{a}' * 90000).format_map({'a': 'x' * 90000})",
    "('http://a.b/' + 'x' * 900000) | urlize", "([['x' * 90000] * 900] * 90) | join('y')", "(['x' * 90000] * 90000) | join",
    "('a' * 90000).translate({97: 'b' * 90000})", "('x,' * 90000).rsplit(',') | map('zfill', 90000) | list",
    "9 ** 99999 ** 9", "(2 ** 4000) ** 4000", "'{:,}'.format(9 ** 4000) * 90000", "(1.5).__format__('99999999')",
    "'{:>{w}}'.format(1, w=999999999)", "('{:>{w}}' * 9999).format(*([1] * 9999), w=99999)", "'%-*s' % (999999999, 'x')",
)  # fmt: skip
METER = (
    "{% set qx_step = cycler %}" + LOOPS, "{% set meter_step = cycler %}" + LOOPS, "{{ qx_step(-99999) }}" + LOOPS,
    "{{ meter_step(-99999) }}" + LOOPS, "{% set environment = 1 %}" + LOOPS, "{% set context = 1 %}" + LOOPS,
    "{% macro meter_step(n) %}{% endmacro %}" + LOOPS, "{% set self = 1 %}" + LOOPS, "{% set l_0_i = 1 %}" + LOOPS,
    "{% for meter_step in range(99999) %}{% for environment in range(99999) %}{% endfor %}{% endfor %}",
    "{% set undefined = 1 %}" + LOOPS, "{% set finalize = 1 %}" + LOOPS, "{% set range = range %}" + LOOPS,
)  # fmt: skip
SPINS = (
    "{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}", "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ range(99999) | map('string') | map('list') | map('join') | list | sort | unique | list | string }}" * 30,
    "{{ ([range(99999) | list] * 99) | map('sort') | list }}", "{{ (range(99999) | list | string) * 9 }}" * 90,
    "{% set n = namespace(t='ab') %}{% for a in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}",
    "{{ ('a' * 50000 + 'b') is in ('a' * 999999) }}" * 60, "{{ (('a' * 99999) | list | groupby('upper')) | list }}",
    "{{ range(99999) | map('string') | select('in', 'x' * 99999) | list }}", "{% for a in range(99999) recursive %}{{ loop(range(9)) }}{% endfor %}",
    "{{ ('a' * 300) is sameas(('a' * 300)) }}{% for i in range(99999) %}{{ ('x' * 9999) | upper | lower | title }}{% endfor %}",
    "{{ ('(' * 99999) | safe | striptags | forceescape }}" * 90, "{{ ('<a ' * 99999) | striptags }}" * 9,
)  # fmt: skip
REACHES = (
    "{{ ''.__class__.__mro__ }}", "{{ cycler.__init__.__globals__ }}", "{{ ('' | attr('__class__')).__mro__ }}",
    "{{ self.__init__.__globals__ }}", "{{ raise_exception.__globals__ }}", "{{ messages.__class__.__base__.__subclasses__() }}",
    "{% include '/etc/passwd' %}", "{% import 'os' as o %}{{ o.system('id') }}", "{% extends '/etc/passwd' %}",
    "{{ '{0.__class__}'.format(1) }}", "{{ '{0.__init__.__globals__}'.format(namespace) }}", "{{ ''.format_map({}).__class__ }}",
    "{{ lipsum(99999) }}", "{{ [].append.__self__.__class__ }}", "{{ joiner.__call__.__globals__ }}",
    "{% set ns = namespace(a=1) %}{% set ns.__class__ = 2 %}", "{{ strftime_now.__self__ }}", "{{ loop.__class__ }}",
    "{{ tojson.__globals__ }}", "{{ (messages | map(attribute='__class__') | list) }}", "{{ messages | groupby('__class__') }}",
    "{{ messages.pop() }}{{ messages.clear() }}", "{{ dict.fromkeys.__self__.__mro__ }}", "{{ range.__class__ }}",
    "{{ caller.__globals__ }}", "{{ varargs.__class__ }}{{ kwargs.__class__ }}", "{{ (x for x in y) }}", "{{ gi_frame }}{{ ().__iter__().gi_frame }}",
)  # fmt: skip
ATTACKS = (
    *(GROWN.format(a, b, c) for a, b, c in itertools.product(STARTS, GROWS, SHOWS)),
    *(f"{{{{ {expression} }}}}" for expression in WIDE),
    *(f"{{% set x = {expression} %}}{{{{ x | length }}}}" for expression in WIDE),
    *METER,
    *SPINS,
    *REACHES,
)
AIMED = ATTACKS[:: len(ATTACKS) // 12]


def attacked(template: str) -> None:
    """It is learned or refused, within its CPU time and memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    source = template + TEMPLATES[0].read_text(encoding="utf-8")
    outcome(dragoman.learn, source)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    assert cpu < SECONDS + 2.5, cpu
    assert used.ru_maxrss < 256 * 1024, "kilobytes of the largest so far"


@posix
@pytest.mark.parametrize("number", [ATTACKS.index(a) for a in AIMED])
def test_an_attack_ends_in_time_and_memory(number: int) -> None:
    attacked(ATTACKS[number])


@posix
@pytest.mark.slow
@pytest.mark.parametrize("first", range(3))
def test_a_third_of_all_attacks_ends_in_time_and_memory(first: int) -> None:
    assert len(ATTACKS) >= 226
    for template in ATTACKS[first * 3 :: 9]:
        attacked(template)
