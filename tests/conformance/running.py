"""Who ran at which moment, by the word of the audit log: what a test that asks now and then would overlook."""

from collections.abc import Iterable

from verify.auditor.audit_log import Record
from verify.auditor.changes import PodBound, PodEnded
from verify.auditor.history import History, effect_time


def run_at_each_moment(records: Iterable[Record], namespace: str, label: str) -> list[frozenset[str]]:
    """The values of a label whose pods had a node and had not ended, after each bind and each end of a pod."""
    history = History()
    moments: list[frozenset[str]] = []
    for record in sorted(records, key=effect_time):
        for change in history.take(record):
            if isinstance(change, PodBound | PodEnded):
                there = [pod for pod in history.by_uid.values() if pod.key[0] == namespace and pod.node]
                moments.append(frozenset(str(pod.labels.get(label)) for pod in there if not pod.ended))
    return moments
