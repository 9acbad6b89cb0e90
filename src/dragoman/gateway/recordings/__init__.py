"""Recordings that outlive the process: one table of exchanges in SQLite or PostgreSQL, written behind a bounded queue.

In reading order: `table` (columns, and the questions asked of them), `store` (what both databases promise), `reader`
(what they answer alike), `sqlite` and `postgres`, `writer` (the queue).
"""
