"""Ten tools as coding and desktop agents really declare them: names, sentences and schemas of ordinary size."""

from __future__ import annotations

from typing import Any

from dragoman.types import Tool


def _tool(name: str, description: str, required: str, **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}
    return Tool(name=name, description=description, parameters=schema)


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _number(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": description, **more}


TEN = (
    _tool(
        "read_file",
        "Read a text file. Returns its lines with their numbers; long files are cut, so ask for a range.",
        "path",
        path=_text("Absolute path of the file"),
        start=_number("First line, from 1", minimum=1),
        count=_number("How many lines", minimum=1, maximum=2000),
    ),
    _tool(
        "write_file",
        "Write a whole file. What was there before is lost.",
        "path content",
        path=_text("Absolute path of the file"),
        content=_text("The new content"),
    ),
    _tool(
        "edit_file",
        "Replace text in a file. The old text must occur exactly once.",
        "path edits",
        path=_text("Absolute path of the file"),
        edits={
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": _text("Text to replace"), "new": _text("Text to put there")},
                "required": ["old", "new"],
            },
        },
    ),
    _tool(
        "list_directory",
        "List a directory. Hidden files are left out unless asked for.",
        "path",
        path=_text("Absolute path of the directory"),
        hidden={"type": "boolean", "description": "Also hidden files"},
    ),
    _tool(
        "search_text",
        "Search files for a regular expression. Returns file, line and text of each hit.",
        "pattern",
        pattern=_text("A regular expression"),
        paths={"type": "array", "items": {"type": "string"}, "description": "Where to look"},
        context=_number("Lines around each hit", minimum=0),
    ),
    _tool(
        "run_command",
        "Run a shell command in the project's folder. Output beyond 20,000 characters is cut in the middle.",
        "command",
        command=_text("The command line"),
        timeout_seconds={"type": "number", "description": "Give up after this long"},
        environment={"type": "object", "additionalProperties": {"type": "string"}},
    ),
    _tool(
        "fetch_url",
        "Fetch a web page as Markdown. Pages behind a login cannot be fetched.",
        "url",
        url={"type": "string", "format": "uri", "description": "The address"},
        max_characters=_number("Cut after this many"),
    ),
    _tool(
        "create_event",
        "Create a calendar event. Attendees are invited by mail.",
        "title start end",
        title=_text("What it is called"),
        start={"type": "string", "format": "date-time"},
        end={"type": "string", "format": "date-time"},
        attendees={"type": "array", "items": {"type": "string", "format": "email"}},
        visibility={"enum": ["public", "private"]},
    ),
    _tool(
        "query_database",
        "Run one read-only SQL query. Returns at most 500 rows.",
        "sql",
        sql=_text("One SELECT statement"),
        parameters={"type": "array", "items": {"type": ["string", "number", "null"]}},
    ),
    _tool("finish", "Say that the task is done.", "summary", summary=_text("What was done, in two sentences")),
)
