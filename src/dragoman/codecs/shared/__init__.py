"""What several wire APIs have in common: frames, bodies, calls, results, errors, the encoder of streams.

Knows no API by name.
"""
