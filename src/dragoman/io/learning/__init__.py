"""`learn` in a box: somebody else's chat template or response template, run where it can do no harm.

Knows the box and `dialects.learning`; what is learned, and how, is told there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dialects.learning import Learned, LearnError, plain
from .box import LIMITS, Limits, Stopped, run

TARGET = f"{plain.__name__}:{plain.answer.__name__}"


def learn(
    template: str | None = None,
    *,
    tokenizer_config: Mapping[str, Any] | None = None,
    response_template: Mapping[str, Any] | None = None,
    name: str = "learned",
    limits: Limits = LIMITS,
) -> Learned:
    """The dialect of a chat template, of a tokenizer's configuration, or of a `response_template`.

    template           the text of `chat_template.jinja`
    tokenizer_config   the object of `tokenizer_config.json`; the template in it is used where none is given
    response_template  Hugging Face's record of how answers are read; preferred, for it says the format outright
    name               the name of the row
    limits             megabytes, seconds of CPU and seconds in all that it may take

    A template is a program, so it runs in a process of its own that reaches no files, no network and no environment.
    Raises LearnError, which says what was not understood or which limit was met.
    """
    order = {
        "template": template, "tokenizer_config": tokenizer_config, "response_template": response_template, "name": name
    }  # fmt: skip
    try:
        given = run(TARGET, order, limits)
    except Stopped as why:
        raise LearnError(f"the template was stopped: {why}") from why
    except TypeError as why:
        raise LearnError(f"what was given is not JSON ({why})") from why
    return plain.learned(given)


__all__ = ["Learned", "learn"]
