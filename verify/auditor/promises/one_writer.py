"""I7: one bind per pod UID, and no write by a process that does not hold its lease.

Sees: binds and refused attempts to bind again; of each write of scheduler and controllers, by the identity in its user agent,
whether the last write of their Lease that was answered before the request arrived gave the lease to that identity. Does not
see: who held a lease before its first write in the log; where only metadata of Leases is recorded, that one was given back.
What needs no lease (the lease itself, questions about rights, the record of the group API at a start) is left out.
"""

from bisect import bisect_right
from collections.abc import Iterator

from api.constants import CONTROLLERS_NAME, SCHEDULER_NAME
from verify.auditor.audit_log import Record
from verify.auditor.changes import Answered, Change, PodBound
from verify.auditor.history import History
from verify.auditor.identities import CONTROLLERS_USER, PROBES, READS, SCHEDULER_USER
from verify.auditor.promises.promise import Promise

LEASES = {CONTROLLERS_USER: CONTROLLERS_NAME, SCHEDULER_USER: SCHEDULER_NAME}
WITHOUT_LEASE = {"leases", "configmaps", *PROBES}


class OneWriter(Promise):
    """Who writes holds the lease, and binds a pod once."""

    number = "I7"

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Judges binds, and who sent a write."""
        match change:
            case PodBound(pod, record, before) if before:
                yield f"pod {pod.key} was bound twice, to {before} and to {pod.node}: {record}"
            case Answered(record):
                yield from _bound_again(record, history)
                yield from _without_lease(record, history)


def _bound_again(record: Record, history: History) -> Iterator[str]:
    if record.resource != "pods/binding" or record.code != 409 or record.user != SCHEDULER_USER:
        return
    pod = history.pods.get((record.namespace, record.name))
    if pod is not None and pod.node and pod.bound_by == SCHEDULER_USER:
        yield f"our scheduler tried to bind a pod again that it had bound to {pod.node}: {record}"


def _without_lease(record: Record, history: History) -> Iterator[str]:
    lease = LEASES.get(record.user)
    client, _, identity = record.agent.partition("/")
    if lease is None or client != lease or record.verb in READS or record.resource in WITHOUT_LEASE:
        return
    writes = history.leases.get(lease, [])
    # A request counts for whoever held the lease when it arrived; writes of a Lease are in the order of their answers.
    last = bisect_right(writes, record.received, key=lambda write: write.completed) - 1
    if last >= 0 and writes[last].holder != identity:
        holder = writes[last].holder or "nobody"
        yield f"{identity} wrote while {holder} held the lease {lease}: {record}"
