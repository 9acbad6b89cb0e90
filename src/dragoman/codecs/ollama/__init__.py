"""Ollama's two wire APIs: chat and generate.

Knows JSON bodies and frames; nothing of models or servers.
"""
