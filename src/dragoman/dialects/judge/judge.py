"""The judge: is this candidate a call that was meant, by a tool that exists, with arguments that fit?

Every rule has a name (the words of `Issue.message` and `Report.reason`) and its law in judge-rules.md.  The judge knows
tools, schemas, what the model was shown and the words before a candidate; it does not know markup, and it never reads
text for calls itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import nearest
from ...jsontext import dumps
from ...late import late
from ...lenient.notation import Broken, Repeated
from ...records import replace
from ...schema.validation import ANYTHING, Fault, Shape, faults, shape
from ...types import Edit, Issue, IssueKind, Tool
from .candidate import Draft
from .declared import NAMESPACES, NO_TOOLS, Declared, Tools, declared
from .rules import Decision, Outcome

if TYPE_CHECKING:
    from .provenance import CopyOf, Provenance

MAX_THOUGHT = 200
"""Characters of `thought` in the JSON protocol (seed document 004, guardrails)."""

WRAPPERS = frozenset({"arguments", "args", "parameters", "params", "input", "properties"})
"""Keys that models wrap the arguments in once more (malformations.md §3)."""

TOOL_WORD = late(r"[\w.:-]+")
PLAIN_NAME = late(r"[\w@$][\w.\-/:@$ ]*")
COUNTED = late(r"functions[._]?(?P<name>.+?)[:_]?\d+")
"""Kimi's ids, with their signs lost on the way through a client (malformations.md §6)."""
CONTROL_TAIL = late(r"(?:<\|.*|<｜.*|\s*<\|?(?:channel|message|constrain).*|\xa0.*)$", re.S)

SCHEMA_WORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "$schema", "$defs", "description", "items", "enum",
     "title"}
)
"""Keys of a schema: where arguments should be, they are a definition of the tool that somebody asked for (J)."""


DEFINING = SCHEMA_WORDS | {"parameters", "strict", "name"}
"""The keys of a definition and of the schema in it."""


class Unknown(Exception):
    """No declared tool has this name."""

    def __init__(self, name: str, tools: Iterable[str]) -> None:
        self._name, self._tools = name, tools
        super().__init__(f"there is no tool named {name[:80]!r}")

    @property
    def correction(self) -> str:
        """What to tell the model; to look for names that are near costs more than to find that none is this one."""
        known = sorted(self._tools)
        near = nearest(self._name, known)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        told = f"There is no tool named {self._name[:80]!r}.{hint} Available tools: {', '.join(known)}."
        return f"{told} Call one of them, or answer in text."


