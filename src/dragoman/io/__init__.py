"""The world: performing effects over HTTP, synchronously (`sync`), asynchronously (`aio`) or from a script (`memory`).

Each offers a `Pool` of connections shared by many machines; `pool.world()` performs the effects of one machine.  Tools
and hooks are run by `threads` and `tasks`, which share `execution`; `cancel` stops either.
Import the one you need: nothing is imported here.
"""
