"""Templates that try to run for ever, to fill the memory or to reach something, and what each of them costs.

    python -m tests.support.attacks FIRST STEP

learns from every STEPth, beginning with FIRST, and prints what its process used as JSON.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import resource
import sys

import dragoman
from dragoman.errors import UsageError
from tests.support.places import VECTORS

SOURCE = min((VECTORS / "learn").glob("*.jinja")).read_text(encoding="utf-8")
"""A template that is learned, behind each."""
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


def cost(template: str) -> dict[str, float]:
    """Seconds of CPU and the most megabytes of any process so far, once it was learned or refused."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with contextlib.suppress(UsageError):
        dragoman.learn(template + SOURCE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "megabytes": after.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)}


if __name__ == "__main__":
    json.dump([cost(attack) for attack in ATTACKS[int(sys.argv[1]) :: int(sys.argv[2])]], sys.stdout)
