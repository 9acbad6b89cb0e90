"""Mutants of the judge's and the readers' code, and how many of them some vector kills.

    python bench/code_mutants.py [--every N] [--only WORD] [--list] [FILE.jsonl ...]

Each mutant changes one branch of one function: a condition is negated, held for true or for false, one part of it is
dropped, `and` becomes `or`, a comparison is turned round, two neighbouring branches change places, a truth that is
returned becomes a falsehood.  The code of the function is exchanged in a child process, which then reads every vector
again, whole and in pieces, until one is read otherwise: that kills the mutant.  One that never ends or falls is killed
too.  Every Nth mutant is tried, so that the same ones are tried each time; those that live are printed.

`tests/vectors/mutants.toml` holds those that change nothing but the time that reading takes, each with the reason.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import pickle
import resource
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from dragoman import Parser  # noqa: E402
from dragoman.dialects.engine.parsed import fold  # noqa: E402

SOURCE = ROOT / "src" / "dragoman"
VECTORS = ROOT / "tests" / "vectors"
FILES = [
    *(SOURCE / "dialects" / "judge" / f"{name}.py" for name in ("rules", "evidence", "provenance", "hints", "judge")),
    *sorted((SOURCE / "dialects" / "reading").glob("[!_]*.py")),
    *(SOURCE / "lenient" / f"{name}.py" for name in ("strings", "string_ends", "unquoted", "bare_words", "damaged")),
]
SECONDS, MEMORY = 120, 4 << 30
"""A mutant that reads longer or takes more is killed."""
EQUIVALENT = VECTORS / "mutants.toml"


class Mutant(NamedTuple):
    """One change: its name, the file, the function (name, line, line of its code), and which node's which change."""

    name: str
    file: Path
    unit: tuple[str, int, int]
    node: int
    change: int


# ── making them ──────────────────────────────────────────────────────────────

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def held(test: ast.expr, value: bool) -> ast.expr:
    """The condition with its outcome overruled; it is still looked at, so that what it moves is moved."""
    op: ast.boolop = ast.Or() if value else ast.And()
    return ast.BoolOp(op, [test, ast.Constant(value)])


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """What can be changed at a node: the change's name, and what makes it in a copy of the node."""
    if isinstance(node, ast.If | ast.IfExp):
        yield "not", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
        yield "never", lambda n: setattr(n, "test", held(n.test, False))
        yield "always", lambda n: setattr(n, "test", held(n.test, True))
    if isinstance(node, ast.BoolOp):
        for k in range(len(node.values)):
            yield f"without part {k + 1}", lambda n, k=k: n.values.pop(k)
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and/or", lambda n: setattr(n, "op", other)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in TURNED:
        yield "turned", lambda n: n.ops.__setitem__(0, TURNED[type(n.ops[0])]())
    if isinstance(node, ast.comprehension):
        for k in range(len(node.ifs)):
            yield f"without if {k + 1}", lambda n, k=k: n.ifs.pop(k)
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
        yield "other truth", lambda n: setattr(n.value, "value", not n.value.value)
    body = getattr(node, "body", None)
    if isinstance(body, list):
        for k, (a, b) in enumerate(pairwise(body)):
            if isinstance(a, ast.If) and isinstance(b, ast.If) and not (a.orelse or b.orelse):
                yield f"branches {k + 1} and {k + 2} swapped", lambda n, k=k: n.body.insert(k, n.body.pop(k + 1))


