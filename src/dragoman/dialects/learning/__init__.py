"""A dialect out of a model's own files: `learn(template)`, which `dragoman.dialects.learn` is.

`learner.py` proves what `compare.py` proposes; `chat.py` and `response.py` write the turns that are compared.
"""

from __future__ import annotations

from .learner import Learned as Learned
from .learner import dialects as dialects
from .learner import learn as learn
from .voice import LearnError as LearnError
