"""The parser that reads every row: markers, candidates, events.

Knows rows and text; nothing of wires or requests.
"""
