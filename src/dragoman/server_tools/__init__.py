"""Tools that are executed here between a model's turns, unseen by clients, and the memory of them.

Knows calls and results; nothing of where the tools come from.
"""
