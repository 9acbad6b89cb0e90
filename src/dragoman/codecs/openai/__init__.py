"""OpenAI's two wire APIs: chat completions and Responses.

Knows JSON bodies and frames; nothing of providers or dialects.
"""
