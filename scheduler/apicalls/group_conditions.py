"""Writes conditions of PodGroups: the latest of each type, one patch per change.

The patch is a merge patch that carries all conditions of the group together with its UID and resourceVersion, so it means
the same for the built-in API (where conditions are a list keyed by type) and for our CRD (where they are a plain list to a
merge patch), never reaches a same-named successor, and never undoes what somebody else wrote meanwhile: a conflict makes
us read the group and decide again. What is decided upon is the newer of what the informer shows and what we were answered
last, so a cache that lags behind cannot make us go back.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

import msgspec

from api.constants import CONDITION_SCHEDULED
from api.meta import Condition, Metadata, condition_of
from api.podgroup import PodGroup
from kube.client.client import Client
from kube.client.errors import Conflict, Forbidden, KubeError, NotFound
from kube.client.resources import Resource
from kube.outside import utc_now
from scheduler.apicalls.conditions import (
    TRUE,
    Identified,
    WallClock,
    as_json,
    has_retired,
    time_stamp,
    with_conditions,
)
from scheduler.apicalls.dispatcher import APIDispatcher, Retries

_log = logging.getLogger(__name__)

_ATTEMPTS: Final = 4
_WRITTEN: Final = "written"
_UNCHANGED: Final = "unchanged"
_SAID: Final = frozenset({_WRITTEN, _UNCHANGED})
Done = Callable[[], None]


class GroupConditions:
    """Brings the wanted conditions of PodGroups to the API server."""

    def __init__(
        self,
        client: Client,
        dispatcher: APIDispatcher,
        pod_groups: Resource,
        *,
        shown: Callable[[str, str], PodGroup | None],
        retries: Retries,
        wall_clock: WallClock = utc_now,
    ) -> None:
        """`shown` gives the informer's copy of a group by namespace and name."""
        self._client = client
        self._dispatcher = dispatcher
        self._pod_groups = pod_groups
        self._shown = shown
        self._retries = retries
        self._wall_clock = wall_clock
        self._wanted: dict[str, dict[str, Condition]] = {}
        self._under_way: dict[str, dict[str, Condition]] = {}
        self._followers: dict[str, Done] = {}
        self._answered: dict[str, PodGroup] = {}

    def current(self, group: Identified) -> tuple[Condition, ...]:
        """The conditions of the group as far as we know: shown by the informer, or answered to our last write."""
        latest = self._latest(group)
        return (latest.status.conditions or ()) if latest else ()

    def to_be(self, group: Identified) -> tuple[Condition, ...]:
        """The conditions of the group once all is written that is queued or under way."""
        return self._after(group, self._under_way.get(group.uid, {}) | self._wanted.get(group.uid, {}))

    def is_scheduled(self, group: Identified) -> bool:
        """Whether the group has had its start."""
        found = condition_of(self.current(group), CONDITION_SCHEDULED)
        return found is not None and found.status == TRUE

    def want(self, group: Identified, wanted: Condition, *, then: Done | None = None) -> bool:
        """Queue a write of a condition, unless the group says it already and nothing else is being written.

        Args:
            group: the PodGroup.
            wanted: its other conditions stay as they are.
            then: called once the condition is written, unless a later call for this group comes first.

        Returns:
            Whether a write is queued.
        """
        wanted_now = self._wanted.get(group.uid, {}) | {wanted.type: wanted}
        # Whether what is under way is carried out is not known yet.
        possible = self.current(group), self._after(group, self._under_way.get(group.uid, {}))
        if all(with_conditions(conditions, wanted_now.values(), now="") is None for conditions in possible):
            self.forget(group.uid)
            return False
        self._wanted[group.uid] = wanted_now
        if then is not None:
            self._followers[group.uid] = then
        self._queue(group)
        return True

    def tidy(self, group: Identified) -> None:
        """Queue a write where a scheduler of an earlier version has left a condition that nobody keeps true any more."""
        if has_retired(self.current(group)):
            self._wanted.setdefault(group.uid, {})
            self._queue(group)

    def forget(self, uid: str) -> None:
        """The group is gone, or nothing is to be said: drop what is queued for it."""
        self._wanted.pop(uid, None)
        self._followers.pop(uid, None)
        self._dispatcher.drop(("group", uid))

    def seen(self, group: PodGroup) -> None:
        """The informer shows this version: our own answer need not be remembered once it is as new."""
        answer = self._answered.get(group.metadata.uid)
        if answer is not None and not _is_newer(answer, group):
            del self._answered[group.metadata.uid]

    def gone(self, uid: str) -> None:
        """The informer saw the group leave."""
        self.forget(uid)
        self._retries.forget(("group", uid))
        self._answered.pop(uid, None)

    def _after(self, group: Identified, written: dict[str, Condition]) -> tuple[Condition, ...]:
        current = self.current(group)
        changed = with_conditions(current, written.values(), now="")
        return current if changed is None else changed

    def _queue(self, group: Identified) -> None:
        self._dispatcher.add_status(("group", group.uid), lambda: self._write(group))

    async def _write(self, group: Identified) -> str:
        wanted_now = self._wanted.pop(group.uid, {})
        follower = self._followers.pop(group.uid, None)
        self._under_way[group.uid] = wanted_now
        try:
            outcome = await self._patch_until_written(group, wanted_now)
        except NotFound:
            outcome = "gone"
        except Forbidden as error:
            _log.error("cannot say why groups wait: %s", error)
            outcome = "forbidden"
        except KubeError as error:
            if self._is_gone(group):
                return "gone"
            # Newer ones win over those that failed.
            self._wanted[group.uid] = wanted_now | self._wanted.get(group.uid, {})
            if follower is not None:
                self._followers.setdefault(group.uid, follower)
            self._retries.add(("group", group.uid), lambda: self._queue(group), error)
            return "retry"
        finally:
            del self._under_way[group.uid]
        self._retries.forget(("group", group.uid))
        if follower is not None and outcome in _SAID and not self._is_gone(group):
            follower()
        return outcome

    async def _patch_until_written(self, group: Identified, wanted_now: dict[str, Condition]) -> str:
        base = self._latest(group)
        for _ in range(_ATTEMPTS):
            if base is None:
                base = await self._read(group)
            now = time_stamp(self._wall_clock())
            conditions = with_conditions(base.status.conditions or (), wanted_now.values(), now=now)
            if conditions is None:
                return _UNCHANGED
            try:
                await self._patch(base.metadata, conditions)
            except Conflict:
                base = None
            except KubeError as error:
                if not error.outcome_unknown:
                    raise
                base = None
            else:
                return _WRITTEN
        raise Conflict(409, "Conflict", f"PodGroup {group.namespace}/{group.name} changes faster than we can write")

    async def _patch(self, base: Metadata, conditions: tuple[Condition, ...]) -> None:
        body = {
            "metadata": {"uid": base.uid, "resourceVersion": base.resource_version},
            "status": {"conditions": as_json(conditions)},
        }
        answer = await self._client.patch(self._pod_groups, body, base.name, base.namespace, subresource="status")
        self._remember(msgspec.convert(answer, PodGroup))

    async def _read(self, group: Identified) -> PodGroup:
        found: dict[str, Any] = await self._client.get(self._pod_groups, group.name, group.namespace)
        live = msgspec.convert(found, PodGroup)
        if live.metadata.uid != group.uid:
            raise NotFound(404, "NotFound", f"PodGroup {group.namespace}/{group.name} is another one now")
        self._remember(live)
        return live

    def _remember(self, answer: PodGroup) -> None:
        # Of a group that went before the answer came nobody would ever say so again.
        if not self._is_gone(answer.metadata):
            self._answered[answer.metadata.uid] = answer

    def _is_gone(self, group: Identified) -> bool:
        """Whether the informer shows no such group: whoever writes about one was shown it before."""
        shown = self._shown(group.namespace, group.name)
        return shown is None or shown.metadata.uid != group.uid

    def _latest(self, group: Identified) -> PodGroup | None:
        answer = self._answered.get(group.uid)
        shown = self._shown(group.namespace, group.name)
        if shown is None or shown.metadata.uid != group.uid:
            return answer
        return answer if answer is not None and _is_newer(answer, shown) else shown


def _is_newer(one: PodGroup, other: PodGroup) -> bool:
    # Versions are compared as numbers only to choose what to start from; a wrong choice costs a conflict, nothing else.
    ours, theirs = one.metadata.resource_version, other.metadata.resource_version
    if ours.isdigit() and theirs.isdigit():
        return int(ours) > int(theirs)
    return ours != theirs
