"""Which updates of a pod can change a decision about it (upstream: PodSchedulingPropertiesChange).

Anybody who owns a pod may change its labels as often as he likes, and most labels mean nothing to the scheduler: an item is not
tried again for these.
"""

from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import PodRecord
from scheduler.cache.topology_index import TopologyIndex


def decides_nothing(old: PodRecord, new: PodRecord, members: PodGroupState | None, rules: TopologyIndex) -> bool:
    """Whether an update leaves everything that scheduling looks at as it was.

    Of a pod that has no place only those labels count that a rule of its own group, or of running pods, looks at. Once it has
    one they may all count: for disruption budgets, and for rules to come.

    Args:
        old: what was known of the pod.
        new: what is known of it now.
        members: the item it belongs to.
        rules: what running pods, and those that have been asked about, look at.
    """
    if new.decides_like(old):
        return True
    if members is None or members.tree is not None or not new.decides_like_but_for_labels(old):
        return False
    keys = {key for key, _ in old.labels.items() ^ new.labels.items()}
    return (
        members.is_pending_like(old, new)
        and not rules.looks_at(keys)
        and all(keys.isdisjoint(signature.rules.pod_label_keys) for signature in members.pending)
    )
