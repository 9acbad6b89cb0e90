"""A text that stands where the arguments should: is it the one that the tool wants, or what is left of a notation?

Knows shapes and the looks of notations; reads none of them.
"""

from __future__ import annotations

import re

from ...schema.validation import Shape
from .likeness import SHORT, differ

MOST_HEAD = 64


def names_parameter(text: str, shape: Shape) -> bool:
    """Does the text hold what is left of another notation: a parameter's name as a tag or at the head of a line?

    Where it can be the value of one parameter alone, only what it begins or ends with counts.
    """
    if len(shape.keys) == 1:
        return _is_notation_of(shape.keys[0], text)
    head, colon, _ = text.lstrip()[:MOST_HEAD].partition(": ")
    if colon and any(len(key) >= SHORT and differ(head, key) <= 1 for key in shape.keys):
        return True
    return any(
        f"<{key}" in text or f"{key}>" in text or re.search(rf"^\W*{re.escape(key)}\W*[:=\"']", text, re.M)
        for key in shape.keys
        if key in text
    )


def _is_notation_of(key: str, text: str) -> bool:
    """Does the text begin or end as an element, an attribute or a line of this key?"""
    key = re.escape(key)
    element = rf"<(?:{key}\b|[\w:.-]+\s[^<>]*name\s*=\s*[\"']?{key}\b)"
    pair = rf"\(?\s*(?P<quote>[\"']?){key}(?P=quote)\s*(?:=|:\s)"
    begins = rf"(?s:(?:\s|<!--.*?-->)*+)(?:{element}|{pair})"
    return re.match(begins, text) is not None or re.search(rf"</{key}>\s*\Z", text) is not None
