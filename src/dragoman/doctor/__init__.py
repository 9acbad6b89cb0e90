"""The abilities of a deployment: probes of one route, their results, and the settings that follow.

In reading order: `findings` (a probe's result), `remedies` (by server), `reachability` (is there an API, and where),
`target` (the deployment), `probes` (its abilities), `context_length` (how long a prompt it really reads), `settings`;
`remembered` is what earlier conversations taught.
Performs nothing; whoever runs the machines opens the connections.
"""

from .findings import Grade as Grade
from .findings import ProbeResult as ProbeResult
from .probes import examine as examine
from .reachability import Reached as Reached
from .reachability import reach as reach
from .remembered import forget as forget
from .remembered import learned as learned
from .settings import settings_for as settings_for
