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
    Listing,
    TaggedArgs,
    TextArgs,
    YamlArgs,
    YamlCall,
)
from .call import Attempt, Reader
from .clean_call import clean_marked


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
_CLEAN: Mapping[tuple[type, Listing], Callable[[Attempt], bool]] = {
    (JsonCall, Listing.REPEAT): clean_marked,
    (JsonCall, Listing.ARRAY): _late(".clean_list", "clean_list"),
    (JsonArgs, Listing.REPEAT): _late(".clean_args", "clean_args"),
    (TaggedArgs, Listing.REPEAT): _late(".clean_tags", "clean_tags"),
    (KeywordArgs, Listing.ARRAY): _late(".clean_literals", "clean_literals"),
    (BraceArgs, Listing.REPEAT): _late(".clean_literals", "clean_literals"),
}


def read_clean(attempt: Attempt) -> bool:
    """Read all that stands here in one look, marks and all, where the text has ended and nothing needs more."""
    clean = _CLEAN.get((type(attempt.row.dialect.args), attempt.row.dialect.listing)) if attempt.src.eof else None
    return clean is not None and clean(attempt)
