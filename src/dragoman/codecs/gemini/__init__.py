"""Google's two wire APIs: generateContent and Interactions.

Knows JSON bodies and frames; nothing of providers or dialects.
"""
