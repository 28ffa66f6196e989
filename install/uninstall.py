"""`tutti uninstall`: the cluster as if Tutti had never been there.

The order keeps every step safe on its own, so that an interrupted run is finished by the next: admission ends first, then our
processes in the cluster, still able to give their Leases back, then those that run elsewhere lose their rights, for they cannot
be stopped from here; then users' objects are given back, and only then does what they referred to go. Gates are opened twice: a
Job may have been admitted while the API server had not yet noticed that the webhooks are gone.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from api.constants import (
    CERTIFICATE_SECRET,
    CONTROLLERS_NAME,
    GROUP_API_CONFIG_MAP,
    SCHEDULER_NAME,
    SYSTEM_NAMESPACE,
)
from install.kinds import BINDINGS
from install.manifests import Manifest, load
from install.namespace_content import content_of
from install.poller import Poller
from install.release import delete_groups, disown_pods, open_gates, others_groups, resume_in_queue, resume_jobs
from install.removal import remove, remove_all, remove_object, wait_until_gone
from install.rights import needed_to_uninstall, require
from install.stranded import scheduler_names, stranded
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import Forbidden, NotFound
from kube.client.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, LEASES, NAMESPACES, PODS, SECRETS, Resource
from kube.process.run import EXIT_OK, EXIT_UNEXPECTED, preflight

USER_AGENT: Final = "tutti-uninstall"
CRD_SECONDS: Final = 60.0
PODS_SECONDS: Final = 60.0
NAMESPACE_SECONDS: Final = 30.0
OUR_PODS: Final = "app.kubernetes.io/name=tutti"
_SHOWN: Final = 10

Say = Callable[[str], None]


async def main(kubeconfig: str | None, stop: asyncio.Event, *, say: Say, poller: Poller | None = None) -> int:
    """Take Tutti off the cluster; 0 when nothing of it is left, 1 when something would not go (it is named).

    Args:
        kubeconfig: of a user who may do that; None: the usual places.
        stop: set when the work is to be broken off.
        say: gets the lines for people.
        poller: how to wait; the default uses the real clock.

    Raises:
        ConfigurationError: the cluster cannot be reached or a right is missing.
        KubeError: the API server refused.
    """
    async with Client(load_credentials(kubeconfig), user_agent=USER_AGENT) as client:
        await preflight(client)
        work = asyncio.create_task(Uninstallation(client, say, poller or Poller()).run())
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not work.done():
            work.cancel()
            say("broken off; run `tutti uninstall` again to finish")
            return EXIT_UNEXPECTED
        return EXIT_OK if await work else EXIT_UNEXPECTED


def holder_of(lease: dict[str, Any], now: datetime) -> str | None:
    """Who holds the Lease, None when it was given back or has run out by that time of day."""
    spec = lease.get("spec") or {}
    try:
        renewed = datetime.fromisoformat(spec["renewTime"])
        lasts = timedelta(seconds=spec["leaseDurationSeconds"])
    except (KeyError, TypeError, ValueError):
        return None
    return str(spec.get("holderIdentity") or "") or None if renewed + lasts > now else None


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Uninstallation:
    """One run. `remaining` collects what would not go; `now` is the time of day."""

    client: Client
    say: Say
    poller: Poller
    now: Callable[[], datetime] = _utc_now
    remaining: list[str] = field(default_factory=list)
    _removed_pods: frozenset[str] = frozenset()

    async def run(self) -> bool:
        """Do all of it; whether nothing is left."""
        crds, rbac, manager = load("crd"), load("rbac"), load("manager")
        # What suspends Jobs without asking anybody goes first, should somebody have put it there.
        admission = load("components/hold-gangs") + load("webhook") + load("policy")
        # Roles of a component, should somebody have chosen it; what it has in our namespace is found there.
        rbac += load("components/metrics-authentication/rights") + load("components/why/rights")
        await require(
            self.client,
            needed_to_uninstall(crds + rbac + admission + manager, SYSTEM_NAMESPACE),
            purpose="tutti uninstall",
        )
        names = await scheduler_names(self.client)
        self._count(await remove_all(self.client, admission), "admission configurations and policies removed")
        await self._stop_deployments(manager)
        bindings = tuple(each for each in rbac if each.resource in BINDINGS)
        self._count(await remove_all(self.client, bindings), "grants of rights to our processes withdrawn")
        await self._give_back()
        await self._remove_crds(crds)
        await self._report_running()
        await self._remove_records()
        rest = tuple(each for each in rbac if each not in bindings and each.resource != NAMESPACES)
        self._count(await remove_all(self.client, rest), "accounts and roles removed")
        self._count(await open_gates(self.client), "more gates opened")
        self._count(await resume_jobs(self.client), "more Jobs resumed")
        await self._remove_namespace()
        await self._report_stranded(names)
        for each in self.remaining:
            self.say(f"still there: {each}")
        self.say("Tutti is uninstalled" if not self.remaining else "Tutti is not wholly gone; run this again later")
        return not self.remaining

    def _count(self, number: int, what: str) -> None:
        if number:
            self.say(f"{number} {what}")

    async def _stop_deployments(self, manager: tuple[Manifest, ...]) -> None:
        self._removed_pods = frozenset(await self._our_pods())
        count = await remove_all(self.client, manager)
        self._count(count, "objects of the in-cluster deployment removed")
        if not count:
            return

        async def none_left() -> bool:
            return not await self._our_pods()

        if not await self.poller.until(none_left, within_seconds=PODS_SECONDS):
            self.remaining += [f"pod {SYSTEM_NAMESPACE}/{name}" for name in await self._our_pods()]

    async def _our_pods(self) -> list[str]:
        found = await self.client.list(PODS, SYSTEM_NAMESPACE, label_selector=OUR_PODS)
        return [str(pod["metadata"]["name"]) for pod in found.get("items") or []]

    async def _give_back(self) -> None:
        self._count(await open_gates(self.client), "Jobs let go that waited at our gate")
        self._count(await resume_jobs(self.client), "Jobs resumed that we had suspended when they gave up waiting")
        self._count(await resume_in_queue(self.client), "Jobs go on in Kueue that we had stopped there")
        self._count(await disown_pods(self.client), "pods freed from the reference to their PodGroup")
        self._count(await delete_groups(self.client), "Workloads and PodGroups that we made deleted")

    async def _remove_crds(self, crds: tuple[Manifest, ...]) -> None:
        self._count(await others_groups(self.client), "Workloads and PodGroups made by others go with our kinds")
        removed = await remove_all(self.client, crds)
        for each in crds:
            gone = await wait_until_gone(
                self.client, CUSTOM_RESOURCE_DEFINITIONS, each.name, None, self.poller, within_seconds=CRD_SECONDS
            )
            if not gone:
                self.remaining.append(f"CRD {each.name}: look for finalizers on its objects")
        self._count(removed, "CRDs removed")

    async def _report_running(self) -> None:
        for name in (CONTROLLERS_NAME, SCHEDULER_NAME):
            try:
                lease = await self.client.get(LEASES, name, SYSTEM_NAMESPACE)
            except NotFound:
                continue
            holder = holder_of(lease, self.now())
            # A pod that was killed could not give its Lease back; it is named above if it is still there.
            if holder and holder.partition("_")[0] not in self._removed_pods:
                self.say(f"{name} seems to run still, as {holder}; it has no rights any more: stop its `tutti run`")

    async def _remove_records(self) -> None:
        names = [
            (LEASES, CONTROLLERS_NAME),
            (LEASES, SCHEDULER_NAME),
            (CONFIG_MAPS, GROUP_API_CONFIG_MAP),
            (SECRETS, CERTIFICATE_SECRET),
        ]
        removed = [await remove(self.client, resource, name, SYSTEM_NAMESPACE) for resource, name in names]
        self._count(sum(removed), "Leases and records removed")

    async def _remove_namespace(self) -> None:
        content = await content_of(self.client, SYSTEM_NAMESPACE)
        removed = [await self._remove_labelled(resource, found) for resource, found in content.ours]
        self._count(sum(removed), f"further objects of ours removed from {SYSTEM_NAMESPACE}")
        if content.foreign:
            shown = ", ".join(sorted(content.foreign)[:_SHOWN])
            self.remaining.append(f"namespace {SYSTEM_NAMESPACE}, which holds things that are not ours: {shown}")
            return
        if not await remove(self.client, NAMESPACES, SYSTEM_NAMESPACE):
            return
        gone = await wait_until_gone(
            self.client, NAMESPACES, SYSTEM_NAMESPACE, None, self.poller, within_seconds=NAMESPACE_SECONDS
        )
        if gone:
            self.say(f"the namespace {SYSTEM_NAMESPACE}, now empty, is removed")
        else:
            self.remaining.append(f"namespace {SYSTEM_NAMESPACE}, which is being deleted")

    async def _remove_labelled(self, resource: Resource, found: dict[str, Any]) -> bool:
        try:
            return await remove_object(self.client, resource, found)
        except Forbidden:
            self.remaining.append(f"{resource.kind} {SYSTEM_NAMESPACE}/{found['metadata']['name']}: may not be deleted")
            return False

    async def _report_stranded(self, names: Collection[str]) -> None:
        found = await stranded(self.client, names)
        if not found:
            return
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        self.say(
            f"these still name a scheduler that is gone ({', '.join(sorted(names))}), and nobody will place their pods; in a "
            f"Job that cannot be changed: delete them and create them anew: {', '.join(found[:_SHOWN])}{more}"
        )
