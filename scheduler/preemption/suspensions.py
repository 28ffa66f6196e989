"""Groups of Jobs and JobSets that are asked to leave: controllers suspend Jobs, so the request must not outlive its reason.

It stands while somebody wants the room. It is taken back when all its pods have left, for then the Job queues again; when nobody
wants the room any more and no pod has left yet; and when its Job has made new pods meanwhile. A group of which some pods have
left goes whole: half a gang is of no use. A degraded gang that is to start anew is asked in the same way, for nobody's sake. What
is asked is read from the groups themselves, so this holds after a restart, too.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from api.compositepodgroup import COMPOSITE_KIND
from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_PREEMPTED_BY,
    REASON_GANG_RESTART,
    REASON_PREEMPTION_BY_SCHEDULER,
)
from api.podgroup import POD_GROUP_KIND, PodGroup
from api.preemption import Preemptor, is_asked_to_leave, is_asked_to_restart
from scheduler.apicalls.conditions import condition
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.nominator import Nomination
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey, EntityKind, GroupRecord, PodRecord
from scheduler.preemption.victims import Victim

_KINDS: Final[dict[EntityKind, str]] = {"group": POD_GROUP_KIND, "pod": "Pod", "composite": COMPOSITE_KIND}
_HAVE_LEFT = "all its pods have left; it queues again"
_NOT_WANTED = "nobody needs its room any more"
_IS_BACK = "its pods have left and new ones came"


class Suspensions:
    """The requests to suspend, as conditions of PodGroups.

    Before `begin` nothing is taken back, for the pods may not be known yet.
    """

    def __init__(self, state: ClusterState, groups: GroupConditions) -> None:
        self._state = state
        self._groups = groups
        self._asked: dict[EntityKey, frozenset[str]] = {}
        """Group -> UIDs of its pods that were to leave when it was asked."""
        self._restarting: set[EntityKey] = set()
        """Those of them that leave for nobody."""
        self._has_begun = False

    def begin(self) -> None:
        """All pods are known, and what a predecessor nominated is nominated again."""
        self._has_begun = True
        for key in list(self._asked):
            self._asked[key] = frozenset(pod.uid for pod in self._running(self._state.item(key)))
        self.review(list(self._asked))

    def ask(self, victim: Victim, preemptor: EntityKey, message: str) -> None:
        """Ask for the suspension of a victim's Job.

        Args:
            victim: one that leaves by suspension.
            preemptor: the item it leaves for.
            message: of the condition `DisruptionTarget`.
        """
        group = victim.unit.group
        if group is None:
            return
        self._asked[group.item] = frozenset(pod.uid for pod in victim.pods)
        kind = _KINDS[preemptor.kind]
        reference = Preemptor(kind, preemptor.namespace, preemptor.name, preemptor.uid).reference
        self._say(group, is_true=True, message=message, kind=kind, reference=reference)

    def ask_to_restart(self, group: GroupRecord, pods: Sequence[PodRecord], message: str) -> None:
        """Ask for the suspension of a Job whose gang is to start anew.

        Args:
            group: the gang.
            pods: those of its pods that run.
            message: of the condition `DisruptionTarget`.
        """
        self._asked[group.item] = frozenset(pod.uid for pod in pods)
        self._restarting.add(group.item)
        self._groups.want(
            group, condition(CONDITION_DISRUPTION_TARGET, is_true=True, reason=REASON_GANG_RESTART, message=message)
        )

    def seen(self, group: PodGroup) -> None:
        """A PodGroup came or changed: one of ours that is asked to leave is watched from now on."""
        metadata = group.metadata
        key = EntityKey("group", metadata.namespace, metadata.name, metadata.uid)
        if not is_asked_to_leave(group.status.conditions) or key in self._asked:
            return
        record = self._state.group(key)
        if record is not None and record.takes_only_owner and not record.is_foreign:
            self._asked[key] = frozenset(pod.uid for pod in self._running(self._state.item(key)))
            if is_asked_to_restart(group.status.conditions):
                self._restarting.add(key)
            self.review((key,))

    def untouched(self, nomination: Nomination) -> int:
        """How many of the victims that were asked to leave for this nomination have not begun to."""
        asked = frozenset().union(*self._asked.values()) & nomination.victims
        pods = (self._state.pod(uid) for uid in asked)
        return sum(pod is not None and pod.is_bound and not (pod.terminating or pod.is_terminal) for pod in pods)

    def review(self, keys: Iterable[EntityKey] | None = None) -> None:
        """Something happened to these groups, or to nominations (None: any group may be concerned)."""
        if not self._has_begun:
            return
        for key in list(self._asked) if keys is None else self._asked.keys() & set(keys):
            members = self._state.item(key)
            if members is None or members.group is None:
                self._end(key)
                continue
            message = self._why_not(members, self._asked[key])
            if message is not None:
                self._end(key)
                self._say(members.group, is_true=False, message=message)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _end(self, key: EntityKey) -> None:
        del self._asked[key]
        self._restarting.discard(key)

    def _why_not(self, members: PodGroupState, victims: frozenset[str]) -> str | None:
        """Why the request does not stand any more, None while it does."""
        running = self._running(members)
        if not running:
            return _HAVE_LEFT
        if any(pod.terminating for pod in running):
            return None
        if victims.isdisjoint(pod.uid for pod in running):
            # The Jobs of a JobSet are resumed at once, and their new pods may have found room elsewhere.
            return _IS_BACK
        is_wanted = any(nomination.victims & victims for nomination in self._state.nominator)
        if is_wanted or members.key in self._restarting:
            return None
        if victims <= {pod.uid for pod in running}:
            return _NOT_WANTED
        is_renewed = any(pod.uid not in victims for pod in members.pods() if not pod.is_terminal)
        return _IS_BACK if is_renewed else None

    def _running(self, members: PodGroupState | None) -> list[PodRecord]:
        pods = members.pods() if members is not None else ()
        return [pod for pod in pods if pod.is_bound and not pod.is_terminal]

    def _say(self, group: GroupRecord, *, is_true: bool, message: str, kind: str = "", reference: str = "") -> None:
        asked = condition(
            CONDITION_DISRUPTION_TARGET, is_true=is_true, reason=REASON_PREEMPTION_BY_SCHEDULER, message=message
        )
        whom = condition(
            CONDITION_PREEMPTED_BY, is_true=is_true, reason=kind or REASON_PREEMPTION_BY_SCHEDULER, message=reference
        )
        self._groups.want(group, whom)
        self._groups.want(group, asked)
