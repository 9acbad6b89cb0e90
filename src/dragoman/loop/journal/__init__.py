"""A run that survives its process: every step written down before it is acted upon, and taken from there afterwards.

In reading order: `values` (our records as JSON, and back), `store` (one SQLite file per run), `recorder` (what a run's
machine is wrapped in: it answers from the record as far as that goes).
"""

from .recorder import RunRecorder as RunRecorder
from .store import JournalStore as JournalStore
from .values import decode as decode
from .values import encode as encode
