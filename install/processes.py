"""The three processes that `tutti run` starts: what they are told, and whether they are ready."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import yaml

from api.constants import CONTROLLERS_NAME, SCHEDULER_NAME, WEBHOOKS_NAME
from install.address import LOOPBACK, WebhookAddress, free_ports
from install.settings import RunSettings
from install.tokens import write_private
from kube.groups.group_api import GroupAPI
from kube.process.child import Child, Say

_log = logging.getLogger(__name__)

WEBHOOKS: Final = "webhooks"
ACCOUNTS: Final = {WEBHOOKS: WEBHOOKS_NAME, "controllers": CONTROLLERS_NAME, "scheduler": SCHEDULER_NAME}
"""Process names, in the order in which they are started, and their service accounts."""

CERTIFICATES: Final = "certificates"
_PROBE_SECONDS: Final = 5.0


@dataclass(slots=True)
class ManagedProcess:
    """One of the three processes, started again whenever it ends.

    Attributes:
        child: keeps it running.
        health_port: where it answers probes; another one after each start.
    """

    child: Child
    health_port: int = 0

    async def unreadiness(self) -> str | None:
        """What `/readyz` complains of, None when the process is ready."""
        url = f"http://{LOOPBACK}:{self.health_port}/readyz"
        timeout = aiohttp.ClientTimeout(total=_PROBE_SECONDS)
        try:
            async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session, session.get(url) as answer:
                return None if answer.status == 200 else " ".join((await answer.text()).split())
        except (aiohttp.ClientError, TimeoutError, OSError):
            return "it does not answer yet"


@dataclass(frozen=True, slots=True)
class ProcessFactory:
    """Makes the processes.

    Attributes:
        tutti_command: the command that starts `tutti`, without a sub-command.
        folder: a private folder for their files.
        settings: of `tutti run`.
        address: of the admission server.
        group_api: the group API in force, which they are held to.
        say: gets a line when one of them dies.
        clock: monotonic seconds.
        sleep: sleeps so many seconds.
    """

    tutti_command: Sequence[str]
    folder: Path
    settings: RunSettings
    address: WebhookAddress
    group_api: GroupAPI
    say: Say
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]

    def process(self, name: str, kubeconfig: Path) -> ManagedProcess:
        """The process of that name; its settings file is written, the process is not started yet."""
        config = self.folder / f"{name}.yaml"
        write_private(config, yaml.safe_dump(self._section(name)))
        fixed = [*self.tutti_command, name, "--end-with-stdin", f"--kubeconfig={kubeconfig}", f"--config={config}"]
        fixed += [f"--log-format={self.settings.log_format}", *self._extra(name)]

        def command() -> Sequence[str]:
            process.health_port = free_ports(1)[0]
            return [*fixed, f"--metrics={LOOPBACK}:{process.health_port}"]

        process = ManagedProcess(Child(name, command, say=self.say, clock=self.clock, sleep=self.sleep))
        return process

    def _section(self, name: str) -> dict[str, Any]:
        sections = {"scheduler": self.settings.scheduler, "controllers": self.settings.controllers}
        return {**sections.get(name, self.settings.webhooks), "group_api": self.group_api.name}

    def _extra(self, name: str) -> list[str]:
        if name != WEBHOOKS:
            return []
        folder = self.folder / CERTIFICATES
        return [f"--listen={self.address.listen}", f"--url={self.address.url}", f"--certificates={folder}"]


async def wait_until_ready(
    process: ManagedProcess,
    *,
    say: Say,
    clock: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]],
    patience_seconds: float = 20,
) -> None:
    """Wait for as long as it takes until the process is ready; says once what it is waiting for when that takes long."""
    started, is_told = clock(), False
    while (reason := await process.unreadiness()) is not None:
        if not is_told and clock() - started > patience_seconds:
            say(f"{process.child.name} is not ready: {reason}")
            is_told = True
        await sleep(0.2)


async def stop_all(processes: Sequence[ManagedProcess]) -> None:
    """Stop all processes at the same time."""
    await asyncio.gather(*(process.child.stop() for process in processes))
