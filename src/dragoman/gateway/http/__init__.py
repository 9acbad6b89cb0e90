"""HTTP as ASGI: endpoints, keys, origins, bodies, and work done beside the event loop.

Knows requests and responses as bytes; nothing of turns.
"""
