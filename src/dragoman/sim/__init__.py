"""A scripted weak model behind a real HTTP server: what the demonstration talks to, and what the tests lean on.

It has no tools; it reads what its prompt says about them, writes calls as text in any dialect, and errs on demand.
It is deterministic, and it never pretends to be more than it is.  In reading order: `plans` (what a plan is and how it
is walked), `scenarios` (the tasks it knows), `prompt_reader` (what it makes of a prompt), `faults` (its mistakes),
`model` (text in, text out), `server` (the wires), `loopback` (a port to stand on).
"""

from .faults import FaultKind as FaultKind
from .loopback import serving as serving
from .model import WeakModel as WeakModel
from .model import WeakReply as WeakReply
from .model import habits as habits
from .plans import Scenario as Scenario
from .plans import Task as Task
from .plans import Wish as Wish
from .server import Journal as Journal
from .server import LoggedExchange as LoggedExchange
from .server import app as app
from .server import running as running
