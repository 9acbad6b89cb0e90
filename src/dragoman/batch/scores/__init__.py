"""Scores of tool calling: what share of answers calls, soundly and rightly, with exact definitions and intervals.

Knows samples (an answer's calls, tools and what was expected); nothing of files, formats, or how calls are read.
Contract: a score is the sum of what is counted of each sample alone, so it is the same however a corpus is cut.
"""
