"""The tools of MCP servers, as any host configures them, given to a model that has no tool calling at all."""

import os
import sys
from pathlib import Path

from dragoman import Client, DragomanError
from dragoman.mcp import McpServers

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")
HERE = Path(__file__).parent

# The server is ours: `dragoman mcp serve` serves the tools of a file.  Any other goes in the same way; a path to the
# mcp.json of Claude, Cursor, VS Code … will do as well.
CONFIG = {
    "mcpServers": {
        "clock": {"command": sys.executable, "args": ["-m", "dragoman", "mcp", "serve", str(HERE / "mcp_server.py")]}
    }
}

try:
    with McpServers(CONFIG) as servers, Client(MODEL, tools=servers.tools()) as client:
        print(f"the server offers {', '.join(servers.tools())}")
        print(client.run('Call add_days with date="2026-02-27" days=3.').text.strip())
except DragomanError as error:  # a server that cannot be started, or a model that cannot be asked
    sys.exit(f"no answer: {error}")
