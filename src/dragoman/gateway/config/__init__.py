"""What a `dragoman.toml` says: the model of it, its JSON Schema, and how it is loaded.

Knows settings; nothing of requests.
"""
