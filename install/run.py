"""`tutti run`: Tutti on any cluster, from outside it, for as long as this command runs.

Order is everything here. Up: CRDs, rights and policy; then the processes, each under its own service account; and the webhook
configurations only once the admission server answers. Down: the configurations first, then the processes. So the API server
is never told to call an address at which nobody is.
"""

import asyncio
import logging
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from api.constants import SYSTEM_NAMESPACE
from install.address import LOOPBACK, WebhookAddress, choose_address, is_loopback
from install.manifests import CONFIG_FOLDER
from install.poller import Poller
from install.prepare import Prepared, prepare
from install.processes import (
    ACCOUNTS,
    CERTIFICATES,
    WEBHOOKS,
    ManagedProcess,
    ProcessFactory,
    stop_all,
    wait_until_ready,
)
from install.registration import register, unregister
from install.rights import granted_to, missing
from install.settings import RunSettings
from install.tokens import TokenManager
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import KubeError, Unreachable
from kube.groups.server_version import require_supported
from kube.process.child import Say
from kube.process.run import EXIT_OK, EXIT_UNEXPECTED, preflight

_log = logging.getLogger(__name__)

USER_AGENT: Final = "tutti-run"
REGISTER_RETRY_SECONDS: Final = 2.0
UNREGISTER_SECONDS: Final = 8.0
RIGHTS_SECONDS: Final = 30.0


