"""What a deployment really can: probes of one route, what they found, and the settings that follow.

In reading order: `findings` (what a probe says), `remedies` (what helps, by server), `reach` (is there an API, and
where), `patient` (what is examined), `probes` (what it can), `context` (how long a prompt it really reads), `prescribe`
(the settings).  Performs nothing; whoever runs the machines opens the connections.
"""

from .findings import Finding as Finding
from .findings import Grade as Grade
from .probes import examine as examine
from .reachability import Reached as Reached
from .reachability import reach as reach
from .settings import prescription as prescription
