"""Cohere's chat API, version 2.

Knows JSON bodies and frames; nothing of providers or dialects.
"""
