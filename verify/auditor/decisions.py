"""What was decided for one namespace, in a form in which two histories can be compared (I10).

A tenant may take room from another, and go before it by priority. So a run with an idle or a hostile neighbour who has nodes of
his own must decide for everybody else as a run without him: the same gangs start, in the same order, after the same refusals.
"""

from collections.abc import Iterable

from api.constants import CONDITION_SCHEDULED
from verify.auditor.audit_log import Record
from verify.auditor.changes import GroupTold, PodBound, PodLeaves
from verify.auditor.history import History, effect_time
from verify.auditor.identities import SCHEDULER_USER


def decisions(records: Iterable[Record], namespace: str) -> list[str]:
    """The decisions about pods and groups of a namespace, in order, without names that are made up at random.

    Binds of one gang count once, when its minimum is reached: their order among each other is no decision.
    """
    history, found, started = History(), [], set()
    for record in sorted(records, key=effect_time):
        for change in history.take(record):
            match change:
                case PodBound(pod, by) if pod.key[0] == namespace and by.user == SCHEDULER_USER:
                    group = history.groups.get(pod.group) if pod.group else None
                    item = _shown(group.owner or group.uid if group is not None else pod.uid, history)
                    if (group is None or group.satisfied) and item not in started:
                        started.add(item)
                        found.append(f"{item} starts")
                case PodLeaves(pod, by) if pod.key[0] == namespace and by.user == SCHEDULER_USER:
                    found.append(f"a pod of {_shown(pod.owner or pod.uid, history)} leaves")
                case GroupTold(group, by, written) if group.key[0] == namespace and CONDITION_SCHEDULED in written:
                    said = group.conditions[CONDITION_SCHEDULED]
                    found.append(f"{_shown(group.owner or group.uid, history)} is told {said.status} {said.reason}")
    return found


def _shown(uid: str, history: History) -> str:
    """The name of a Job or of an item of its own, which its user chose."""
    return history.name_of(uid) or uid
