"""Corpora of tool calls: read by shape, judged, cleaned, converted, the same bytes on one machine and on many.

Knows rows, units of work and where they are put; nothing of gateways or models that answer.  `formats/` reads and
writes shapes, `judging/` decides of one row, `arrow` and `running/` are how many rows go through.
Contract: every row that is read is kept, set aside with a reason, or dropped with a reason, and the counts say so.
"""
