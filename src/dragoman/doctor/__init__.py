"""What a deployment really can: probes of one route, what they found, and the settings that follow.

In reading order: `findings` (what a probe says), `remedies` (what helps, by server), `probes` (the machines),
`prescribe` (the settings).  Performs nothing; whoever runs the machines opens the connections.
"""

from .findings import Finding as Finding
from .findings import Grade as Grade
from .prescribe import prescription as prescription
from .probes import examine as examine
