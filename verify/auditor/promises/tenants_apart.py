"""I10: a tenant affects another only through capacity and priority.

Sees in one history: whom we bind as a member of a group that we made for a Job although another owner controls it (a forged name
would make somebody else's quorum). Two histories of the same namespace, with and without another tenant, are compared by
`verify.auditor.decisions`. Does not see: times, and groups of LeaderWorkerSet replicas, whose chain of owners the log does not
have.
"""

from collections.abc import Iterator

from api.constants import JOBSET_UID, LWS_NAME
from verify.auditor.changes import Change, PodBound
from verify.auditor.history import History
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.promises.promise import Promise


class TenantsApart(Promise):
    """Members of a group belong to its owner."""

    number = "I10"

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Compares the owner of a pod that we bind with that of its group."""
        match change:
            case PodBound(pod, record) if record.user == SCHEDULER_USER and pod.group:
                group = history.groups.get(pod.group)
                is_of_replica = LWS_NAME in pod.labels
                if group is None or not group.is_made_by_us or not group.owner or is_of_replica:
                    return
                if group.owner not in (pod.owner, pod.labels.get(JOBSET_UID)):
                    shown = "/".join(pod.key)
                    yield f"pod {shown} of owner {pod.owner or 'nobody'} was bound as a member of {group.key}: {record}"
