"""The clients: one body of plans, performed synchronously by `Client` and asynchronously by `AsyncClient`.

In reading order: `models` (a model's name as routes), `conversation` (a prompt as messages), `forms` (a type as the
form of an answer), `about` (what a journal says of its run), `plans` (what is done, as machines), `faces` (the two
clients).
"""

from .faces import AsyncClient as AsyncClient
from .faces import AsyncSteps as AsyncSteps
from .faces import Client as Client
from .faces import Steps as Steps
