"""AWS Bedrock's Converse API.

Knows JSON bodies and frames; nothing of signing or regions.
"""
