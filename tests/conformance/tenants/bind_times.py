"""How long a tenant's gangs take to be bound, by the API server's own times: from the request for the Job to the last bind.

Where an attack keeps the API server itself busy, gangs are compared with a control: Jobs of as many pods, of the same tenant at the
same time, with which Tutti has nothing to do. What these take longer is what server and processors make of the attack.
"""

import secrets
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.conformance.tenants.tenant import Tenant
from verify.auditor.audit_log import AuditLog, Record
from verify.clusters.client import Object
from verify.clusters.eventually import eventually
from verify.clusters.jobs import indexed_job, plain_job

SIZE = 2
BOUND_SECONDS = 60
LOGGED_SECONDS = 10
MOST_TIMES = 2.0
MOST_TIMES_OF_CONTROL = 1.5
LENIENT_SECONDS, STRICT_SECONDS = 10.0, 0.25
"""A median may be so much longer whatever its size. A start takes tenths of a second, and the attacker is a client on the same
machine: without `--slow`, where it may be a busy one, only what holds others up for long is an error; the medians are printed."""


def indexed_gang(name: str, size: int) -> Object:
    """A Job that Tutti takes for a gang."""
    return indexed_job(name, size, cpu="100m")


def ordinary_job(name: str, size: int) -> Object:
    """A Job that is no business of Tutti's: its pods are bound by kube-scheduler."""
    return plain_job(name, size, cpu="100m")


@dataclass
class BindTimes:
    """Jobs of one tenant, one after the other, each with room; gangs unless another `job` is given.

    Attributes:
        tenant: whose.
        log: of the API server.
        noise_seconds: LENIENT_SECONDS or STRICT_SECONDS.
        job: makes a Job of that name and so many pods.
    """

    tenant: Tenant
    log: AuditLog
    noise_seconds: float
    job: Callable[[str, int], Object] = indexed_gang
    _quiet: list[float] = field(default_factory=list)
    _beside: list[float] = field(default_factory=list)

    def quiet(self, count: int) -> None:
        """So many starts without anybody else; may be asked for again later, all of them count."""
        self._quiet += [self.one() for _ in range(count)]

    def beside(self, count: int) -> None:
        """So many starts beside an attack, until they are compared."""
        self._beside += [self.one() for _ in range(count)]

    def compare(self, what: str, control: "BindTimes | None" = None) -> None:
        """Prints medians; AssertionError when the one beside the attack is too long. The next attack begins anew.

        Args:
            what: is going on.
            control: Jobs that are none of Tutti's, timed in turn with these: a median may grow by half more than theirs does.
        """
        quiet, now = self.medians(what)
        longest = max(MOST_TIMES * quiet, quiet + self.noise_seconds)
        if control is not None:
            quiet_control, now_control = control.medians(f"{what}, Jobs of kube-scheduler")
            longest = max(longest, MOST_TIMES_OF_CONTROL * quiet * now_control / quiet_control)
        assert now <= longest, f"{what}: {now:.3f} s to bind, {quiet:.3f} s without; at most {longest:.3f} s"

    def medians(self, what: str) -> tuple[float, float]:
        """That of quiet times, and that beside this attack, which is over now; printed as well."""
        assert self._quiet, "there is nothing to compare with"
        quiet, now = statistics.median(self._quiet), statistics.median(self._beside)
        count = len(self._beside)
        self._beside.clear()
        sys.stdout.write(f"{what}: median {now:.3f} s of {count}, quiet {quiet:.3f} s, {now / quiet:.2f} times\n")
        return quiet, now

    def one(self) -> float:
        """The seconds that one gang took."""
        name, jobs = f"timed-{secrets.token_hex(4)}", self.tenant.jobs
        begin = self.log.position()
        jobs.create(self.job(name, SIZE))
        eventually(lambda: jobs.whole(name), within_seconds=BOUND_SECONDS)
        took = eventually(lambda: self._logged(begin, name), within_seconds=LOGGED_SECONDS)
        self.tenant.api.delete("jobs", name, self.tenant.namespace)
        eventually(lambda: not self._pods_left(name), within_seconds=BOUND_SECONDS)
        return took

    def _pods_left(self, name: str) -> bool:
        pods = self.tenant.api.list("pods", self.tenant.namespace)
        return any(pod["metadata"]["name"].startswith(name) for pod in pods)

    def _logged(self, begin: int, name: str) -> float:
        mine = [record for record in self.log.since(begin) if self._is_about(record, name)]
        created = [record.received for record in mine if record.resource == "jobs"]
        bound = [record.completed for record in mine if record.resource == "pods/binding"]
        assert len(created) == 1, f"{len(created)} Jobs of the name {name} are in the log"
        assert len(bound) == SIZE, f"{len(bound)} binds of {name} are in the log"
        return max(bound) - created[0]

    def _is_about(self, record: Record, name: str) -> bool:
        is_mine = record.namespace == self.tenant.namespace and record.name.startswith(name)
        return is_mine and record.succeeded and record.verb == "create"
