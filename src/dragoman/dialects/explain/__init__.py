"""Every candidate in a text and what was judged of it, for people.

Reads what the parser recorded; judges nothing itself.
"""
