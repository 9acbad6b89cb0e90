"""JSON, Python and YAML as models write them, read into strict JSON with every mend recorded.

Knows text; nothing of tools, dialects or requests.
"""
