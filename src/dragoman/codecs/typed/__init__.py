"""Tools that a wire knows by a type instead of a schema: those a client runs, and those a server runs.

Knows the types and what stands for each of them elsewhere, as rows; nothing of requests, and no wire's way of writing.
"""
