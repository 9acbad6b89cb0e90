"""Models with a memory and a character: what each does at its first, second and third try of a step, told as rows.

A character is handed the step that a sound model would take now (`Moment`) and says what it writes instead.  Knows
calls and dialects as text; nothing of clients, of wires, or of who reads what it writes.
Contract: a call that it writes and does not mean has other arguments than any it means (`decoy`), so that whoever
runs it is seen; the same luck gives the same words.  `helpable` says whether a patient reader can bring it to the end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from dragoman.dialects import DIALECTS
from dragoman.dialects.spec import Dialect
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.types import Json, Tool, ToolCall

from . import sayings

MIXED = (
    "hermes", "qwen3_coder", "llama3_json", "mistral", "glm45", "react", "pythonic", "tool_call_fence", "minimax_m2",
)  # fmt: skip
"""What a model that mixes dialects writes its calls in."""
UNREAD = ("qwen3_coder", "mistral", "glm45", "pythonic", "tool_call_fence", "minimax_m2")
"""Those of them that no server's parser for `hermes` reads."""


DECOY = "some-example-"
"""What stands in each call that is not meant, and in no task."""


INSISTS = "Do you want it made?"
"""What is asked after a mere yes."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is written, and why it ends."""

    text: str
    finish: str = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The answer that is due.

    calls    the step a sound model takes now; () where its answer is due, which is `text`
    last     the step before, () at the beginning
    tries    how often this step was due before
    asked    the model is asked about a call in its last answer: "" (it is not), "meant" or "decoy"
    told     the last message
    trait    luck of the conversation, the same at each of its moments;  luck  that of this one
    """

    calls: tuple[ToolCall, ...]
    text: str
    last: tuple[ToolCall, ...]
    tries: int
    asked: str
    trait: int
    luck: Random
    dialect: Dialect
    tools: tuple[Tool, ...]
    native: bool
    told: str

    def write(self, calls: Sequence[ToolCall], dialect: Dialect | None = None) -> str:
        """`calls` in the dialect that was shown, or in another."""
        for each in (dialect or self.dialect, self.dialect):
            try:
                return render(list(calls), each, tools=self.tools)
            except Unrenderable:
                continue
        return self.text

    def decoy(self) -> ToolCall:
        """A call that is not meant: the next one, with arguments that no task has."""
        call = (self.calls or self.last)[0]
        return replace(call, raw=None, arguments={key: _other(value) for key, value in call.arguments.items()})

    def loosely(self, call: ToolCall) -> str:
        """`call` in markup: any, but none that the model's own server would take for a call."""
        name = self.luck.choice(UNREAD) if self.native else self.luck.choice([*UNREAD, self.dialect.name])
        return self.write([call], DIALECTS.get(name))

    def weakly(self, call: ToolCall, form: int) -> str:
        """`call` in a way that proves little, with words around it."""
        value = json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
        given = ", ".join(f"{key}={json.dumps(v, ensure_ascii=False)}" for key, v in call.arguments.items())
        python = f"{call.name}({given})"
        return (
            f"Here is the call:\n\n```json\n{value}\n```\n\nThat is all.",
            f"Okay.\n\n{value}\n\nWe will see what comes back.",
            f"The next step:\n\n```python\n{python}\n```\n\nAfter that I go on.",
            f"{self.loosely(call)}\n\nThis call does it.",
        )[form % 4]


OWN_FORMS = {"llama3_json": (0, 1), "json_protocol": (0, 1), "pythonic": (2,)}
"""Those ways of `Moment.weakly` that are the dialect's own, or read as it: whoever was told it may run them."""


Character: TypeAlias = Callable[[Moment], Said]


def _other(value: Json) -> Json:
    """Another value of the same type, which stands in no task."""
    match value:
        case bool():
            return value
        case int():
            return value + 4321
        case str():
            return f"{DECOY}{len(value)}.txt"
        case list():
            return ["an example"]
    return value


# ── mistakes ─────────────────────────────────────────────────────────────────


def _mistaken(moment: Moment) -> str:
    """The step with the mistake that this conversation's model makes."""
    call = moment.calls[0]
    rest = moment.calls[1:]
    key = next(iter(call.arguments))
    match moment.trait % 4:
        case 0:  # a required argument is missing
            wrong = replace(call, raw=None, arguments={k: v for k, v in call.arguments.items() if k != key})
        case 1:  # a tool that is not there
            wrong = replace(call, raw=None, name=f"{call.name.split('_')[0]}_anything")
        case 2:  # no value
            wrong = replace(call, raw=None, arguments={**call.arguments, key: None})
        case _:  # broken off inside a value
            text = moment.text.rstrip()
            return text[: int(len(text) * 0.6)]
    named = [replace(tool, name=wrong.name) for tool in moment.tools if tool.name == call.name != wrong.name]
    return replace(moment, tools=(*moment.tools, *named)).write([wrong, *rest])


