"""Which reader reads which notation: the one place where notations and their readers meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
from .attributes import attribute_args
from .call import Attempt, Reader
from .clean_call import clean_attempt
from .clean_tags import clean_tags
from .elements import element_args
from .json import json_args, json_call
from .literals import brace_args, keyword_args
from .tags import tagged_args
from .yaml import text_args, yaml_args, yaml_call

READERS: Mapping[type, Reader] = {
    JsonCall: json_call,
    JsonArgs: json_args,
    KeywordArgs: keyword_args,
    BraceArgs: brace_args,
    TaggedArgs: tagged_args,
    ElementArgs: element_args,
    AttributeArgs: attribute_args,
    YamlCall: yaml_call,
    YamlArgs: yaml_args,
    TextArgs: text_args,
}
CLEAN: Mapping[type, Callable[[Attempt], bool]] = {JsonCall: clean_attempt, TaggedArgs: clean_tags}
"""What reads all that stands at a place in one look, where it needs nothing: a call and the marks around it."""
