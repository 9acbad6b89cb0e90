"""One row judged: its calls against its own tools, the order of its turns, what can be mended and what cannot.

`row_judge.judge` is the whole of it; `lane.py` answers at once for rows that are provably fine.
"""
