"""Docstrings of every convention say the same of a function and its parameters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.tools.docstrings import Documentation, documentation

NAMES = ("path", "limit", "args", "kwargs")
TEXT = "Read a file.\n\nThe whole of it, in one piece."
SAME = Documentation(
    TEXT,
    {"path": "Where it is, from the root.", "limit": "How many lines: at most 100.", "kwargs": "What else."},
    {"path": "str", "limit": "int"},
    "What stands in it.",
)

# (id, docstring)
CONVENTIONS = [
    ("google", """Read a file.

    The whole of it, in one piece.

    Args:
        path (str): Where it is,
            from the root.
        limit (int, optional): How many lines: at most 100.
        **kwargs: What else.

    Returns:
        str: What stands in it.

    Raises:
        OSError: It is not there.
        limit: not a parameter here.
    """),
    ("google in other words", """
    Read a file.

    The whole of it, in one piece.

    Arguments:
      `path` (str): Where it is, from the root.
      - limit (int): How many lines: at most 100.
      stale: No such parameter.

    Keyword Args:
      kwargs: What else.

    Example:
      >>> read("x")

    Yields:
      What stands in it."""),
    ("numpy", """Read a file.

    The whole of it, in one piece.

    Parameters
    ----------
    path : str
        Where it is,
        from the root.
    limit : int, optional
        How many lines: at most 100.
    **kwargs
        What else.

    Returns
    -------
    str
        What stands in it.

    See Also
    --------
    path : not this one
    """),
    ("sphinx", """Read a file.

    The whole of it, in one piece.

    :param str path: Where it is,
        from the root.
    :param limit: How many lines: at most 100.
    :type limit: int
    :param kwargs: What else.
    :returns: What stands in it.
    :rtype: str
    :raises OSError: It is not there.
    """),
    ("epydoc", """Read a file.

    The whole of it, in one piece.

    @param path: Where it is, from the root.
    @type path: str
    @param limit: How many lines: at most 100.
    @type limit: int
    @param kwargs: What else.
    @return: What stands in it.
    """),
]  # fmt: skip


@pytest.mark.parametrize("doc", [row[1] for row in CONVENTIONS], ids=[row[0] for row in CONVENTIONS])
def test_every_convention_says_the_same(doc: str) -> None:
    assert documentation(doc, NAMES) == SAME


def test_several_parameters_may_share_one_description() -> None:
    found = documentation("Do.\n\nParameters\n----------\npath, limit : int\n    Both.\n", NAMES)
    assert found.parameters == {"path": "Both.", "limit": "Both."}


def test_types_with_brackets_and_defaults_are_kept_apart() -> None:
    found = documentation(
        "Do.\n\nArgs:\n  path (dict(str, int), default: {}): P.\n  limit (list[int] | None): L.", NAMES
    )
    assert found.types == {"path": "dict(str, int)", "limit": "list[int] | None"}
    assert found.parameters == {"path": "P.", "limit": "L."}


def test_lists_and_paragraphs_of_a_description_keep_their_lines() -> None:
    found = documentation("Do.\n\nArgs:\n  path: One of\n    - a\n    - b\n\n    and no\n    other.", NAMES)
    assert found.parameters["path"] == "One of\n- a\n- b\n\nand no other."


def test_text_after_the_sections_is_text_too() -> None:
    found = documentation("Do.\n\nArgs:\n  path: P.\n\nMore to say: a lot.", NAMES)
    assert found.text == "Do.\n\nMore to say: a lot."


def test_a_line_that_only_looks_like_a_header_is_text() -> None:
    assert documentation("Do this:\n  and that\nThen: stop.", NAMES).text == "Do this:\n  and that\nThen: stop."


@pytest.mark.parametrize("doc", [None, "", "   ", "\n\n"])
def test_nothing_says_nothing(doc: str | None) -> None:
    assert documentation(doc, NAMES) == Documentation()


PIECES = [
    "Args:",
    "Parameters",
    "----",
    ":param path: x",
    "path: y",
    "  limit (int): z",
    "Returns:",
    "    more",
    "",
    "a b",
    ":type",
    "@return: q",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=10)).map("\n".join))
def test_every_text_can_be_read_and_names_only_parameters(doc: str) -> None:
    found = documentation(doc, NAMES)
    assert set(found.parameters) | set(found.types) <= set(NAMES)
