"""What the official SDKs' types say an API holds, held against what our codecs carry.

Knows SDKs as type hints and codecs by their contract; nothing of how either is made.
"""
