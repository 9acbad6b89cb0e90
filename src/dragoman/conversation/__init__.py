"""Messages put into the order, the ids and the names that a wire requires.

Knows canonical messages; nothing of codecs or providers.
"""
