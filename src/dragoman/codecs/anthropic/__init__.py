"""Anthropic's Messages API, and the same inside Bedrock's InvokeModel.

Knows JSON bodies and frames; nothing of providers or dialects.
"""
