"""Somebody else's Jinja template, run safely: a function from variables to text that always ends, and soon.

jinja2's sandbox keeps a template from everything but its own text; a `Meter` keeps it from running for ever: every
loop, call, filter and printed value is paid for, and what would make a value too large is refused before it is made,
where that can be foreseen: memory and time are bounded by the process it is run in (`io/learning/box.py`).
There is no clock and no thread in it, so that the same template always gets as far.  The helpers are those Hugging Face
gives, the date stands still.  jinja2 is imported here and nowhere else, when a template is first compiled.
This module knows nothing of conversations, calls or dialects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sized
from copy import deepcopy
from datetime import datetime
from functools import wraps
from typing import Any

from .voice import CannotWrite, LearnError

NO_JINJA = "learning from a chat template needs jinja2; install it: pip install 'jinja2>=3.1.6'"
TODAY = datetime(2025, 1, 2)
"""A template's clock stands still, or learning would not be repeatable."""
MAX_SOURCE = 1_000_000
"""Characters of a template; the longest in use has a tenth of it."""
BUDGET = 5_000_000
"""What one rendering may spend: a character made costs one, a step `STEP_COST`, which is about as long."""
STEP_COST = 50
MAX_VALUE = 1_000_000
MAX_NUMBER = 100_000
"""The largest number that may be a width, a count or a factor; a model's context length is no factor."""
MAX_BITS = 4_096
WIDE = re.compile(r"\d{6}")
"""In a format string: a width no text has."""
ENDLESS = "the template takes more than {steps:,} steps for one turn; it may never end, and was stopped"
TOO_LARGE = "the template makes a value of more than {most:,} characters or items; it was stopped"


class Spent(Exception):
    """The template was stopped; the words say why."""


