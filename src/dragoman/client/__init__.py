"""The clients: one body of plans, performed synchronously by `Client` and asynchronously by `AsyncClient`.

In reading order: `models` (a model's name as routes), `conversation` (a prompt as messages), `forms` (a type as the
form of an answer), `about` (what a journal says of its run), `plans` (what is done, as machines), `faces` (the two
clients).
"""

from .clients import AsyncClient as AsyncClient
from .clients import AsyncSteps as AsyncSteps
from .clients import Client as Client
from .clients import Steps as Steps
