"""One candidate's dealings with one Lease object: try to take it, renew it, give it back.

Every write carries the resource version of the Lease it was decided on, so of two candidates only one can win. After a
write whose outcome is unknown nothing is remembered: the next step reads first.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, NotFound
from kube.client.resources import LEASES
from kube.client.times import micro_time
from kube.process.lease_record import LeaseRecord, may_be_taken, new_lease, record_of, taken, with_record


class LeaseLock:
    """A Lease as one identity sees it (client-go's LeaseLock). Not for concurrent use.

    Args:
        client: talks to the API server.
        namespace: where the Lease is.
        name: the Lease.
        identity: what is written as its holder.
        lease_seconds: how long the record counts after it was last changed.
        clock: monotonic seconds.
        wall_clock: the time of day, for the time stamps that people read.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        identity: str,
        lease_seconds: float,
        clock: Callable[[], float],
        wall_clock: Callable[[], datetime],
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._lease_seconds = lease_seconds
        self._clock = clock
        self._wall_clock = wall_clock
        self._lease: dict[str, Any] | None = None
        self._seen: LeaseRecord | None = None
        self._seen_at = 0.0
        self._tenure = ""

    async def try_to_take(self) -> bool:
        """Take the lease if nobody can still believe to hold it. False: not now.

        Raises:
            KubeError: the server could not be asked.
        """
        try:
            lease = await self._client.get(LEASES, self._name, self._namespace)
        except NotFound:
            return await self._create()
        record = record_of(lease)
        if record != self._seen:
            self._seen, self._seen_at = record, self._clock()
        mine = record.holder == self._identity and record.acquired == self._tenure
        if not mine and not may_be_taken(record, self._clock() - self._seen_at, self._lease_seconds):
            return False
        now = micro_time(self._wall_clock())
        self._tenure = now
        return await self._write(lease, taken(record, self._identity, now, self._lease_seconds))

    async def renew(self) -> bool:
        """Say that we are still there. False: the lease is somebody else's, or gone.

        Raises:
            KubeError: it is not known whether the renewal happened.
        """
        for _ in range(2):
            try:
                lease = self._lease or await self._client.get(LEASES, self._name, self._namespace)
            except NotFound:
                return False
            record = record_of(lease)
            if record.holder != self._identity or record.acquired != self._tenure:
                return False
            if await self._write(lease, replace(record, renewed=micro_time(self._wall_clock()))):
                return True
        return False

    async def release(self) -> bool:
        """Give the lease back, so that the next candidate need not wait. False: it was not ours any more.

        Raises:
            KubeError: it could not be written; it will expire.
        """
        lease = self._lease or await self._client.get(LEASES, self._name, self._namespace)
        record = record_of(lease)
        if record.holder != self._identity or record.acquired != self._tenure:
            return False
        now = micro_time(self._wall_clock())
        return await self._write(lease, replace(record, holder="", duration_seconds=1, renewed=now))

    async def _create(self) -> bool:
        now = micro_time(self._wall_clock())
        self._tenure = now
        body = with_record(
            new_lease(self._namespace, self._name), taken(None, self._identity, now, self._lease_seconds)
        )
        try:
            self._lease = await self._client.create(LEASES, body, self._namespace)
        except AlreadyExists:
            return False
        return True

    async def _write(self, lease: dict[str, Any], record: LeaseRecord) -> bool:
        self._lease = None
        try:
            self._lease = await self._client.replace(LEASES, with_record(lease, record), self._name, self._namespace)
        except Conflict:
            return False
        return True
