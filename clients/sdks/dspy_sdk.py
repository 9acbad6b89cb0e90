"""DSPy: a signature filled in by JSON; its agents write their calls as fields of text, without tools."""

from __future__ import annotations

from typing import Any

import dspy
from common import FORM, FORM_QUESTION, KEY, MODEL, URL, run

lm = dspy.LM(f"openai/{MODEL}", api_base=URL + "/v1", api_key=KEY, cache=False)


class Fill(dspy.Signature):
    """Fill in the form."""

    question: str = dspy.InputField()
    city: str = dspy.OutputField()
    temperature: int = dspy.OutputField()


def json_form() -> Any:
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        done = dspy.Predict(Fill)(question=FORM_QUESTION)
    return {"city": done.city, "temperature": done.temperature}


if __name__ == "__main__":
    run(others={json_form: FORM})