class Judge:
    """Judges candidates against one request.

    `tools` None means the tools are not known; () means that nothing may run.  `asked_by_name` says that the dialects
    were named by the caller, so that openers which prove little count too; `protocol` that every one of them demands
    the whole answer to be one object (enforced when `strict`); `habits` are ways of writing calls that this model has
    confirmed (`evidence.habit_of`); `watches_copies` says that the model was shown what a call could be copied from.
    """

    __slots__ = (
        "_asked", "_folded", "_shown", "asked_by_name", "declared", "doubt", "habits", "native", "protocol", "strict",
        "tools", "watches_copies",
    )  # fmt: skip
    asked_by_name: bool
    protocol: bool
    strict: bool
    doubt: str
    habits: Collection[str]
    watches_copies: bool
    native: bool

    def __init__(
        self, tools: Tools, *, shown: Provenance | None = None, strict: bool = False,
        asked_by_name: bool = False, asked: Collection[str] = (), native: bool = False, doubt: str = "ask",
        protocol: bool = False, habits: Collection[str] = (),
    ) -> None:
        self.tools: Declared | None = tools if type(tools) is Declared else declared(tools)
        self.declared: Declared = self.tools if self.tools is not None else NO_TOOLS
        self.strict, self.asked_by_name, self.protocol = strict, asked_by_name, strict and protocol
        self._asked, self.native, self.doubt, self.habits = asked, native, doubt, habits
        self._shown = shown
        self.watches_copies = bool(shown)
        self._folded: dict[str, list[str]] | None = None

    @property
    def may_guess(self) -> bool:
        """May a call whose opener proves little stand beside other words?  Not while the tools are unknown."""
        return self.tools is not None or self.asked_by_name

    def asked_for(self, dialect: str) -> bool:
        """Did the caller or the prompt ask for this dialect?"""
        return self.asked_by_name or dialect in self._asked

    def outcome(self, decision: Decision) -> Decision:
        """The decision, with what the caller wants of doubt."""
        if self.doubt == "ask" or decision.outcome is not Outcome.ASK:
            return decision
        return decision._replace(rule=replace(decision.rule, **DOUBT[self.doubt]))

    # ── names ────────────────────────────────────────────────────────────────

    def known(self, name: str) -> bool:
        """Is this the exact name of a declared tool, in one of its spellings?"""
        return self.tools is not None and bool(self.tools.exact(name))

    def names_tool(self, text: str) -> bool:
        """Does a declared tool's name stand in `text`?"""
        return self.tools is not None and self.tools.any_of(TOOL_WORD.findall(text))

    def calls_named(self, text: str, known: Collection[str]) -> tuple[str, ...]:
        """The declared tools whose names stand in `text` as a call's does, each once, but those of `known` calls."""
        if self.tools is None:
            return ()
        found = self.tools.called_in(text, len(known) + 1)
        for name in known:
            if name in found:
                found.remove(name)
        return tuple(dict.fromkeys(found))

    def resolve(self, written: str) -> str | None:
        """The declared tool that this name of a native call means, its notation normalised; None where none is."""
        return self._find(_clean(written), written, loose=True)

    def name(self, draft: Draft, written: str, *, loose: bool = False) -> None:
        """Settle the draft's name, tool and shape; raises `Unknown`, or `Broken` for what is no name at all.

        `loose`: in another case and with other signs between its words it is still a declared tool's, as it always is
        behind a strong mark.
        """
        draft.name = written
        exact = self.tools.exact(written) if self.tools is not None else ""
        if exact:
            self._settle(draft, exact, self.declared[exact])
            return
        clean = _clean(written)
        if self.tools is None:
            if not (draft.spelt_out or PLAIN_NAME.fullmatch(clean)):
                raise Broken(f"{written[:40]!r} is not a tool's name")
            self._settle(draft, clean, None)
            return
        found = self._find(clean, written, loose=loose or draft.strong)
        if found is None and not PLAIN_NAME.fullmatch(clean):
            raise Broken(f"{written[:40]!r} is not a tool's name")
        if found is None:
            raise Unknown(written, self.tools)
        self._settle(draft, found, self.tools[found])

    def _find(self, clean: str, written: str, *, loose: bool) -> str | None:
        tools = self.declared
        spaced = (clean[len(prefix) :] for prefix in NAMESPACES if clean.startswith(prefix))
        counted = COUNTED.fullmatch(clean)
        for candidate in (written, clean, *spaced, counted["name"] if counted else ""):
            if candidate and (name := tools.exact(candidate)):
                return name
        once, _, again = clean.partition(".")
        if once == again and once in tools:
            return once
        if not loose:
            return tools.shortened(clean) or None
        same = self._alike(_fold(clean))
        return same[0] if len(same) == 1 else None

    def _alike(self, folded: str) -> list[str]:
        """The declared tools whose names fold to `folded`; most answers never ask."""
        if self._folded is None:
            self._folded = {}
            for name in self.tools or ():
                self._folded.setdefault(_fold(name), []).append(name)
        return self._folded.get(folded, [])

    def _settle(self, draft: Draft, name: str, tool: Tool | None) -> None:
        if name != draft.name:
            shortened = tool is not None and name == self.declared.shortened(draft.name)
            draft.edits.append(Edit("namespace" if shortened else "name", "", draft.name[:80], name))
        draft.name, draft.tool = name, tool
        draft.shape = ANYTHING if tool is None else shape(tool.parameters)

    def bare_name(self, strong: bool, name: str) -> bool:
        """May a call object without any arguments count?  Weak ones only for a declared tool that needs none."""
        if strong or self.tools is None:
            return strong
        tool = self.tools.get(name)
        return tool is not None and not shape(tool.parameters).required

    # ── arguments ────────────────────────────────────────────────────────────

    def settle(self, draft: Draft) -> bool:
        """The last word on the arguments of a draft.  False: they are no arguments, so that it is no call but data."""
        if draft.settled or draft.refusal is not None or not draft.done:
            return not draft.data
        draft.settled = True
        arguments = draft.arguments()
        defines = not draft.strong and is_definition(arguments, draft.shape.keys)
        if defines or not (draft.strong or _keys_fit(arguments, draft)):
            extra = [k for k in arguments if not draft.shape.has(k)]
            draft.data = defines or (len(extra) == len(arguments) and not SCHEMA_WORDS.isdisjoint(extra))
            self._refuse_arguments(draft, [_unknown_field(draft, k) for k in extra])
            return not draft.data
        found = faults(draft.tool.parameters, arguments) if draft.tool is not None else []
        if found:
            self._refuse_arguments(draft, found)
        elif self.strict and draft.edits:
            kinds = ", ".join(dict.fromkeys(e.kind for e in draft.edits))
            message = f"strict: the call needed mending ({kinds})"
            draft.refuse(IssueKind.MALFORMED, message, self.correction(draft, f"write it exactly; it had: {kinds}"))
        return True

    def copy_of(self, draft: Draft) -> CopyOf | None:
        """What this call was copied from, None for nothing; the examples of a prompt are there to be followed."""
        if not self._shown or draft.refusal is not None or not draft.done:
            return None
        arguments = draft.arguments()
        found = self._shown.copy_of(draft.name, arguments) if isinstance(arguments, dict) else None
        return found if found is not None and found.kind == "tool" else None

    def _refuse_arguments(self, draft: Draft, found: Sequence[Fault]) -> None:
        lines = [f"{f.path}: {f.message}" for f in found[:8]]
        snippets = dict.fromkeys(dumps(f.schema) for f in found[:3])
        told = "; ".join(lines)
        correction = (
            f"The arguments of {draft.name!r} do not fit its schema: {told}. "
            f"Schema: {' '.join(snippets)}. Send the call again with corrected arguments."
        )
        draft.refuse(IssueKind.INVALID_ARGUMENTS, f"invalid arguments: {told}", correction)

    def refuse_numbers(self, draft: Draft, paths: Sequence[str]) -> None:
        """Numbers with a fraction stand where the schema wants integers (a float would hide it)."""
        snippet = draft.tool.parameters if draft.tool is not None else {}
        self._refuse_arguments(draft, [Fault(p, "is not an integer", "type", snippet) for p in paths])

    def thought(self, draft: Draft, text: str) -> None:
        """The JSON protocol caps the thought."""
        if len(text) <= MAX_THOUGHT:
            return
        if self.strict:
            message = f"the thought has {len(text)} characters; at most {MAX_THOUGHT} are allowed"
            correction = f"Keep the thought under {MAX_THOUGHT} characters and send the object again."
            draft.refuse(IssueKind.NOT_ALLOWED, message, correction)
        else:
            draft.edits.append(Edit("long_thought", "", str(len(text)), str(MAX_THOUGHT)))

    def correction(self, draft: Draft, slip: str) -> str:
        """What to tell the model about a call that could not be read."""
        shown = f" Its schema: {dumps(draft.tool.parameters)}." if draft.tool is not None else ""
        return f"The call of {draft.name!r} was not run: {slip}.{shown} Send it again."


