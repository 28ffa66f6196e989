"""I2: no node is over-committed by us: at each of our binds the requests of all pods on the node are within its allocatable.

Sees: binds, requests of pods (containers, sidecars, start-up, pod level, overhead), allocatable of nodes, ends of pods. What
another scheduler bound less than `foreign_race_seconds` ago is not held against ours. Of an extended resource that a node does not
offer, what a pod has by a claim is not counted. Does not see: ports, volumes, resizes.
"""

from collections.abc import Iterator

from verify.auditor.amounts import Amounts, pod_amounts, total
from verify.auditor.audit_log import Record
from verify.auditor.changes import Change, PodBound
from verify.auditor.history import History
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.model import Pod
from verify.auditor.promises.promise import Promise


class RoomOnNodes(Promise):
    """What we bind fits."""

    number = "I2"

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Counts a node on which we have just bound a pod."""
        match change:
            case PodBound(pod, record) if record.resource == "pods/binding" and record.user == SCHEDULER_USER:
                yield from self._check(pod.node, record, history)

    def _check(self, node: str, record: Record, history: History) -> Iterator[str]:
        if node not in history.nodes:
            return
        surely_seen = [
            pod
            for pod in history.on_node(node)
            if not pod.ended
            and (pod.bound_by == SCHEDULER_USER or record.received - pod.bound_at > self.windows.foreign_race_seconds)
        ]
        offered = history.nodes[node]
        taken = total(_counted(pod, offered) for pod in surely_seen)
        for resource, much in taken.items():
            room = offered.get(resource, 0)
            if much > room:
                yield f"node {node} is over-committed: {much} of {room} {resource} after {record}"


def _counted(pod: Pod, offered: Amounts) -> Amounts:
    """What a pod takes of a node; what it has by a claim it takes of devices."""
    asked = pod_amounts(pod.spec)
    return {name: much for name, much in asked.items() if name not in pod.claimed or offered.get(name)}
