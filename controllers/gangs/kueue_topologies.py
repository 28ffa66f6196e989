"""The levels of the cluster's topology as Kueue's Topologies list them, read when a group is made for who asks Kueue's way.

They are few, without a namespace, and change hardly ever; a group is made once. So they are listed then, and nothing is followed.
"""

import contextlib
from typing import Final

import msgspec

from api.job import Job
from api.kueue_topology import Levels
from api.lws import LeaderWorkerSet
from api.meta import NO_METADATA, Metadata
from api.owner_topology import names_one_kueue_level
from kube.cache.decoding import ListDecoder
from kube.client.client import Client
from kube.client.errors import Forbidden, NotFound
from kube.client.resources import KUEUE_TOPOLOGIES


class _Level(msgspec.Struct, frozen=True, rename="camel"):
    node_label: str = ""


class _Spec(msgspec.Struct, frozen=True):
    levels: tuple[_Level, ...] = ()


class KueueTopology(msgspec.Struct, frozen=True):
    """A Topology of Kueue's."""

    metadata: Metadata = NO_METADATA
    spec: _Spec = _Spec()


_TOPOLOGIES: Final = ListDecoder(KueueTopology)


async def kueue_levels(client: Client, owner: Job | LeaderWorkerSet) -> tuple[Levels, ...]:
    """The levels of each Topology of Kueue's, widest first; none where there are none, or where the owner has no use for them.

    Raises:
        KubeError: they could not be listed; not for a server that does not know the kind, or a role of an earlier version.
    """
    if not names_one_kueue_level(owner):
        return ()
    for resource in KUEUE_TOPOLOGIES:
        with contextlib.suppress(NotFound, Forbidden):
            found: list[Levels] = []
            async for page in client.list_pages(resource):
                found += map(_levels, _TOPOLOGIES.page(page).items)
            return tuple(found)
    return ()


def _levels(topology: KueueTopology) -> Levels:
    return tuple(level.node_label for level in topology.spec.levels if level.node_label)
