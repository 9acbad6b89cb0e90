"""A JSON Schema cut to what an API takes: references, kinds and alternatives, objects, and what was lost on the way.

Knows JSON Schema and the rows of `api_rules`; nothing of wires or of how a schema is sent.
"""
