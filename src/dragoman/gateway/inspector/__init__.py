"""The inspector: every exchange recorded, shown, judged again and exported.

Knows what was recorded; changes no exchange.
"""
