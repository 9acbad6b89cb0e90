"""MCP both ways, through the official SDK: the tools of servers as ordinary tools, and any `ToolSet` as a server.

In reading order: `config` (the servers a file names), `results` (as MCP has them, both ways), `client_callbacks` (for
requests of servers), `stream_watch` and `connection` (one server), `loop_thread` (a loop for synchronous callers),
`servers` (all of them), and `server` (the other way round).  Importing this package imports the SDK; nothing else in
Dragoman does.
"""

from .client_callbacks import ClientCallbacks as ClientCallbacks
from .config import Http as Http
from .config import ServerSpec as ServerSpec
from .config import Stdio as Stdio
from .config import read_servers as read_servers
from .server import http_app as http_app
from .server import serve as serve
from .server import serve_stdio as serve_stdio
from .servers import McpServers as McpServers