def _repeats(moment: Moment) -> Said:
    return Said(_mistaken(moment) if moment.calls and moment.tries < 1 + moment.trait % 2 else moment.text)


def _ignores(moment: Moment) -> Said:
    """The same again when it is corrected, then something else, then the step."""
    if not moment.calls or moment.tries > 2:
        return Said(moment.text)
    return Said(moment.write(moment.last) if moment.tries == 2 and moment.last else _mistaken(moment))


def _deaf(moment: Moment) -> Said:
    return Said(_mistaken(moment) if moment.calls and moment.last else moment.text)


def _loops(moment: Moment) -> Said:
    """The step before, again and again, until it is told that this brings nothing new."""
    told = "nothing new" in moment.told or moment.tries > 6
    return Said(moment.text if told or not moment.last or moment.trait % 2 else moment.write(moment.last))


def _turns_in_circles(moment: Moment) -> Said:
    return Said(moment.write(moment.last) if moment.last else moment.text)


# ── second thoughts ──────────────────────────────────────────────────────────

def _revokes(moment: Moment) -> Said:
    """A call, taken back; the right one follows at once, or when it is asked."""
    if moment.asked == "decoy":
        return Said(moment.luck.choice(["No.", "no", ""]) + f"\n\n{moment.text}")
    if not moment.calls or moment.tries:
        return Said(moment.text)
    back = f"{moment.loosely(moment.decoy())}\n\n{moment.luck.choice(sayings.REVOKED)}"
    if moment.luck.random() < 0.3:
        return Said(back)
    return Said(f"{back}\n\n{moment.luck.choice(sayings.INSTEAD)}\n\n{moment.text}")


def _mentions(moment: Moment) -> Said:
    """Calls it does not make, quoted, described and remembered, before the step and in its answer."""
    if moment.asked == "decoy":
        return Said("No." if not moment.calls else f"No.\n\n{moment.text}")
    if moment.asked or not (moment.calls or moment.last):
        return Said(moment.text)
    live = moment.luck.random() < 0.5
    lead = moment.luck.choice(sayings.SHOWN) if live else moment.luck.choice(_quoted(moment, moment.decoy()))
    lead = lead.replace("{call}", moment.loosely(moment.decoy())) if live else lead
    return Said(f"{lead}\n\n{moment.text}" if moment.calls else f"{moment.text}\n\n{lead}")


def _quoted(moment: Moment, call: ToolCall) -> tuple[str, ...]:
    """The ways of showing `call` in what quotes."""
    given = ", ".join(f"{key}={json.dumps(v, ensure_ascii=False)}" for key, v in call.arguments.items())
    value = json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
    return (
        f"I could also use `{call.name}({given})`, but that is not needed.",
        f"For example, a call looks like this:\n\n```json\n{value}\n```\n\nI do not need that one.",
        "\n".join(f"> {line}" for line in moment.write([call]).splitlines()) + "\n\nis what the manual shows.",
        f"The log of last week says:\n\n    {call.name}({given})\n\nThat was last week.",
        f"| tool | arguments |\n| --- | --- |\n| {call.name} | `{json.dumps(dict(call.arguments))}` |",
        f"One would not write ```{value}``` here.",
    )


# ── questions ────────────────────────────────────────────────────────────────


def _confirms(moment: Moment) -> Said:
    """Calls in ways that prove little, meant: made when it is asked, properly or once more like that."""
    if moment.asked and moment.calls:
        yes = moment.luck.choice(["", "Yes.\n\n", "Yes, I did.\n\n"])
        return Said(f"{yes}{moment.text}")
    if not moment.calls or moment.tries > 1 or len(moment.calls) > 1:
        return Said(moment.text)
    return Said(moment.weakly(moment.calls[0], moment.luck.randrange(4)))


def _says_yes(moment: Moment) -> Said:
    """As before, but a yes is all it says; made when somebody insists, properly or once more like that."""
    if moment.asked and INSISTS in moment.told and moment.luck.random() < 0.5 and len(moment.calls) == 1:
        return Said(moment.weakly(moment.calls[0], moment.luck.randrange(3)))
    if moment.asked and INSISTS not in moment.told:
        return Said(moment.luck.choice(["Yes.", "Yes, go ahead.", "yes", "Ja, bitte.", "Yes, I meant it."]))
    return _confirms(moment)


def _denies(moment: Moment) -> Said:
    """Calls in ways that prove little, not meant; the step follows in the same answer, or after the no.

    Its words are those of a meant call, so only the notation makes doubt: never the one that the model was told.
    """
    if moment.asked == "decoy" and moment.calls:
        no = moment.luck.choice(["No.", "no", "Nein.", "No, that was only an example."])
        return Said(f"{no}\n\n{moment.text}")
    if not moment.calls or moment.tries:
        return Said(moment.text)
    forms = [form for form in range(3) if form not in OWN_FORMS.get(moment.dialect.name, ())]
    weak = moment.weakly(moment.decoy(), moment.luck.choice(forms))
    return Said(weak if moment.luck.random() < 0.5 else f"{weak}\n\n{moment.text}")


