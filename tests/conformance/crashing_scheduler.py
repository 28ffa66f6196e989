"""The scheduler with a fault switch around its client: a process of the tests only.

`python -m tests.conformance.crashing_scheduler KUBECONFIG FAULTS`: FAULTS is JSON. Counted are writes to claims, claims that are
made and deleted, what pods are told of theirs, and binds.

- `kill_after`: it kills itself right after the server has answered its n-th write;
- `refuse`: its n-th write of an allocation is answered 403 without being sent;
- `lose`: its n-th write of an allocation is carried out and answered 500;
- `fail`: its n-th write of an allocation is answered 500 without being sent;
- `touch`: right before its n-th write of an allocation somebody else changes the claim, so the server answers 409;
- `refuse_bind`: its n-th bind is answered 403 without being sent.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

from kube.client.client import Client
from kube.client.errors import Forbidden, ServerError
from kube.client.resources import RESOURCE_CLAIMS, Resource
from scheduler.main import main
from scheduler.settings import SchedulerSettings


@dataclass
class Faults:
    """At which write what happens; 0 is never."""

    kill_after: int = 0
    refuse: int = 0
    lose: int = 0
    fail: int = 0
    touch: int = 0
    refuse_bind: int = 0


class Switch:
    """Counts writes and hurts."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._writes = 0
        self._allocations = 0
        self._binds = 0

    async def patched(self, write: Any, client: Client, resource: Resource, body: Any, *place: Any, **more: Any) -> Any:
        """A patch of the scheduler."""
        if resource is not RESOURCE_CLAIMS:
            answer = await write(client, resource, body, *place, **more)
            if "extendedResourceClaimStatus" in (body.get("status") or {}):
                self._count()
            return answer
        number = 0
        if (body.get("status") or {}).get("allocation"):
            self._allocations += 1
            number = self._allocations
        if number and number == self._faults.refuse:
            raise Forbidden(403, "Forbidden", "refused by the test")
        if number and number == self._faults.fail:
            raise ServerError(500, "InternalError", "failed by the test")
        if number and number == self._faults.touch:
            await write(client, resource, {"metadata": {"annotations": {"touched": "yes"}}}, *place)
        answer = await write(client, resource, body, *place, **more)
        self._count()
        if number and number == self._faults.lose:
            raise ServerError(500, "InternalError", "the answer was lost by the test")
        return answer

    async def created(self, write: Any, client: Client, resource: Resource, *place: Any, **more: Any) -> Any:
        """A bind, a claim, or something that does not count."""
        if more.get("subresource") != "binding":
            answer = await write(client, resource, *place, **more)
            if resource is RESOURCE_CLAIMS:
                self._count()
            return answer
        self._binds += 1
        if self._binds == self._faults.refuse_bind:
            raise Forbidden(403, "Forbidden", "refused by the test")
        answer = await write(client, resource, *place, **more)
        self._count()
        return answer

    async def deleted(self, write: Any, client: Client, resource: Resource, *place: Any, **more: Any) -> None:
        """A claim, or something that does not count."""
        await write(client, resource, *place, **more)
        if resource is RESOURCE_CLAIMS:
            self._count()

    def _count(self) -> None:
        self._writes += 1
        if self._writes == self._faults.kill_after:
            os.kill(os.getpid(), signal.SIGKILL)


def install(faults: Faults) -> None:
    """Puts the switch around the writes of all clients."""
    switch = Switch(faults)
    patch, create, delete = Client.patch, Client.create, Client.delete

    async def patched(self: Client, resource: Resource, body: Any, *place: Any, **more: Any) -> Any:
        return await switch.patched(patch, self, resource, body, *place, **more)

    async def created(self: Client, resource: Resource, *place: Any, **more: Any) -> Any:
        return await switch.created(create, self, resource, *place, **more)

    async def deleted(self: Client, resource: Resource, *place: Any, **more: Any) -> None:
        await switch.deleted(delete, self, resource, *place, **more)

    Client.delete = deleted  # type: ignore[method-assign]
    Client.patch = patched  # type: ignore[method-assign]
    Client.create = created  # type: ignore[method-assign]


async def run(kubeconfig: str) -> int:
    """The scheduler; whoever starts the next one deletes the lease, so that it need not wait."""
    settings = SchedulerSettings(
        kubeconfig=kubeconfig, metrics_address="0", lease_seconds=15, renew_seconds=10, retry_seconds=0.3
    )
    return await main(settings, asyncio.Event())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    install(Faults(**json.loads(sys.argv[2])))
    sys.exit(asyncio.run(run(sys.argv[1])))
