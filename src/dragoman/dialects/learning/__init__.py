"""A dialect out of a model's own files: `learn(template)`, which `dragoman.dialects.learn` is.

It runs here, in this process; `dragoman.learn` is the same in a box, for templates of strangers.

`learner.py` proves what `compare.py` proposes; `chat.py` and `response.py` write the turns that are compared.
"""

from __future__ import annotations

from .learner import Learned as Learned
from .learner import dialects as dialects
from .learner import learn as learn
from .voice import LearnError as LearnError
