"""The ranks of members: which of its group's pods a pod is, as its labels say it.

Pods of an Indexed Job have the label `batch.kubernetes.io/job-completion-index`, those of a LeaderWorkerSet's replica
`leaderworkerset.sigs.k8s.io/worker-index`. Labels are in a pod's record anyway, so a rank costs no room of its own.
"""

from typing import Final, NamedTuple

import msgspec

from api.constants import JOB_COMPLETION_INDEX, LWS_WORKER_INDEX
from scheduler.cache.future_uids import is_future_pod, number_of
from scheduler.cache.records import PodRecord

_MOST_DIGITS: Final = 9
NO_RANK: Final = -1


class Rank(NamedTuple):
    """Which member a pod is; ranks sort as members are neighbours.

    Attributes:
        series: whose numbers these are: of a Job's pods its name, so that the pods of several Jobs in one group are not mixed up;
            empty for others.
        number: counts from 0; `NO_RANK` for a pod that has none.
    """

    series: str
    number: int


UNRANKED: Final = Rank("", NO_RANK)


RANK_LABELS: Final = (LWS_WORKER_INDEX, JOB_COMPLETION_INDEX)
"""Labels that say a rank, the one that counts first."""


def rank_of(pod: PodRecord) -> Rank:
    """The rank of a pod, `UNRANKED` when nothing says it. Pods to come have the numbers by which they are announced."""
    worker = _number(pod.labels.get(LWS_WORKER_INDEX))
    if worker != NO_RANK:
        return Rank("", worker)
    completion = _number(pod.labels.get(JOB_COMPLETION_INDEX))
    if completion != NO_RANK:
        return Rank(pod.owner.name, completion)
    if is_future_pod(pod.uid):
        return Rank("", number_of(pod.uid))
    return UNRANKED


def with_rank(pod: PodRecord, number: int) -> PodRecord:
    """The pod as it would be with another rank; one without a rank as it is."""
    key = next((key for key in RANK_LABELS if _number(pod.labels.get(key)) != NO_RANK), None)
    return pod if key is None else msgspec.structs.replace(pod, labels={**pod.labels, key: str(number)})


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else NO_RANK
