"""The group objects of gang schedulers that bring their own kind: followed from the moment a Job needs that kind.

A cluster has few of these schedulers, mostly none. So a kind is watched only once a Job asks for it, and whether its CRD is
there at all is asked first, for all Jobs together and not too often. A store that is handed out has been listed, and is followed:
one whose watch fails (its CRD was taken away, and may be back) is given up for a new one as soon as somebody asks for it.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from api.errors import TuttiError
from api.meta import NO_METADATA, Metadata, controller_of
from controllers.mutation_cache import MutationCache
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.store import Indexer
from kube.client.client import Client
from kube.client.errors import NotFound, Unreachable
from kube.client.resources import Resource
from kube.outside import monotonic_seconds
from providers.base import GroupKind

BY_OWNER: Final = "owner"
"""Index of group objects: the UID of their controller."""

MISSING_SECONDS: Final = 5.0
"""How long a kind that was not there is not asked for again."""

LISTED_SECONDS: Final = 30.0


class ProviderGroupSpec(msgspec.Struct, frozen=True, rename="camel"):
    """What all of these kinds have in common."""

    min_member: int | None = None


class ProviderGroup(msgspec.Struct, frozen=True):
    """A group object of a gang scheduler."""

    metadata: Metadata = NO_METADATA
    spec: ProviderGroupSpec = ProviderGroupSpec()


class KindMissing(TuttiError):
    """The cluster does not know this kind of group: its CRD is not installed."""

    def __init__(self, kind: GroupKind) -> None:
        super().__init__(f"the cluster has no {kind.crd}")
        self.kind = kind


@dataclass(frozen=True, slots=True)
class _Follower:
    informer: Informer[ProviderGroup]
    cache: MutationCache[ProviderGroup]


class ProviderGroups:
    """The group objects of every kind that was asked for. `on_change` hears of each that came, went or changed its spec."""

    def __init__(
        self,
        client: Client,
        *,
        on_change: Callable[[Metadata], None] = lambda _: None,
        clock: Callable[[], float] = monotonic_seconds,
    ) -> None:
        self._client = client
        self._on_change = on_change
        self._clock = clock
        self._followers: dict[GroupKind, _Follower] = {}
        self._missing_until: dict[GroupKind, float] = {}
        self._to_follow: asyncio.Queue[Informer[ProviderGroup]] = asyncio.Queue()
        self._following: dict[Informer[ProviderGroup], asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Follow the kinds that are asked for, until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                informer = await self._to_follow.get()
                self._following[informer] = group.create_task(informer.run())

    async def owned(self, kind: GroupKind, owner_uid: str) -> tuple[ProviderGroup, ...]:
        """The objects of that kind that this owner controls and that will stay.

        Raises:
            KindMissing: the cluster does not know the kind.
            KubeError: it could not be listed.
        """
        cache = (await self._follower(kind)).cache
        found = cache.by_index(BY_OWNER, owner_uid)
        return tuple(each for each in found if not each.metadata.is_terminating)

    def note(self, kind: GroupKind, written: ProviderGroup) -> None:
        """Remember what the server answered to a write of ours."""
        follower = self._followers.get(kind)
        if follower is not None:
            follower.cache.note(written)

    def is_missing(self, kind: GroupKind) -> KindMissing:
        """The server answered that it does not know the kind; the error to raise."""
        self._missing_until[kind] = self._clock() + MISSING_SECONDS
        return KindMissing(kind)

    async def _follower(self, kind: GroupKind) -> _Follower:
        if self._missing_until.get(kind, 0.0) > self._clock():
            raise KindMissing(kind)
        known = self._followers.get(kind)
        if known is None or known.informer.is_in_trouble:
            try:
                await self._client.request_json("GET", resource_of(kind).path(), params={"limit": "1"})
            except NotFound as error:
                raise self.is_missing(kind) from error
            if known is not None and self._followers.get(kind) is known:
                self._give_up(kind, known)
        follower = self._followers.get(kind) or self._follow(kind)
        try:
            await asyncio.wait_for(follower.informer.synced.wait(), LISTED_SECONDS)
        except TimeoutError as error:
            raise Unreachable(f"{kind.crd} could not be listed yet") from error
        return follower

    def _follow(self, kind: GroupKind) -> _Follower:
        informer = Informer(self._client, resource_of(kind), ListDecoder(ProviderGroup), indexers=INDEXERS)
        follower = _Follower(informer, MutationCache(informer.store, INDEXERS))
        informer.add_handler(follower.cache.caught_up)
        informer.add_handler(self._changed)
        self._followers[kind] = follower
        self._to_follow.put_nowait(informer)
        return follower

    def _give_up(self, kind: GroupKind, follower: _Follower) -> None:
        """The next list cannot tell who has gone since: whoever was known is looked at again."""
        del self._followers[kind]
        self._following.pop(follower.informer).cancel()
        for each in follower.informer.store:
            self._on_change(each.metadata)

    def _changed(self, change: Change[ProviderGroup]) -> None:
        old, new = change.old, change.new
        if old is not None and new is not None and _is_same_for_plans(old, new):
            return
        seen = new if new is not None else old
        if seen is not None:
            self._on_change(seen.metadata)


def resource_of(kind: GroupKind) -> Resource:
    """Where the API server keeps objects of that kind."""
    return Resource(kind.group, kind.version, kind.plural, kind.kind, namespaced=True)


def _index(group: ProviderGroup) -> Iterable[Hashable]:
    owner = controller_of(group.metadata)
    return () if owner is None else (owner.uid,)


INDEXERS: Final[dict[str, Indexer[ProviderGroup]]] = {BY_OWNER: _index}


def _is_same_for_plans(old: ProviderGroup, new: ProviderGroup) -> bool:
    return old.spec == new.spec and old.metadata.is_terminating == new.metadata.is_terminating
