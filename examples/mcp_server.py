"""Python functions as an MCP server, for any host: `dragoman mcp serve examples/mcp_server.py`."""

from datetime import date as day
from datetime import timedelta

from dragoman import tool


@tool(read_only=True)
def add_days(date: day, days: int) -> str:
    """Say which date it is some days after another.

    Args:
        date: the date to begin with
        days: how many days later; fewer than none for earlier
    """
    return (date + timedelta(days=days)).isoformat()


@tool(read_only=True)
def weekday(date: day) -> str:
    """Say which day of the week a date is."""
    return f"{date:%A}"
