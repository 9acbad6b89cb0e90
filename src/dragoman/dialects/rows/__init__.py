"""The dialects, one row each, by family; data only.

Knows no parser.
"""
