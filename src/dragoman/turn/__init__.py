"""One request and its streamed, judged answer, as a machine without I/O.

Plans, prepares, reads and asks again; runs no tool and knows no client.
"""
