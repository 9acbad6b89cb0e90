"""JSON Schema: what it says of a value, how a value is made to fit it, and how it is made to fit an API.

Knows schemas and values; nothing of tool calls, wires or models.
"""