def _refuses(moment: Moment) -> Said:
    """Calls in any notation that it says it will not make; the step follows in the same answer, or after the no."""
    if moment.asked or not moment.calls or moment.tries:
        return _denies(moment)
    call, form = moment.decoy(), moment.luck.randrange(5)
    written = moment.weakly(call, form).split("\n\n")[-2] if form < 3 else moment.loosely(call)
    said = f"{moment.luck.choice(sayings.REFUSED)}\n\n{written}"
    return Said(said if moment.luck.random() < 0.5 else f"{said}\n\nNow to the step.\n\n{moment.text}")


def _denies_only(moment: Moment) -> Said:
    """As before, and its no is the last word: what it wrote stands as its answer."""
    return Said("No.") if moment.asked == "decoy" and moment.calls else _denies(moment)


def _habitual(moment: Moment) -> Said:
    """One way that proves little, always the same."""
    if moment.asked and moment.calls:
        return Said(moment.text)
    return Said(moment.weakly(moment.calls[0], moment.trait) if len(moment.calls) == 1 else moment.text)


# ── nothing, too little, too much ────────────────────────────────────────────


def _silent(moment: Moment) -> Said:
    nothing = moment.luck.choice(["", " \n", "<think>\nHm.\n</think>\n"])
    return Said(nothing if moment.tries < moment.trait % 3 else moment.text)


def _mute(moment: Moment) -> Said:
    return Said("" if moment.last else moment.text)


def _cut(moment: Moment) -> Said:
    if moment.tries or not moment.calls:
        return Said(moment.text)
    return Said(moment.text[: moment.luck.randrange(max(1, len(moment.text) - 1))], "length")


def _always_cut(moment: Moment) -> Said:
    if not moment.last or not moment.calls:
        return Said(moment.text)
    return Said(moment.text[: moment.luck.randrange(1, max(2, len(moment.text) * 2 // 3))], "length")


def _promises(moment: Moment) -> Said:
    """Says what it will do, once or twice, before it does it."""
    if moment.tries > moment.trait % 2 or not moment.calls:
        return Said(moment.text)
    name = moment.calls[0].name
    promises = (f"I will now call {name}.", f"Next, I'll use {name} for that:", f"Let me run `{name}`.")
    return Said(moment.luck.choice(promises))


def _mixes(moment: Moment) -> Said:
    """Each call in another dialect, those of one answer too."""
    if moment.tries:
        return Said(moment.text)
    names = [moment.luck.choice(MIXED) for _ in moment.calls]
    written = [moment.write([call], DIALECTS[name]) for call, name in zip(moment.calls, names, strict=True)]
    return Said("\n".join(written) or moment.text)


def _moody(moment: Moment) -> Said:
    """One character at one step, another at the next.

    But for calls that only the notation puts in doubt: here it was confirmed by other moods, and nothing is left by
    which a reader could know.
    """
    rows = [row for row in CHARACTERS if row.helpable and row.act not in (_moody, _denies)]
    mood = Random(f"{moment.trait} {moment.text}").choice(rows)
    return mood.act(moment)


@dataclass(frozen=True, slots=True)
class CharacterRow:
    """A character: its name, what it does, and whether it can be brought to the end of a task."""

    name: str
    act: Character
    helpable: bool = True


CHARACTERS: tuple[CharacterRow, ...] = (
    CharacterRow("repeats a mistake", _repeats),
    CharacterRow("ignores corrections at first", _ignores),
    CharacterRow("ignores corrections", _deaf, helpable=False),
    CharacterRow("loops until told", _loops),
    CharacterRow("loops", _turns_in_circles, helpable=False),
    CharacterRow("revokes", _revokes),
    CharacterRow("mixes dialects", _mixes),
    CharacterRow("mentions calls", _mentions),
    CharacterRow("answers nothing at first", _silent),
    CharacterRow("answers nothing", _mute, helpable=False),
    CharacterRow("is cut by length at first", _cut),
    CharacterRow("is cut by length", _always_cut, helpable=False),
    CharacterRow("confirms by calling", _confirms),
    CharacterRow("confirms in words", _says_yes),
    CharacterRow("denies when asked", _denies),
    CharacterRow("refuses in words", _refuses),
    CharacterRow("denies when asked and does no more", _denies_only, helpable=False),
    CharacterRow("has a habit", _habitual),
    CharacterRow("promises", _promises),
    CharacterRow("all of these", _moody),
)