def sayer(settings: RunSettings) -> Say:
    """Where lines for people go: standard output, or the log when that is for machines."""
    if settings.log_format == "json":
        return _log.info

    def say(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    return say


async def main(settings: RunSettings, stop: asyncio.Event, *, tutti_command: Sequence[str]) -> int:
    """Run Tutti until `stop` is set; the exit code.

    Args:
        settings: what to do.
        stop: set when it is to end.
        tutti_command: the command that starts `tutti`, without a sub-command.

    Raises:
        ConfigurationError: it cannot start as asked.
        KubeError: the API server refused, or cannot be reached.
    """
    credentials = load_credentials(settings.kubeconfig)
    async with Client(credentials, user_agent=USER_AGENT) as client:
        return await operate(client, settings, stop, tutti_command=tutti_command, connect=_connect)


async def operate(
    client: Client,
    settings: RunSettings,
    stop: asyncio.Event,
    *,
    tutti_command: Sequence[str],
    connect: Callable[[Path], Client],
    poller: Poller | None = None,
) -> int:
    """The same with an open client.

    Args:
        client: of the user who runs this.
        settings: what to do.
        stop: set when it is to end.
        tutti_command: the command that starts `tutti`, without a sub-command.
        connect: opens a client for a kubeconfig file of a service account.
        poller: how to wait; the default uses the real clock.
    """
    say, poller = sayer(settings), poller or Poller()
    server = client.credentials.server
    address = choose_address(settings, server)
    version = await preflight(client)
    say(f"Kubernetes {version.get('gitVersion', '(unknown version)')} at {server}")
    require_supported(version)
    prepared = await prepare(client, pinned=settings.group_api, poller=poller, say=say)
    with tempfile.TemporaryDirectory(prefix="tutti-run-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        tokens = TokenManager(client, SYSTEM_NAMESPACE, folder, say, poller.sleep)
        factory = ProcessFactory(
            tutti_command, folder, settings, address, prepared.group_api, say, poller.clock, poller.sleep
        )
        return await _Run(client, connect, prepared, tokens, factory, address, poller, say).until(stop)


def _connect(kubeconfig: Path) -> Client:
    return Client(load_credentials(str(kubeconfig)), user_agent=USER_AGENT)


@dataclass(slots=True)
class _Run:
    """The second half: processes up, configurations in, wait, configurations out, processes down."""

    client: Client
    connect: Callable[[Path], Client]
    prepared: Prepared
    tokens: TokenManager
    factory: ProcessFactory
    address: WebhookAddress
    poller: Poller
    say: Say
    processes: dict[str, ManagedProcess] = field(default_factory=dict)
    registering: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_ending: bool = False
    is_clean: bool = True

    async def until(self, stop: asyncio.Event) -> int:
        """Bring everything up, and down again once `stop` is set or a process cannot start at all."""
        renewals = {name: await self._prepare_account(account) for name, account in ACCOUNTS.items()}
        try:
            async with asyncio.TaskGroup() as group:
                for name, account in ACCOUNTS.items():
                    self.processes[name] = self.factory.process(name, self.tokens.kubeconfig_path(account))
                background = [group.create_task(each.child.keep_running()) for each in self.processes.values()]
                background += [
                    group.create_task(self.tokens.renew_periodically(ACCOUNTS[n], s)) for n, s in renewals.items()
                ]
                background.append(group.create_task(self._register_when_ready()))
                await stop.wait()
                await self._down()
                for task in background:
                    task.cancel()
        except BaseException as error:
            # A process that refuses its start breaks off what the first signal began. After the second one nobody waits.
            if isinstance(error, Exception) or not self.is_ending:
                await self._down()
            raise
        return EXIT_OK if self.is_clean else EXIT_UNEXPECTED

    async def _prepare_account(self, account: str) -> float:
        """Give the account a token and wait until the API server grants it what `config/rbac` says."""
        renewal = await self.tokens.issue(account)
        rights = granted_to(account, self.prepared.rbac)
        async with self.connect(self.tokens.kubeconfig_path(account)) as client:

            async def holds_all() -> bool:
                try:
                    return not await missing(client, rights)
                except Unreachable:
                    # It was reached a moment ago; so many questions at once take it a while.
                    return False

            if not await self.poller.until(holds_all, within_seconds=RIGHTS_SECONDS):
                lacking = ", ".join(map(str, await missing(client, rights)))
                self.say(f"warning: the API server does not grant {account} what its role says: {lacking}")
        return renewal

    async def _register_when_ready(self) -> None:
        """Register the webhooks when their server answers, and say so when everything is ready."""
        await self._ready(self.processes[WEBHOOKS])
        await self._register()
        if self.is_ending:
            return
        self.say(f"gangs are admitted at {self.address.url}")
        for process in self.processes.values():
            await self._ready(process)
        self._print_instructions()

    async def _ready(self, process: ManagedProcess) -> None:
        await wait_until_ready(process, say=self.say, clock=self.poller.clock, sleep=self.poller.sleep)

    async def _register(self) -> None:
        is_told = False
        while True:
            try:
                await self._register_once()
            except KubeError as error:
                if not is_told:
                    self.say(f"the webhooks cannot be registered, trying on: {error}")
                is_told = True
                await self.poller.sleep(REGISTER_RETRY_SECONDS)
            else:
                return

    async def _register_once(self) -> None:
        bundle = (self.tokens.folder / CERTIFICATES / "ca.crt").read_bytes()
        async with self.registering:
            # A request that is cut off may still be carried out, so the end waits for it rather than cancelling it.
            if not self.is_ending:
                await register(
                    self.client, self.prepared.webhooks, base_url=self.address.url, ca_bundle=bundle, poller=self.poller
                )

    def _print_instructions(self) -> None:
        groups = self.prepared.group_api.pod_groups
        probes = ", ".join(f"{name} http://{LOOPBACK}:{each.health_port}" for name, each in self.processes.items())
        lines = [
            f"health and metrics: {probes}",
            f"Tutti is running. Try it: kubectl apply -f {CONFIG_FOLDER / 'samples' / 'gang-job.yaml'}",
            f"                     then: kubectl get {groups.plural}.{groups.group} -o wide",
            "Ctrl-C ends it; `tutti uninstall` takes everything off the cluster again.",
        ]
        if is_loopback(self.address.url):
            lines.append(
                "If Jobs do not become gangs: the API server must reach the URL above. Where it runs in a container or on "
                "another machine, give --listen and --webhook-url with an address of this machine that it can reach."
            )
        for line in lines:
            self.say(line)

    async def _down(self) -> None:
        """Configurations first, then processes; doing it twice does no harm."""
        self.is_ending = True
        try:
            async with asyncio.timeout(UNREGISTER_SECONDS), self.registering:
                await unregister(self.client, self.prepared.webhooks)
        except (KubeError, TimeoutError) as error:
            self.is_clean = False
            self.say(
                f"the webhook configurations could not be removed, run `tutti uninstall`: {str(error) or 'no answer'}"
            )
        await stop_all(list(self.processes.values()))
        self.say("Tutti has ended; its webhook configurations are gone" if self.is_clean else "Tutti has ended")
