"""A socket that listens, for servers written on asyncio.

Contract: small answers leave at once.  asyncio switches Nagle's algorithm off only for sockets that name their
protocol, which those of `socket.create_server` do not; without this an answer in two pieces waits for the peer's
delayed acknowledgement, 40 ms on Linux.
"""

from __future__ import annotations

import socket


def listen(host: str, port: int) -> socket.socket:
    """A socket listening at `host` and `port` (0: a free one); what it accepts sends without delay.  Raises OSError.

    `::` listens at every address of both families, where the machine has both.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = host == "::" and socket.has_dualstack_ipv6()
    listening = socket.create_server((host, port), family=family, dualstack_ipv6=both)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted sockets inherit it
    return listening
