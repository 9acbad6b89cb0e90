"""Many rows on their way: files cut into units of work, engines that do them, and a manifest that says what was done.

Knows files, processes and what a unit gives; nothing of shapes or verdicts.
"""
