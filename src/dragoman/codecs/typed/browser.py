"""The members of Anthropic's browser toolset and their arguments, in JSON Schema.

Data only, as `schemas.py` is; `table.py` says which type of tool they belong to.
Source: anthropic 2.12, types/beta/beta_browser_*_input.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import JsonObject
from .schemas import NUMBER, listed, record, text, whole

_TAB = text("The tab to act in. Default: the active one.")
_POINT = record(
    {
        "type": text("Always coordinate.", enum=["coordinate"]),
        "x": whole("Pixels from the left edge of the viewport."),
        "y": whole("Pixels from the top edge of the viewport."),
    },
    "type",
    "x",
    "y",
)
_ELEMENT = record(
    {
        "type": text("Always ref.", enum=["ref"]),
        "ref": text("What read_page or find called the element (ref_7)."),
    },
    "type",
    "ref",
)
_EITHER = {"anyOf": [_POINT, _ELEMENT], "description": "Where: a point of the viewport, or an element."}
_MODIFIERS = text("Keys held down meanwhile (shift, ctrl+shift).")
_SECONDS = {"type": "number", "description": "Seconds, 30 at most."}
_KEYS = text("A key, a combination (ctrl+a), or several one after the other, with spaces between.")


def _in_tab(properties: Mapping[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    """Arguments of a member that acts in a tab."""
    return record({**properties, "tab_id": _TAB}, *required, **more)


_CLICK = _in_tab({"target": _EITHER, "modifiers": _MODIFIERS}, "target")
_MOUSE = _in_tab({"target": _POINT}, "target")
_ONE_TAB = record({"tab_id": text("The tab.")}, "tab_id")
_WHEEL = {
    "scroll_direction": text("Where to scroll.", enum=["up", "down", "left", "right"]),
    "scroll_amount": whole("Notches of the wheel, 1 to 10. Default: 3."),
}
_VALUE = {
    "type": ["string", "number", "boolean"],
    "description": "The value: true or false for a checkbox, the text or value of an option for a list.",
}
_FILES = {
    "paths": listed({"type": "string"}, "Paths where the browser runs."),
    "document_ids": listed({"type": "string"}, "Files made ready for the browser."),
}
_DEMANDED = [{"required": ["paths"]}, {"required": ["document_ids"]}]
_READING = {
    "filter": text(
        "Default: every visible element. interactive: those one can act on. all: also those out of view.",
        enum=["all", "interactive"],
    ),
    "depth": whole("How deep. Default: 15."),
    "ref": text("The element to begin at. Default: the page."),
}

BROWSER_TOOLSET: Mapping[str, tuple[str, JsonObject]] = {
    "navigate": (
        "Go to an address; back, forward and reload are addresses too.",
        _in_tab({"url": text("The address.")}, "url"),
    ),
    "list_tabs": ("List the open tabs: id, title and address of each.", record({})),
    "new_tab": ("Open an empty tab and tell its id.", record({})),
    "switch_tab": ("Make a tab the active one.", _ONE_TAB),
    "close_tab": ("Close a tab.", _ONE_TAB),
    "read_page": (
        "Read the page as a tree of its elements, with the names by which to act on them.",
        _in_tab(_READING),
    ),
    "get_page_text": ("Read the visible text of the page.", _in_tab({})),
    "read_console": ("Read what was written to the console since the last reading.", _in_tab({})),
    "read_network": ("Read which requests were made since the last reading.", _in_tab({})),
    "find": (
        "Find elements by a description of them (search bar), 20 at most.",
        _in_tab({"query": text("What the element is.")}, "query"),
    ),
    "form_input": (
        "Set the value of a form's element.",
        _in_tab({"target": _ELEMENT, "value": _VALUE}, "target", "value"),
    ),
    "file_upload": (
        "Give files to a file input.",
        _in_tab({"target": _ELEMENT, **_FILES}, "target", anyOf=_DEMANDED),
    ),
    "scroll_to": ("Scroll until an element can be seen.", _in_tab({"target": _ELEMENT}, "target")),
    "screenshot": ("Take a screenshot of the viewport.", _in_tab({})),
    "zoom": (
        "Take a screenshot of a region, enlarged.",
        _in_tab({"region": listed(NUMBER, "x0, y0, x1, y1 in pixels of the viewport.", 4, 4)}, "region"),
    ),
    "left_click": ("Click.", _CLICK),
    "right_click": ("Click with the right button.", _CLICK),
    "middle_click": ("Click with the middle button.", _CLICK),
    "double_click": ("Click twice.", _CLICK),
    "triple_click": ("Click three times.", _CLICK),
    "hover": ("Move the mouse to a place without clicking.", _in_tab({"target": _EITHER}, "target")),
    "left_click_drag": (
        "Press at a point, drag to another, release.",
        _in_tab({"from": _POINT, "target": _POINT}, "from", "target"),
    ),
    "left_mouse_down": ("Press the left mouse button and hold it.", _MOUSE),
    "left_mouse_up": ("Release the left mouse button.", _MOUSE),
    "mouse_move": ("Move the mouse.", _MOUSE),
    "scroll": ("Scroll at a point.", _in_tab({"target": _POINT, **_WHEEL}, "target", "scroll_direction")),
    "type": ("Type a text where the focus is.", _in_tab({"text": text("The text.")}, "text")),
    "key": ("Press keys.", _in_tab({"text": _KEYS, "repeat": whole("How often. Default: once.")}, "text")),
    "hold_key": (
        "Hold a key or a combination down.",
        _in_tab({"text": text("The key or combination."), "duration": _SECONDS}, "text", "duration"),
    ),
    "wait": ("Wait.", _in_tab({"duration": _SECONDS}, "duration")),
    "javascript_exec": (
        "Run JavaScript in the page and tell the value of its last expression; without return.",
        _in_tab({"text": text("The code.")}, "text"),
    ),
}
"""Members of browser_toolset_20260801."""
BROWSER_ON_DEMAND = frozenset({"read_console", "read_network", "javascript_exec", "file_upload"})
"""Members that a definition has only where it turns them on (anthropic 2.12, lib/tools/_toolsets/_registry.py)."""
