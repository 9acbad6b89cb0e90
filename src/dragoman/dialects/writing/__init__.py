"""The same rows backwards: calls rendered, tools explained, decoding constrained, markup neutralised.

Knows rows; never reads a model's answer.
"""
