"""The shapes of corpora: read by what a row looks like, written by a target's demands; one row of a table each.

`table.FORMATS` is the table; `reading.read` finds the row of it that fits, `losses.losses` says what a target lost.
"""
