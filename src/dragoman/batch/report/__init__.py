"""What came of a corpus, for people and for programs: counts with examples, as one HTML file and as the same JSON.

Knows judged rows and measures; nothing of formats, units of work or how rows are judged.
"""
