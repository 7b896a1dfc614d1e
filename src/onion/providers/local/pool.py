"""The engines of this process: one per weights and settings, shared by the models that use it."""

from __future__ import annotations

import atexit
import threading
from dataclasses import dataclass, field

from onion.providers.local.engine import Engine
from onion.providers.local.native import EngineSettings, StartEngine, start_native


@dataclass(slots=True)
class _Shared:
    engine: Engine
    users: set[object] = field(default_factory=set[object])


class EnginePool:
    """Starts an engine when its first user asks and closes it when its last user is gone, or with the process.

    Args:
        start: Starts a native engine.
    """

    def __init__(self, start: StartEngine = start_native) -> None:
        self._start = start
        self._shared: dict[EngineSettings, _Shared] = {}
        self._lock = threading.Lock()
        atexit.register(self.close)

    def acquire(self, settings: EngineSettings, user: object) -> Engine:
        """The engine of *settings*, with *user* among its users. Blocks while the engine starts.

        Raises:
            MissingExtraError: When the engine is not installed.
            LocalModelError: When it cannot run the weights.
        """
        with self._lock:
            shared = self._shared.get(settings)
            if shared is None:
                shared = _Shared(Engine(self._start(settings), settings.slots))
                self._shared[settings] = shared
            shared.users.add(user)
            return shared.engine

    def release(self, settings: EngineSettings, user: object) -> None:
        """Take *user* from the engine's users; the last one closes it. Blocks while it ends."""
        with self._lock:
            shared = self._shared.get(settings)
            if shared is None or user not in shared.users:
                return
            shared.users.remove(user)
            if not shared.users:
                del self._shared[settings]
                shared.engine.close()

    def close(self) -> None:
        """Close every engine."""
        with self._lock:
            while self._shared:
                self._shared.popitem()[1].engine.close()


ENGINES = EnginePool()
"""Loading weights twice would cost their memory twice, so models share what they do not pass."""
