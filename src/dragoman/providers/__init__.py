"""Providers and model families, as rows; the proof of a key and the way of a request.

Sends nothing, and knows no request's content.
"""
