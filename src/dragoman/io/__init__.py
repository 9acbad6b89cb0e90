"""Effects performed: over HTTP, synchronously (`sync`) or asynchronously (`aio`); from a script by `sim.scripted`.

Each offers a pool of connections shared by many machines; `pool.performer()` performs the effects of one machine.
Tools and hooks are run by `threads` and `tasks`, which share `execution`; `cancel` stops either.
Import the one you need: nothing is imported here.
"""