def mutants(file: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    for unit, qualname in units(parsed(file), ""):
        where = (qualname, unit.lineno, code_line(unit))
        for place, node in enumerate(ast.walk(unit)):
            for number, (kind, _) in enumerate(changes(node)):
                said = ast.unparse(node.test if isinstance(node, ast.If | ast.IfExp) else node).partition("\n")[0][:60]
                yield Mutant(f"{file.relative_to(SOURCE)}:{qualname}: {kind}: {said}", file, where, place, number)


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def made(mutant: Mutant) -> ast.Module:
    """The file's tree with the change made in it."""
    tree = parsed(mutant.file)
    unit = next(u for u, q in units(tree, "") if (q, u.lineno) == mutant.unit[:2])
    node = list(ast.walk(unit))[mutant.node]
    list(changes(node))[mutant.change][1](node)
    return ast.fix_missing_locations(tree)


def units(node: ast.AST, prefix: str) -> Iterator[tuple[Any, str]]:
    """The functions of a module and of its classes, and the lambdas in its tables."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child, prefix + child.name
        elif isinstance(child, ast.Lambda):
            yield child, prefix + "<lambda>"
        elif isinstance(child, ast.ClassDef):
            yield from units(child, f"{prefix}{child.name}.")
        else:
            yield from units(child, prefix)


def code_line(unit: Any) -> int:
    """The line of the code object: that of the first decorator."""
    return min([unit.lineno, *(d.lineno for d in getattr(unit, "decorator_list", ()))])


# ── trying them ──────────────────────────────────────────────────────────────


def codes(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from codes(const)


def apply(mutant: Mutant) -> bool:
    """Exchange the code of the function in this process.  False where it cannot be."""
    compiled = compile(made(mutant), str(mutant.file), "exec")
    unit = mutant.unit[0], mutant.unit[2]
    wanted = [c for c in codes(compiled) if (c.co_qualname, c.co_firstlineno) == unit]
    changed = False
    for found in gc.get_objects():
        if isinstance(found, FunctionType) and found.__code__.co_filename == str(mutant.file):
            code = found.__code__
            if (code.co_qualname, code.co_firstlineno) == unit:
                same = [c for c in wanted if len(wanted) == 1 or place(c) == place(code)]
                if same and same[0].co_freevars == code.co_freevars:
                    found.__code__ = same[0]
                    changed = True
    return changed


def place(code: CodeType) -> Any:
    """Where on its line a lambda stands."""
    return next((p[2] for p in code.co_positions() if p[2]), None)


def texts(files: list[str]) -> list[dict[str, Any]]:
    """Every vector that the parser's tests read, and the rules' own examples."""
    from tests.support import mutant_texts  # noqa: PLC0415

    given = [json.loads(line) for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    return [*mutant_texts.texts(), *given]


KEPT = ("tools", "dialects", "prefix", "shown", "prompted_dialect", "doubt", "native", "strict")


def read(row: dict[str, Any], size: int) -> Any:
    """What becomes of one vector, fed in pieces of this size; 0: whole."""
    given = {key: row[key] for key in KEPT if row.get(key) is not None}
    parser = Parser(finish_reason=row.get("finish"), **given)
    text = row["text"]
    if size:
        parts = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        parsed = fold([*parts, *parser.close()])
    else:
        parsed = fold(parser.whole(text))
    ran, doubt = (
        [(c.name, json.dumps(dict(c.arguments)), c.report and (c.report.rule, str(c.report.verdict))) for c in calls]
        for calls in (parsed.calls, parsed.doubtful)
    )
    return ran, doubt, parsed.text, parsed.reasoning, [(str(i.kind), i.raw) for i in parsed.issues]


def forked(work: Callable[[], Any], seconds: int = SECONDS) -> Any:
    """What `work` gives in a child process; None where it falls or never ends."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(seconds)
        try:
            with os.fdopen(into, "wb") as told:
                pickle.dump(work(), told)
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as told:
        data = told.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def lives(mutant: Mutant, rows: list[dict[str, Any]], wanted: dict[int, list[Any]]) -> str:
    """"lives", or how it was killed."""
    if not apply(mutant):
        return "not applied"
    for size, was in wanted.items():
        for row, expected in zip(rows, was, strict=True):
            try:
                if read(row, size) != expected:
                    return f"killed by {row.get('id')}"
            except Exception as why:
                return f"killed: {type(why).__name__}"
    return "lives"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--every", type=int, default=20)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--only", default="")
    options.add_argument("--list", action="store_true")
    options.add_argument("files", nargs="*")
    given = options.parse_args()
    for file in FILES:
        importlib.import_module(".".join(file.relative_to(SOURCE.parent).with_suffix("").parts))
    every = [m for file in FILES for m in mutants(file)]
    chosen = [m for m in every if given.only in m.name] if given.only else every[given.first :: given.every]
    if given.list:
        print(*(m.name for m in chosen), sep="\n")
        return
    rows = texts(given.files)
    wanted = forked(lambda: {size: [read(row, size) for row in rows] for size in (0, 3)}, 600)
    alike = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
    same = {name for entry in alike.get("mutant", ()) for name in entry["names"]}
    lived, skipped, killed = [], 0, 0
    for mutant in chosen:
        if mutant.name in same:
            skipped += 1
            continue
        became = forked(lambda m=mutant: lives(m, rows, wanted)) or "killed: never ends"
        if became == "not applied":
            skipped += 1
            print(f"  not applied: {mutant.name}")
        elif became == "lives":
            lived.append(mutant.name)
            print(f"  lives: {mutant.name}", flush=True)
        else:
            killed += 1
    tried = killed + len(lived)
    share = 100 * killed / max(tried, 1)
    print(f"{len(rows)} texts; {len(every)} mutants, {tried} tried, {killed} killed ({share:.1f} %)")
    print(f"{skipped} left out")


if __name__ == "__main__":
    main()