class Meter:
    """What a rendering has spent."""

    spent: int

    def __init__(self) -> None:
        self.spent = 0

    def pay(self, amount: int) -> None:
        """Raises `Spent` where the budget does not hold it."""
        self.spent += amount
        if self.spent > BUDGET:
            raise Spent(ENDLESS.format(steps=BUDGET // STEP_COST))

    def step(self, amount: int) -> str:
        """One round of a loop or one call of a macro, whose body writes that much."""
        self.pay(amount + STEP_COST)
        return ""

    def made(self, value: Any) -> Any:
        """`value`, paid for."""
        size = len(value) if isinstance(value, Sized) else 1
        if size > MAX_VALUE:
            raise Spent(TOO_LARGE.format(most=MAX_VALUE))
        self.pay(size + 1)
        return value

    def printed(self, value: Any) -> Any:
        """`value` on its way into the text."""
        self.made(value if isinstance(value, str) else str(value))
        return value

    def joined(self, *values: Any) -> str:
        """`a ~ b`."""
        return str(self.made("".join(str(self.made(v if isinstance(v, str) else str(v))) for v in values)))

    def guarded(self, function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
        """`function`, which refuses to make what is too large, and whose result is paid for."""

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            _check(name, (*args, *named.values()))
            return self.made(function(*args, **named))

        return call

    def operate(self, operator: str, left: Any, right: Any, apply: Callable[[], Any]) -> Any:
        """`left operator right`."""
        if _size(operator, left, right) > MAX_VALUE or _bits(operator, left, right) > MAX_BITS:
            raise Spent(TOO_LARGE.format(most=MAX_VALUE))
        if operator == "%" and isinstance(left, str) and WIDE.search(left):
            raise Spent(TOO_LARGE.format(most=MAX_VALUE))
        return self.made(apply())


OPERATORS = frozenset({"+", "*", "**", "%"})


def _size(operator: str, left: Any, right: Any) -> int:
    """How large the text or list will be that `left operator right` makes."""
    if operator == "*":
        for many, count in ((left, right), (right, left)):
            if isinstance(many, Sized) and isinstance(count, int):
                return len(many) * count
    return len(left) + len(right) if operator == "+" and isinstance(left, Sized) and isinstance(right, Sized) else 0


def _bits(operator: str, left: Any, right: Any) -> int:
    """How many bits the number will have, at most."""
    if not isinstance(left, int) or not isinstance(right, int):
        return 0
    return left.bit_length() * max(1, right) if operator == "**" else left.bit_length() + right.bit_length()


def _check(name: str, args: tuple[Any, ...]) -> None:
    """Raises `Spent` where a call of `name` with these would make something too large."""
    texts = [a for a in args if isinstance(a, str)]
    wide = name in {"format", "format_map"} and any(map(WIDE.search, texts))
    long = any(isinstance(a, int) and abs(a) > MAX_NUMBER for a in args)
    text, old, new, *_ = (*texts, "", "", "")
    grows = name == "replace" and (text.count(old) if old else len(text) + 1) * len(new) > MAX_VALUE
    joins = name == "join" and _joined_size(args) > MAX_VALUE
    if wide or long or grows or joins:
        raise Spent(TOO_LARGE.format(most=MAX_VALUE))


def _joined_size(args: tuple[Any, ...]) -> int:
    items = [a for a in args if isinstance(a, list | tuple)]
    glue = max((len(a) for a in args if isinstance(a, str)), default=0)
    return sum(len(i) + glue if isinstance(i, str) else glue for many in items for i in many)


# ── the environment ──────────────────────────────────────────────────────────


def compile_template(source: str) -> Callable[[Mapping[str, Any]], str]:
    """A function from variables to the rendered text, which raises `CannotWrite` for whatever the template cannot.

    Raises `LearnError` for what is no template.
    """
    try:
        import jinja2  # noqa: PLC0415 -- a heavy import that few need
        import jinja2.ext  # noqa: PLC0415
        import jinja2.sandbox  # noqa: PLC0415
    except ImportError:
        raise LearnError(NO_JINJA) from None
    if len(source) > MAX_SOURCE:
        raise LearnError(f"the template has more than {MAX_SOURCE:,} characters")
    meter = Meter()
    environment = _environment(jinja2, meter)
    try:
        template = environment.from_string(_metered(environment.parse(source), jinja2.nodes))
    except (jinja2.TemplateError, RecursionError) as why:
        raise LearnError(f"this is no Jinja template: {str(why) or type(why).__name__}") from why

    def render(variables: Mapping[str, Any]) -> str:
        meter.spent = 0
        try:
            return str(template.render(deepcopy(dict(variables))))
        except Spent as why:
            raise LearnError(str(why)) from why
        except Exception as why:  # a template may fail in any way Python can
            raise CannotWrite(f"{type(why).__name__}: {why}") from why

    return render


def _environment(jinja2: Any, meter: Meter) -> Any:
    """The sandbox, with Hugging Face's helpers."""

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    extensions = [_generation(jinja2), jinja2.ext.loopcontrols]
    sandbox = _sandbox(jinja2, meter)
    environment = sandbox(trim_blocks=True, lstrip_blocks=True, extensions=extensions, finalize=meter.printed)
    environment.filters["tojson"] = _tojson
    environment.filters = {name: meter.guarded(f, name) for name, f in environment.filters.items() if name != "random"}
    del environment.globals["lipsum"]
    environment.globals.update(
        raise_exception=refuse, strftime_now=TODAY.strftime, namespace=_namespace(jinja2)
    )  # fmt: skip
    setattr(environment, STEP, meter.step)
    setattr(environment, JOIN, meter.joined)
    return environment


def _sandbox(jinja2: Any, meter: Meter) -> Any:
    class Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):  # type: ignore[misc]
        """Immutable, but for `list.append`: some templates collect calls in lists of their own (Kimi K2)."""

        intercepted_binops = OPERATORS

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            return bool(super().is_safe_attribute(obj, attr, value)) or (isinstance(obj, list) and attr == "append")

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            apply = super().call_binop
            return meter.operate(operator, left, right, lambda: apply(context, operator, left, right))

        def call(self, context: Any, obj: Any, *args: Any, **named: Any) -> Any:
            function = getattr(obj, "__wrapped__", obj)
            own = getattr(function, "__self__", None)
            given = (*([own] if isinstance(own, str) else []), *args, *named.values())
            _check(getattr(function, "__name__", ""), given)
            return meter.made(super().call(context, obj, *args, **named))

    return Sandbox


def _generation(jinja2: Any) -> Any:
    class Generation(jinja2.ext.Extension):  # type: ignore[misc]
        """`{% generation %}` marks what the model writes; here it only passes its body on."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_pass"), [], [], body).set_lineno(line)

        def _pass(self, caller: Callable[[], str]) -> str:
            return caller()

    return Generation


def _namespace(jinja2: Any) -> Any:
    class Namespace(jinja2.utils.Namespace):  # type: ignore[misc]
        """Without names that begin with an underscore: they would reach what Python keeps behind an object."""

        def __setitem__(self, name: str, value: Any) -> None:
            if name.startswith("_"):
                raise jinja2.exceptions.SecurityError(f"a template may not store {name!r}")
            super().__setitem__(name, value)

    return Namespace


STEP, JOIN = "meter_step", "meter_joined"
"""Attributes of the environment: no name of a template is one."""


def _metered(tree: Any, nodes: Any) -> Any:
    """The template with every loop, macro and `~` paid for."""
    for body in [n for kind in (nodes.For, nodes.Macro, nodes.CallBlock) for n in tree.find_all(kind)]:
        size = sum(len(data.data) for data in body.find_all(nodes.TemplateData))
        step = nodes.Call(nodes.EnvironmentAttribute(STEP), [nodes.Const(size)], [], None, None)
        body.body.insert(0, nodes.ExprStmt(step).set_lineno(body.lineno))
    return _joins(tree, nodes)


def _joins(node: Any, nodes: Any) -> Any:
    """`a ~ b` as a call."""
    for name, value in node.iter_fields():
        if isinstance(value, list):
            setattr(node, name, [_joins(v, nodes) if isinstance(v, nodes.Node) else v for v in value])
        elif isinstance(value, nodes.Node):
            setattr(node, name, _joins(value, nodes))
    if isinstance(node, nodes.Concat):
        return nodes.Call(nodes.EnvironmentAttribute(JOIN), node.nodes, [], None, None).set_lineno(node.lineno)
    return node


def _tojson(
    value: Any, ensure_ascii: bool = False, indent: int | None = None, separators: Any = None, sort_keys: bool = False
) -> str:
    """As transformers writes JSON: nothing escaped for HTML."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys, default=_listed
    )


def _listed(value: Any) -> Any:
    """A generator that a filter made."""
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
