"""A caller's wish to stop, from anywhere: another thread, a signal handler, a callback.

Knows nothing of what is stopped.  Contract: `cancel` may be called any number of times, from any thread and from signal
handlers (it takes no lock); listeners must bear being called twice.
"""

from __future__ import annotations

from collections.abc import Callable


class Cancel:
    """Stops the run it was given to: `cancel = Cancel(); client.run(…, cancel=cancel)`, elsewhere `cancel.cancel()`."""

    def __init__(self) -> None:
        self._cancelled = False
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def cancelled(self) -> bool:
        """Has somebody cancelled?"""
        return self._cancelled

    def cancel(self) -> None:
        """Stop as soon as possible; what has begun is let go of."""
        self._cancelled = True
        for listener in list(self._listeners.values()):
            listener()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` on cancelling, at once where that has happened; what is returned ends it."""
        key = object()
        self._listeners[key] = listener
        if self._cancelled:
            listener()

        def forget() -> None:
            self._listeners.pop(key, None)

        return forget
