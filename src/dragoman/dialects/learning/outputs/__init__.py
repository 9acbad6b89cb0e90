"""A dialect out of what a model wrote: `learn_from_outputs(samples)`.

`cells.py` and `pairs.py` find the calls, `alignment.py` what stands around them, `assembly.py` makes rows of it and
`learner.py` proves them.  Nothing here reads files or asks anybody.
"""

from __future__ import annotations

from .learner import LearnedRow as LearnedRow
from .learner import learn_from_outputs as learn_from_outputs
from .sample import Sample as Sample
from .sample import samples_of as samples_of
from .vectors import vectors_of as vectors_of
