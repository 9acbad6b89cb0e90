"""The arguments of typed tools, as their vendors publish them, in JSON Schema.

Data only.  A model that was not taught a tool knows of it what stands here: so every field says what it is, and what a
command cannot go without is demanded, so that a model which leaves it out is asked again.
Sources: thinking.md §6; the types of the official SDKs (anthropic 2.12, openai 3.54); the vendors' guides; the AI SDK's
definitions of the same tools (packages/anthropic/src/tool).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...types import JsonObject


def text(about: str, **more: Any) -> dict[str, Any]:
    """A string."""
    return {"type": "string", "description": about, **more}


def whole(about: str) -> dict[str, Any]:
    """An integer."""
    return {"type": "integer", "description": about}


def listed(items: Mapping[str, Any], about: str, least: int = 0, most: int = 0) -> dict[str, Any]:
    """An array."""
    bounds = {key: value for key, value in (("minItems", least), ("maxItems", most)) if value}
    return {"type": "array", "items": dict(items), "description": about, **bounds}


def record(properties: Mapping[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    """An object."""
    made: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    return {**made, **({"required": list(required)} if required else {}), **more}


def by(key: str, needs: Mapping[str, Sequence[str]], properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """An object whose `key` names a command; each has its needs besides."""
    head = {key: text("What to do.", enum=list(needs))}
    demands = [
        {"if": {"properties": {key: {"const": word}}, "required": [key]}, "then": {"required": list(wanted)}}
        for word, wanted in needs.items()
        if wanted
    ]
    return record({**head, **properties}, key, *required, **({"allOf": demands} if demands else {}))


NUMBER = {"type": "integer"}
STRING = {"type": "string"}

# ── Anthropic ────────────────────────────────────────────────────────────────

BASH = record(
    {
        "command": text("The command to run. Needed, unless restart is true."),
        "restart": {"type": "boolean", "description": "True to restart the shell instead of running a command."},
    },
    anyOf=[{"required": ["command"]}, {"required": ["restart"]}],
)

_FILE = {
    "path": text("Absolute path of the file or directory."),
    "view_range": listed(NUMBER, "For view: first and last line, counted from 1; -1 is the last line.", 2, 2),
    "file_text": text("For create: the content of the new file."),
    "old_str": text("For str_replace: the text to replace; it must occur in the file exactly once."),
    "new_str": text("For str_replace: the new text; empty to delete the old one."),
    "insert_line": whole("For insert: the line after which to insert; 0 is the beginning of the file."),
    "insert_text": text("For insert: the text to insert."),
}
_EDITS = {"view": (), "create": ("file_text",), "str_replace": ("old_str",)}
_NAMED_BOTH = {**_FILE, "new_str": text("For str_replace: the new text. For insert: the text to insert.")}
EDITOR = by("command", {**_EDITS, "insert": ("insert_line", "insert_text")}, _FILE, "path")
EDITOR_OF_APRIL = by("command", {**_EDITS, "insert": ("insert_line",)}, _NAMED_BOTH, "path")
"""Before text_editor_20250728, guides gave the text of an insertion as `new_str`."""
EDITOR_WITH_UNDO = by("command", {**_EDITS, "insert": ("insert_line",), "undo_edit": ()}, _NAMED_BOTH, "path")

MEMORY = by(
    "command",
    {
        "view": ("path",),
        "create": ("path", "file_text"),
        "str_replace": ("path", "old_str", "new_str"),
        "insert": ("path", "insert_line", "insert_text"),
        "delete": ("path",),
        "rename": ("old_path", "new_path"),
    },
    {
        **_FILE,
        "path": text("Path below /memories."),
        "old_path": text("For rename: the path it has."),
        "new_path": text("For rename: the path it gets."),
    },
)

POINT = listed(NUMBER, "x and y in pixels, from the left and the top edge.", 2, 2)
_START = {**POINT, "description": "x and y where the drag begins."}
_REGION = listed(NUMBER, "x0, y0, x1, y1 of the region to look at closely.", 4, 4)
_SCREEN = {
    "coordinate": POINT,
    "text": text("The text to type, the key or keys to press (ctrl+s), or the keys held during a click."),
}
_WHEEL = {
    "scroll_direction": text("Where to scroll.", enum=["up", "down", "left", "right"]),
    "scroll_amount": whole("Clicks of the scroll wheel."),
}
_FIRST: Mapping[str, Sequence[str]] = {
    "key": ("text",),
    "type": ("text",),
    "mouse_move": ("coordinate",),
    "left_click": (),
    "left_click_drag": ("coordinate",),
    "right_click": (),
    "middle_click": (),
    "double_click": (),
    "screenshot": (),
    "cursor_position": (),
}
_SECOND: Mapping[str, Sequence[str]] = {
    **_FIRST,
    "left_click_drag": ("start_coordinate", "coordinate"),
    "hold_key": ("text", "duration"),
    "left_mouse_down": (),
    "left_mouse_up": (),
    "triple_click": (),
    "scroll": ("scroll_direction", "scroll_amount"),
    "wait": ("duration",),
}
_MORE = {
    **_SCREEN,
    **_WHEEL,
    "start_coordinate": _START,
    "duration": {"type": "number", "description": "Seconds to hold the key, or to wait."},
}
COMPUTER_2024 = by("action", _FIRST, _SCREEN)
COMPUTER_2025 = by("action", _SECOND, _MORE)
COMPUTER_ZOOM = by("action", {**_SECOND, "zoom": ("region",)}, {**_MORE, "region": _REGION})

_HELD = text("Keys held down meanwhile (ctrl, shift, ctrl+shift).")
_CLICK = record({"coordinate": POINT, "text": _HELD})
_SECONDS = whole("Seconds.")
COMPUTER_MEMBERS: Mapping[str, tuple[str, JsonObject]] = {
    "key": ("Press a key or a combination (ctrl+s).", record({"text": STRING, "repeat": NUMBER}, "text")),
    "hold_key": ("Hold a key down.", record({"text": STRING, "duration": _SECONDS}, "text", "duration")),
    "type": ("Type a text on the keyboard.", record({"text": STRING}, "text")),
    "cursor_position": ("Tell where the cursor is.", record({})),
    "mouse_move": ("Move the cursor without clicking.", record({"coordinate": POINT}, "coordinate")),
    "left_mouse_down": ("Press the left mouse button and hold it.", record({})),
    "left_mouse_up": ("Release the left mouse button.", record({})),
    "left_click": ("Click, at the coordinate or where the cursor is.", _CLICK),
    "left_click_drag": (
        "Drag from start_coordinate to coordinate.",
        record({"start_coordinate": _START, "coordinate": POINT, "text": _HELD}, "start_coordinate", "coordinate"),
    ),
    "right_click": ("Click with the right button.", _CLICK),
    "middle_click": ("Click with the middle button.", _CLICK),
    "double_click": ("Click twice.", _CLICK),
    "triple_click": ("Click three times.", _CLICK),
    "scroll": (
        "Scroll at the coordinate, or where the cursor is.",
        record({**_WHEEL, "coordinate": POINT, "text": _HELD}, *_WHEEL),
    ),
    "wait": ("Wait.", record({"duration": _SECONDS}, "duration")),
    "screenshot": ("Take a screenshot of the screen.", record({})),
    "zoom": ("Take a screenshot of a region, enlarged.", record({"region": _REGION}, "region")),
}
"""Members of computer_toolset_20260801 and their inputs (anthropic 2.12, types/beta/beta_computer_*_input.py)."""

# ── OpenAI ───────────────────────────────────────────────────────────────────

_ENV = {"type": "object", "additionalProperties": STRING, "description": "Environment variables to set."}
LOCAL_SHELL = record(
    {
        "command": listed(STRING, 'The program and its arguments, one string each: ["ls", "-a"].', 1),
        "env": _ENV,
        "timeout_ms": whole("Milliseconds after which it is stopped."),
        "user": text("The user to run it as."),
        "working_directory": text("The directory to run it in."),
    },
    "command",
)
SHELL = record(
    {
        "commands": listed(STRING, "The shell commands to run, one after the other.", 1),
        "timeout_ms": whole("Milliseconds after which they are stopped."),
        "max_output_length": whole("Characters of output to return of each command."),
    },
    "commands",
)
APPLY_PATCH = by(
    "type",
    {"create_file": ("diff",), "update_file": ("diff",), "delete_file": ()},
    {
        "path": text("Path of the file."),
        "diff": text(
            "For create_file: every line of the new file with + before it. For update_file: the changes in V4A form: "
            "@@ begins a hunk, then lines that stay (after a space), go (after -) and come (after +)."
        ),
    },
    "path",
)
_X, _Y = whole("x in pixels, from the left edge."), whole("y in pixels, from the top edge.")
_PATH = listed(record({"x": NUMBER, "y": NUMBER}, "x", "y"), "For drag: the points it goes through.", 2)
_AT = ("x", "y")
ACTION = by(
    "type",
    {
        "click": ("button", *_AT),
        "double_click": _AT,
        "drag": ("path",),
        "keypress": ("keys",),
        "move": _AT,
        "screenshot": (),
        "scroll": (*_AT, "scroll_x", "scroll_y"),
        "type": ("text",),
        "wait": (),
    },
    {
        "x": _X,
        "y": _Y,
        "button": text("For click: the mouse button.", enum=["left", "right", "wheel", "back", "forward"]),
        "path": _PATH,
        "keys": listed(STRING, "For keypress: the keys pressed together."),
        "scroll_x": whole("For scroll: pixels to the right."),
        "scroll_y": whole("For scroll: pixels down."),
        "text": text("For type: the text."),
    },
)
ACTIONS = record({"actions": listed(ACTION, "What to do, in order.", 1)}, "actions")

FREE_TEXT = record({"input": STRING}, "input")
"""A free-form tool where tools take objects."""



def free_text(description: str, grammar: JsonObject) -> str:
    """The description of a free-form tool, with the grammar its text must match."""
    if grammar.get("definition"):
        syntax = grammar.get("syntax") or ""
        description += f"\n\nThe input must match this {syntax} grammar:\n{grammar['definition']}"
    return description.strip()


# ── Google ───────────────────────────────────────────────────────────────────

_GRID = "on a grid of 0 to 999 over the screen"
_GX, _GY = whole(f"x {_GRID}, from the left."), whole(f"y {_GRID}, from the top.")
_GRIDDED = {"x": _GX, "y": _GY}
_WAYS = text("Where to scroll.", enum=["up", "down", "left", "right"])
BROWSER_MEMBERS: Mapping[str, tuple[str, JsonObject]] = {
    "open_web_browser": ("Open the browser.", record({})),
    "wait_5_seconds": ("Wait five seconds.", record({})),
    "go_back": ("Go to the page before.", record({})),
    "go_forward": ("Go to the page after.", record({})),
    "search": ("Go to the start page of a search engine.", record({})),
    "navigate": ("Go to an address.", record({"url": text("The address.")}, "url")),
    "click_at": ("Click at a place.", record(_GRIDDED, "x", "y")),
    "hover_at": ("Move the mouse to a place.", record(_GRIDDED, "x", "y")),
    "type_text_at": (
        "Type a text at a place.",
        record(
            {
                **_GRIDDED,
                "text": text("The text."),
                "press_enter": {"type": "boolean", "description": "Press Enter behind it. Default: true."},
                "clear_before_typing": {"type": "boolean", "description": "Empty the field first. Default: true."},
            },
            "x",
            "y",
            "text",
        ),
    ),
    "key_combination": ("Press keys together.", record({"keys": text("The keys (control+c).")}, "keys")),
    "scroll_document": ("Scroll the page.", record({"direction": _WAYS}, "direction")),
    "scroll_at": (
        "Scroll at a place.",
        record({**_GRIDDED, "direction": _WAYS, "magnitude": whole("How far, 0 to 999.")}, "x", "y", "direction"),
    ),
    "drag_and_drop": (
        "Drag from a place to another.",
        record(
            {**_GRIDDED, "destination_x": _GX, "destination_y": _GY}, "x", "y", "destination_x", "destination_y"
        ),
    ),
}
"""Predefined functions of Gemini's `computerUse` (ai.google.dev/gemini-api/docs/computer-use, "Supported actions")."""
