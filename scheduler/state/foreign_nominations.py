"""Room that is spoken for by pods of other schedulers: those that are nominated to a node count there (kube-scheduler).

Against items of lower or equal priority, like the room that a preemption of ours has freed. Only amounts count; their host
ports and rules about other pods do not before they are bound.
"""

import math
from typing import Final

from scheduler.state.claims import Claims
from scheduler.state.records import ItemKey, PodRecord


class ForeignNominations:
    """Keeps a claim for every waiting pod of another scheduler that is nominated to a node."""

    def __init__(self, claims: Claims, scheduler_names: frozenset[str]) -> None:
        self._claims: Final = claims
        self._scheduler_names: Final = scheduler_names

    def moved(self, old: PodRecord | None, new: PodRecord | None) -> str:
        """A pod came, changed or went; the node on which nothing is held for it any more, empty when there is none."""
        before, after = self._node_of(old), self._node_of(new)
        if before == after and (not after or (old and new and old.demand is new.demand)):
            return ""
        pod = new or old
        if pod is None:
            return ""
        key = ItemKey("pod", pod.namespace, pod.name, pod.uid)
        if after:
            self._claims.put(key, pod.profile.priority, {pod.uid: (after, pod.demand)}, frozenset(), math.inf)
        else:
            self._claims.drop(key)
        return before

    def _node_of(self, pod: PodRecord | None) -> str:
        if pod is None or not pod.nominated_node or pod.is_bound or pod.is_terminal or pod.terminating:
            return ""
        return "" if pod.profile.scheduler_name in self._scheduler_names else pod.nominated_node
