"""An answer of a type of your own, from any model: validated, and asked for again where it does not fit."""

import os
import sys
from dataclasses import dataclass

from dragoman import Client, ProviderError, RunUnfinished

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")


@dataclass
class Reading:
    """What a weather station says."""

    city: str
    degrees: float


TASK = 'The station in Oslo says: 4.5 °C. Call final_answer with city="Oslo" degrees=4.5'

with Client(MODEL) as client:
    try:
        reading = client.run(TASK, output=Reading).value  # checkers know that it is a Reading
    except RunUnfinished as error:  # the model never gave one; the conversation is there to be looked at
        sys.exit(f"no reading after {error.run.turns} answers: {error}")
    except ProviderError as error:
        sys.exit(f"no model answered: {error}")

print(f"{reading.city}: {reading.degrees + 273.15:.2f} K")
