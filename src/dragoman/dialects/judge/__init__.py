"""What decides whether a candidate is a call that was meant.

Knows evidence; nothing of how the text was found.
"""
