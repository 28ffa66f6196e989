"""The controllers with a fault switch: they kill themselves right after their n-th write. A process of the tests only.

`python -m tests.conformance.crashing_controllers KUBECONFIG WRITES`: WRITES is how many writes are let through before the end;
-1 means all. Leases, events and the record of the group API do not count.
"""

import asyncio
import logging
import os
import signal
import sys
from typing import Any

from controllers.main import main
from controllers.settings import ControllersSettings
from kube.client.client import Client
from kube.client.resources import Resource

COUNTED = {"jobs", "pods", "workloads", "podgroups"}


def install(let_through: int) -> None:
    """Makes the client end the process after that many writes, once the server has answered the last one."""
    done = 0

    def switch(write: Any) -> Any:
        async def switched(self: Client, resource: Resource, *arguments: Any, **settings: Any) -> Any:
            nonlocal done
            answer = await write(self, resource, *arguments, **settings)
            done += resource.plural in COUNTED
            if done == let_through:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return switched

    for name in ("create", "patch", "replace", "delete"):
        setattr(Client, name, switch(getattr(Client, name)))


async def run(kubeconfig: str) -> int:
    """The controllers, with a short lease so that a successor need not wait long."""
    settings = ControllersSettings(
        kubeconfig=kubeconfig, metrics_address="0", lease_seconds=3, renew_seconds=2, retry_seconds=0.3
    )
    return await main(settings, asyncio.Event())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    install(int(sys.argv[2]))
    sys.exit(asyncio.run(run(sys.argv[1])))
