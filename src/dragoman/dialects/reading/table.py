"""Which reader reads which notation: the one place where notations and their readers meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...late import late_call
from ..spec import (
    AttributeArgs,
    BraceArgs,
    ElementArgs,
    JsonArgs,
    JsonCall,
    KeywordArgs,
    TaggedArgs,
    TextArgs,
    YamlArgs,
    YamlCall,
)
from .call import Attempt, Reader
from .clean_call import clean_attempt


def _late(module: str, name: str) -> Callable[..., Any]:
    return late_call(module, name, __name__)


READERS: Mapping[type, Reader] = {
    JsonCall: _late(".json", "json_call"),
    JsonArgs: _late(".json", "json_args"),
    KeywordArgs: _late(".literals", "keyword_args"),
    BraceArgs: _late(".literals", "brace_args"),
    TaggedArgs: _late(".tags", "tagged_args"),
    ElementArgs: _late(".elements", "element_args"),
    AttributeArgs: _late(".attributes", "attribute_args"),
    YamlCall: _late(".yaml", "yaml_call"),
    YamlArgs: _late(".yaml", "yaml_args"),
    TextArgs: _late(".yaml", "text_args"),
}
"""A reader is loaded when the first call of its notation is read: most processes meet one or two."""
CLEAN: Mapping[type, Callable[[Attempt], bool]] = {
    JsonCall: clean_attempt,
    TaggedArgs: _late(".clean_tags", "clean_tags"),
}
"""What reads all that stands at a place in one look, where it needs nothing: a call and the marks around it."""
