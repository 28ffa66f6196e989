"""Pods that we decided to bind and that are not known to be bound: until when, and whether they still may be."""

from collections.abc import Callable, Mapping
from typing import Final

from scheduler.cache.records import Assumption, PodRecord

RECHECK_SECONDS: Final = 30.0
"""An assumption that ran out and was not resolved is reported again after this time."""


class AssumedPods:
    """The assumptions.

    Attributes:
        by_uid: all of them by UID of the pod; `ClusterState` makes and ends them.

    Args:
        pods: all known pods by UID.
        node_uid: the UID of a known node.
    """

    def __init__(self, pods: Mapping[str, PodRecord], node_uid: Callable[[str], str | None]) -> None:
        self._pods: Final = pods
        self._node_uid: Final = node_uid
        self.by_uid: Final[dict[str, Assumption]] = {}

    def expire(self, now_seconds: float) -> list[str]:
        """Pods whose assumption ran out; their room stays taken, for a lost answer is unknown.

        The caller reads each pod and then has it upserted, removed or forgotten. One that is left alone is reported again after
        `RECHECK_SECONDS`.
        """
        late = [uid for uid, assumption in self.by_uid.items() if assumption.deadline_seconds <= now_seconds]
        for uid in late:
            assumption = self.by_uid[uid]
            self.by_uid[uid] = Assumption(assumption.node_name, assumption.node_uid, now_seconds + RECHECK_SECONDS)
        return late

    def bind_obstacle(self, pod_uid: str) -> str | None:
        """Why an assumed pod must not be bound any more, None when it may; to be asked right before the request."""
        record, assumption = self._pods.get(pod_uid), self.by_uid.get(pod_uid)
        if record is None:
            return "the pod is gone"
        if record.is_bound:
            return f"the pod is bound to {record.node_name} already"
        if assumption is None:
            return "the pod is not assumed on any node"
        if record.terminating:
            return "the pod is being deleted"
        uid = self._node_uid(assumption.node_name)
        if uid is None:
            return f"node {assumption.node_name} is gone"
        return (
            None
            if uid == assumption.node_uid
            else f"node {assumption.node_name} was replaced by another of the same name"
        )
