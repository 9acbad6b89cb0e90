"""How a call's name and arguments are read, one file for each notation.

Knows notations; nothing of where in a message they stand.
"""
