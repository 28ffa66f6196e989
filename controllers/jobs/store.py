"""The Jobs as reconcile sees them: slim records, never the bodies they came in.

kopf reports every Job event; what it cannot report (a deletion it missed while its watch was broken) is found out by the
live read before any creation. The store never goes back to an older version of a Job: the answer to our own patch may
arrive before the events that preceded it.
"""

from collections.abc import Callable

from api.job import Job
from controllers.fresh import is_newer
from kube.cache.store import Key, Store


class JobStore:
    """All Jobs of the cluster by key; tells one listener about every change. Belongs to one event loop."""

    def __init__(self) -> None:
        self._store: Store[Job] = Store()
        self._listeners: list[Callable[[Key], None]] = []
        self._leavers: list[Callable[[Job], None]] = []

    def __len__(self) -> int:
        return len(self._store)

    def on_change(self, listener: Callable[[Key], None]) -> None:
        """Call this with the key of every Job that came, changed or went."""
        self._listeners.append(listener)

    def on_leave(self, listener: Callable[[Job], None]) -> None:
        """Call this with every Job that went or gave its name to another one."""
        self._leavers.append(listener)

    def get(self, key: Key) -> Job | None:
        """The Job, or None."""
        return self._store.get(*key)

    def keys(self) -> list[Key]:
        """The keys of all Jobs."""
        return self._store.keys()

    def put(self, job: Job) -> None:
        """Keep this version unless a later one is known."""
        known = self._store.get(*job.metadata.key)
        if known is not None and not is_newer(job, known):
            return
        self._store.put(job)
        if known is not None and known.metadata.uid != job.metadata.uid:
            self._tell_left(known)
        self._tell(job.metadata.key)

    def remove(self, job: Job) -> None:
        """Forget exactly this Job; another one of the same name stays."""
        known = self._store.get(*job.metadata.key)
        if known is None or known.metadata.uid != job.metadata.uid:
            return
        self._store.remove(*job.metadata.key)
        self._tell_left(known)
        self._tell(job.metadata.key)

    def _tell(self, key: Key) -> None:
        for listener in self._listeners:
            listener(key)

    def _tell_left(self, job: Job) -> None:
        for listener in self._leavers:
            listener(job)
