"""An answer of a type of your own, from any model: validated, and asked for again where it does not fit."""

import os
from dataclasses import dataclass

from dragoman import Client

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")


@dataclass
class Reading:
    """What a weather station says."""

    city: str
    degrees: float


TASK = 'The station in Oslo says: 4.5 °C. Call final_answer with city="Oslo" degrees=4.5'

with Client(MODEL) as client:
    run = client.run(TASK, output_type=Reading)

reading: Reading = run.value
print(f"{reading.city}: {reading.degrees + 273.15:.2f} K")