AS_TEXT: Mapping[str, Any] = {"outcome": Outcome.TEXT, "issue": IssueKind.QUOTED}
DOUBT: Mapping[str, Mapping[str, Any]] = {"run": {"outcome": Outcome.RUN}, "text": AS_TEXT}
"""What a caller may want of doubt, beside being asked."""


def slip_of(why: Exception) -> IssueKind:
    """The kind of issue that a reader's complaint is."""
    return IssueKind.DUPLICATE_KEYS if isinstance(why, Repeated) else IssueKind.MALFORMED


def breach(why: str, raw: str = "") -> Issue:
    """The issue for an answer that is not the one object the protocol demands (seed document 004, guardrails)."""
    correction = (
        f"Your answer was rejected: {why}. Reply with exactly one JSON object, no prose and no markdown: "
        '{"thought": string, "action": {"tool": string, "args": object}} or {"final": {"content": any}}.'
    )
    return Issue(kind=IssueKind.NOT_ALLOWED, message=why, raw=raw, correction=correction)


MOST_NAMED = 5
"""Tools that a correction names."""


def unreadable(
    kind: IssueKind, why: str, raw: str, name: str, start: int, *, behind: tuple[str, ...] = ()
) -> Issue:
    """The issue for a call that could not be read to its end; `behind` are tools whose calls may have gone into it."""
    if kind is IssueKind.TRUNCATED:
        correction = "The call was cut off before it ended and was not run. Send it again, in smaller parts."
    elif kind is IssueKind.DUPLICATE_KEYS:
        correction = f"The call has two readings and was not run: {why}. Send it again with every key once."
    else:
        correction = f"The call could not be read and was not run: {why}. Send it again as one complete, valid call."
    if behind:
        several = f"{', '.join(behind[:MOST_NAMED])}{' and others' if len(behind) > MOST_NAMED else ''}"
        correction += f" If you called {several} behind it, that was read into it and not run: send that again too."
    return Issue(
        kind=kind, message=why, raw=raw, name=name, correction=correction, span=(start, start + len(raw))
    )


def _clean(name: str) -> str:
    """A name without the notation around it: control tokens, quotes, markdown escapes, white space."""
    name = CONTROL_TAIL.sub("", name).strip().strip("\"'`*")
    return name.replace("\\_", "_").strip()


def _fold(name: str) -> str:
    return re.sub(r"[\s._\-/:]", "", name).casefold()


def _keys_fit(arguments: Any, draft: Draft) -> bool:
    """Are all argument keys declared?  (An open schema without properties declares nothing, so anything fits.)"""
    if draft.tool is None or not draft.shape.keys:
        return not arguments or draft.tool is None or draft.shape.open
    return all(draft.shape.has(k) for k in arguments)


def is_definition(value: Any, declared: Collection[str] = ()) -> bool:
    """Is this the schema of a tool's arguments, or what stands beside one in its definition, rather than arguments?"""
    if not isinstance(value, dict) or not DEFINING.issuperset(value) or any(key in declared for key in value):
        return False
    if "parameters" in value:
        return "description" in value or is_definition(value["parameters"])
    properties = value.get("properties")
    return isinstance(properties, dict) and all(isinstance(each, dict) for each in properties.values())


def _unknown_field(draft: Draft, key: str) -> Fault:
    schema = draft.tool.parameters if draft.tool is not None else {}
    return Fault(f"$.{key[:40]}", "is not one of the tool's arguments", "additionalProperties", schema)


__all__ = ["MAX_THOUGHT", "WRAPPERS", "Judge", "Shape", "Unknown", "breach", "unreadable"]
