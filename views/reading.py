"""Filling `Objects` from a cluster: by one list of each kind, or by informers that keep it up to date.

PodGroups and pods one must be allowed to see; CompositePodGroups, Workloads, Jobs, LeaderWorkerSets and JobSets only make the
picture more exact, and a cluster without some of these kinds is an ordinary one.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any, Final, TypeVar

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.errors import ConfigurationError
from api.job import Job
from api.jobset import JobSet
from api.lws import LeaderWorkerSet
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup, Workload
from kube.cache.decoding import Converted, Decoder, ListDecoder
from kube.cache.informer import Informer
from kube.cache.store import KubeObject, Store
from kube.client.client import Client
from kube.client.errors import Forbidden, NotFound, OutcomeUnknown
from kube.client.resources import EVENTS, JOB_SETS, JOBS, LEADER_WORKER_SETS, NODES, PODS, Resource
from kube.groups.composites import find_composites
from kube.groups.group_api import GroupAPI
from views.model.eviction import SELECTOR, EvictionEvent
from views.model.objects import (
    BY_GROUP,
    BY_NODE,
    BY_OWNER,
    BY_PARENT,
    Objects,
    groups_of_member,
    nodes_of_member,
    owner_of_group,
    parent_of_composite,
    parent_of_group,
)
from views.model.records import (
    Machine,
    Member,
    Owner,
    machine_of,
    member_of,
    owner_of_job,
    owner_of_job_set,
    owner_of_set,
)

T = TypeVar("T", bound=KubeObject)

MEMBERS: Final[Decoder[Member]] = Converted(ListDecoder(Pod), member_of)
MACHINES: Final[Decoder[Machine]] = Converted(ListDecoder(Node), machine_of)
JOB_OWNERS: Final[Decoder[Owner]] = Converted(ListDecoder(Job), owner_of_job)
SET_OWNERS: Final[Decoder[Owner]] = Converted(ListDecoder(LeaderWorkerSet), owner_of_set)
JOB_SET_OWNERS: Final[Decoder[Owner]] = Converted(ListDecoder(JobSet), owner_of_job_set)
GROUPS: Final[Decoder[PodGroup]] = ListDecoder(PodGroup)
COMPOSITES: Final[Decoder[CompositePodGroup]] = ListDecoder(CompositePodGroup)
WORKLOADS: Final[Decoder[Workload]] = ListDecoder(Workload)
EVICTIONS: Final[Decoder[EvictionEvent]] = ListDecoder(EvictionEvent)

INDEXERS: Final[dict[str, Any]] = {
    "pod": {BY_GROUP: groups_of_member, BY_NODE: nodes_of_member},
    "group": {BY_OWNER: owner_of_group, BY_PARENT: parent_of_group},
    "composite": {BY_PARENT: parent_of_composite},
}

_NO_COMPOSITES: Final = "this server has no CompositePodGroups"
_NOT_ALLOWED: Final = "you may not list CompositePodGroups"


async def read_objects(client: Client, apis: Sequence[GroupAPI], namespace: str | None) -> Objects:
    """What is there now, in a namespace or (None) in all.

    Raises:
        ConfigurationError: a right is missing without which there is nothing to show.
        KubeError: the cluster does not answer.
    """
    objects = Objects()
    needed = [_fill(client, api.pod_groups, namespace, GROUPS, objects.groups) for api in apis]
    needed.append(_fill(client, PODS, namespace, MEMBERS, objects.members))
    wished = [_fill(client, api.workloads, namespace, WORKLOADS, objects.workloads) for api in apis]
    wished.append(_fill(client, JOBS, namespace, JOB_OWNERS, objects.jobs))
    wished.append(_fill(client, LEADER_WORKER_SETS, namespace, SET_OWNERS, objects.sets))
    wished.append(_fill(client, JOB_SETS, namespace, JOB_SET_OWNERS, objects.jobsets))
    needed.append(_fill_composites(client, apis, namespace, objects))
    try:
        async with asyncio.TaskGroup() as tasks:
            for work in needed:
                tasks.create_task(work)
            for work in wished:
                tasks.create_task(_if_allowed(work))
    except BaseExceptionGroup as group:
        raise _said(group.exceptions[0], namespace) from group
    return objects


async def groups_elsewhere(client: Client, apis: Sequence[GroupAPI]) -> Objects | None:
    """The PodGroups and CompositePodGroups of all namespaces; None when the former may not be seen."""
    found = Objects()
    try:
        for group in await groups_in(client, apis, None):
            found.groups.put(group)
    except Forbidden:
        return None
    await _fill_composites(client, apis, None, found)
    return found


async def groups_in(client: Client, apis: Sequence[GroupAPI], namespace: str | None) -> list[PodGroup]:
    """The PodGroups of a namespace, or (None) of all.

    Raises:
        KubeError: they cannot be had.
    """
    store: Store[PodGroup] = Store()
    for api in apis:
        await _fill(client, api.pod_groups, namespace, GROUPS, store)
    return store.all()


async def _fill(
    client: Client, resource: Resource, namespace: str | None, decoder: Decoder[T], store: Store[T]
) -> None:
    async for document in client.list_pages(resource, namespace, resource_version="0"):
        try:
            page = decoder.page(document)
        except msgspec.MsgspecError as error:
            raise OutcomeUnknown(f"list of {resource.plural}: {error}") from error
        for item in page.items:
            store.put(item)


async def _fill_composites(client: Client, apis: Sequence[GroupAPI], namespace: str | None, objects: Objects) -> None:
    """Those beside these APIs; why there are none to see, where that is so."""
    try:
        found = {one: None for api in apis if (one := await find_composites(client, api)) is not None}
        for resource in found:
            await _fill(client, resource, namespace, COMPOSITES, objects.composites)
    except Forbidden:
        objects.unknown_composites = _NOT_ALLOWED
    except NotFound:
        objects.unknown_composites = _NO_COMPOSITES
    else:
        objects.unknown_composites = "" if found else _NO_COMPOSITES


async def _if_allowed(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except (Forbidden, NotFound):
        return


def _said(error: BaseException, namespace: str | None) -> BaseException:
    if isinstance(error, Forbidden):
        where = f"the namespace {namespace}" if namespace else "all namespaces; name one with -n"
        return ConfigurationError(f"you may not see the gangs of {where} ({error})")
    return error


class Following:
    """`Objects` that are kept up to date while `run` runs; `following` makes one.

    Attributes:
        objects: what is known.
        sees_nodes: whether nodes are among it.
    """

    def __init__(
        self,
        client: Client,
        api: GroupAPI,
        namespace: str | None,
        optional: Collection[Resource],
        composites: Resource | None = None,
    ) -> None:
        """`optional` are the kinds besides groups and pods that are to be followed; `composites` is that of CompositePodGroups."""
        self.objects = Objects()
        self.sees_nodes = NODES in optional
        self._informers: list[Informer[Any]] = []
        self._listeners: list[Callable[[str, Any, Any], None]] = []
        self.objects.groups = self._follow("group", client, api.pod_groups, namespace, GROUPS)
        self.objects.members = self._follow("pod", client, PODS, namespace, MEMBERS)
        if composites is None:
            self.objects.unknown_composites = _NO_COMPOSITES
        elif composites in optional:
            self.objects.composites = self._follow("composite", client, composites, namespace, COMPOSITES)
        else:
            self.objects.unknown_composites = _NOT_ALLOWED
        if JOBS in optional:
            self.objects.jobs = self._follow("job", client, JOBS, namespace, JOB_OWNERS)
        if self.sees_nodes:
            self.objects.nodes = self._follow("node", client, NODES, None, MACHINES)
        if EVENTS in optional:
            self._follow("eviction", client, EVENTS, namespace, EVICTIONS, SELECTOR)

    def add_handler(self, callback: Callable[[str, Any, Any], None]) -> None:
        """Call this with the kind of record, the old and the new one for every change; must be quick and not raise."""
        self._listeners.append(callback)

    async def run(self) -> None:
        """Follows the cluster until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for informer in self._informers:
                tasks.create_task(informer.run())

    async def ready(self) -> None:
        """Returns once everything that is there is known."""
        for informer in self._informers:
            await informer.synced.wait()

    @property
    def is_in_trouble(self) -> bool:
        """Whether what is known may be old, because the cluster does not answer."""
        return any(informer.is_in_trouble for informer in self._informers)

    def _follow(
        self,
        kind: str,
        client: Client,
        resource: Resource,
        namespace: str | None,
        decoder: Decoder[Any],
        selector: str | None = None,
    ) -> Store[Any]:
        indexers = INDEXERS.get(kind)
        informer: Informer[Any] = Informer(
            client, resource, decoder, namespace=namespace, field_selector=selector, indexers=indexers
        )
        informer.add_handler(lambda change: self._tell(kind, change.old, change.new))
        self._informers.append(informer)
        return informer.store

    def _tell(self, kind: str, old: Any, new: Any) -> None:
        for listener in self._listeners:
            listener(kind, old, new)


async def following(client: Client, api: GroupAPI, namespace: str | None, *, for_page: bool = False) -> Following:
    """Everything that may be seen, ready to be followed.

    Args:
        client: talks to the cluster.
        api: where its groups are.
        namespace: where to look, None for everywhere.
        for_page: also follow nodes and evictions.

    Raises:
        ConfigurationError: a right is missing without which there is nothing to show.
        KubeError: the cluster does not answer.
    """
    for resource in (api.pod_groups, PODS):
        try:
            await client.request_json("GET", resource.path(namespace), params={"limit": "1"})
        except Forbidden as error:
            raise _said(error, namespace) from error
    optional = {JOBS: namespace} | ({NODES: None, EVENTS: namespace} if for_page else {})
    composites = await find_composites(client, api)
    if composites is not None:
        optional[composites] = namespace
    allowed = [resource for resource, where in optional.items() if await _may_list(client, resource, where)]
    return Following(client, api, namespace, allowed, composites)


async def _may_list(client: Client, resource: Resource, namespace: str | None) -> bool:
    try:
        await client.request_json("GET", resource.path(namespace), params={"limit": "1"})
    except (Forbidden, NotFound):
        return False
    return True
