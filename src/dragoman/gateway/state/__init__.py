"""What the gateway remembers between requests: items, reasoning, quotas, and what processes share of them.

Knows keys and values; nothing of HTTP or models.
"""
