"""What a wire lost of a request or an answer, found by reading back what was written.

Knows codecs as functions; no API by name.
"""
