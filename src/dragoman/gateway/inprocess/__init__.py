"""The gateway inside the process that asks it: a transport for clients built on httpx or httpx2, and no server.

In reading order: `signals` (how one thread or loop wakes another), `answer` (an answer on its way across), `call` (one
ASGI request), `running` (a gateway's loop in a thread of its own), `host` (one gateway, begun when it is needed, for
any number of clients), `plan` (what is served), `reports` (what was judged), `transport` (the face).
Contract: the application is the one that `dragoman serve` runs, in one loop, whoever asks from however many threads
and loops; nothing of this is loaded before somebody asks for it.
"""
