"""Worker processes, their connections and their end.

Knows sockets and signals; nothing of what is served.
"""
