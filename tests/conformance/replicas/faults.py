"""What happens to a leader, and what is judged afterwards: who took over, when, and whether the old one wrote anything more."""

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.conformance.replicas.deployments import Deployments
from tests.conformance.replicas.replica import Replica
from verify.auditor.audit_log import AuditLog, Record
from verify.auditor.identities import READS
from verify.clusters.eventually import eventually, throughout
from verify.faults.tcp_proxy import TcpProxy

TAKEOVER_SECONDS = 20.0
SETTLE_SECONDS = 60.0
WATCHED_SECONDS = 4.0
"""So long the old leader is watched once it could write again."""
LEASE_LOST = 3


@dataclass
class Pair:
    """Two replicas of one component, each behind a proxy of its own."""

    deployments: Deployments
    component: str
    proxies: dict[str, TcpProxy]

    def leader(self) -> Replica:
        """The one that holds the lease."""
        found = self.deployments.leader(self.component)
        assert found is not None, f"nobody holds the lease of the {self.component}"
        return found


def started(deployments: Deployments, component: str, *proxies: TcpProxy) -> Pair:
    """Two replicas, one of which leads."""
    behind = {deployments.start(component, through=proxy.port).name: proxy for proxy in proxies}
    pair = Pair(deployments, component, behind)
    eventually(pair.leader, within_seconds=SETTLE_SECONDS)
    for each in deployments.replicas:
        each.wait_until_ready()
    return pair


# --- what happens to it, and how it is undone -----------------------------------------------------------------------------


def killed(leader: Replica, proxy: TcpProxy) -> Callable[[], None]:
    """It dies, and is started again by nobody."""
    leader.send(signal.SIGKILL)
    return lambda: None


def paused(leader: Replica, proxy: TcpProxy) -> Callable[[], None]:
    """It stops in the middle of what it does, and goes on when somebody else leads."""
    leader.send(signal.SIGSTOP)
    return lambda: leader.send(signal.SIGCONT)


def cut_off(leader: Replica, proxy: TcpProxy) -> Callable[[], None]:
    """It runs, and whatever it sends or is sent is lost."""
    proxy.cut()
    return proxy.mend


Fault = Callable[[Replica, TcpProxy], Callable[[], None]]
FAULTS: tuple[Fault, ...] = (killed, paused, cut_off)


class Takeover:
    """One fault of a leader and what came after it."""

    def __init__(self, pair: Pair, log: AuditLog) -> None:
        self._pair = pair
        self._log = log
        self._position = log.position()
        self.old = pair.leader()
        self._began = 0.0
        self._undo: Callable[[], None] = lambda: None

    def begin(self, fault: Fault) -> None:
        """Lets it happen now."""
        self._began = time.time()
        self._undo = fault(self.old, self._pair.proxies[self.old.name])

    def await_successor(self) -> Replica:
        """The other one, once it leads."""

        def other() -> Replica:
            found = self._pair.leader()
            assert found is not self.old, f"{found.name} leads as before"
            return found

        return eventually(other, within_seconds=SETTLE_SECONDS)

    def undo(self) -> None:
        """The old one may go on; it is to end by itself, without a word to the API server."""
        self._undo()
        eventually(lambda: not self.old.server.running, within_seconds=SETTLE_SECONDS)
        throughout(lambda: True, seconds=WATCHED_SECONDS)

    def judge(self, what: str) -> None:
        """Prints the figures; nobody wrote whose lease was lost, and the next one wrote soon."""
        records = self._log.since(self._position)
        new = self._pair.leader()
        taken = next(each for each in records if each.agent == f"tutti-lease/{new.name}" and each.succeeded)
        writes = [each for each in records if each.agent.endswith(f"/{new.name}") and is_work(each)]
        first = min((each.completed for each in writes), default=float("inf"))
        held, wrote = taken.completed - self._began, first - self._began
        lasts = [each.received - self._began for each in records if is_write_of(self.old, each)]
        last = f"{max(lasts):+.1f} s" if lasts else "before"
        sys.stdout.write(
            f"\n{what}: lease taken over after {held:.1f} s, first write of the next one after {wrote:.1f} s, "
            f"last of the old one {last}\n"
        )
        late = [each for each in records if is_write_of(self.old, each) and each.received > taken.completed]
        assert not late, f"written after the lease was lost: {[str(each) for each in late]}"
        assert wrote <= TAKEOVER_SECONDS, f"nothing was done for {wrote:.1f} s"


def is_write_of(replica: Replica, record: Record) -> bool:
    """Whether this replica changed something by this request."""
    return record.agent.endswith(f"/{replica.name}") and record.verb not in READS and record.succeeded


def is_work(record: Record) -> bool:
    """Whether a request is what its author is there for, and not the upkeep of its lease."""
    return record.verb not in READS and record.succeeded and record.resource not in {"leases", "events"}


def require_lease_lost(replica: Replica) -> None:
    """It has ended, and said why by its exit code."""
    code = replica.server.wait(within_seconds=SETTLE_SECONDS)
    assert code == LEASE_LOST, f"{replica.name} ended with {code}: {replica.server.last_log_lines()}"
