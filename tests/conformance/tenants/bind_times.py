"""How long a tenant's gangs take to be bound, by the API server's own times: from the request for the Job to the last bind."""

import secrets
import statistics
import sys
from dataclasses import dataclass, field

from tests.conformance.tenants.tenant import Tenant
from verify.auditor.audit_log import AuditLog, Record
from verify.clusters.eventually import eventually
from verify.clusters.jobs import indexed_job

SIZE = 2
BOUND_SECONDS = 60
LOGGED_SECONDS = 10
MOST_TIMES = 2.0
LENIENT_SECONDS, STRICT_SECONDS = 10.0, 0.25
"""A median may be so much longer whatever its size. A start takes tenths of a second, and the attacker is a client on the same
machine: without `--slow`, where it may be a busy one, only what holds others up for long is an error; the medians are printed."""


@dataclass
class BindTimes:
    """Gangs of one tenant, one after the other, each with room.

    Attributes:
        tenant: whose.
        log: of the API server.
        noise_seconds: LENIENT_SECONDS or STRICT_SECONDS.
    """

    tenant: Tenant
    log: AuditLog
    noise_seconds: float
    _quiet: list[float] = field(default_factory=list)
    _beside: list[float] = field(default_factory=list)

    def quiet(self, count: int) -> None:
        """So many starts without anybody else; may be asked for again later, all of them count."""
        self._quiet += [self.one() for _ in range(count)]

    def beside(self, count: int) -> None:
        """So many starts beside an attack, until they are compared."""
        self._beside += [self.one() for _ in range(count)]

    def compare(self, what: str) -> None:
        """Prints both medians; AssertionError when the one beside the attack is too long. The next attack begins anew."""
        assert self._quiet, "there is nothing to compare with"
        quiet, now = statistics.median(self._quiet), statistics.median(self._beside)
        self._beside.clear()
        sys.stdout.write(f"{what}: median {now:.3f} s, quiet {quiet:.3f} s, {now / quiet:.2f} times\n")
        longest = max(MOST_TIMES * quiet, quiet + self.noise_seconds)
        assert now <= longest, f"{what}: {now:.3f} s to bind, {quiet:.3f} s without; at most {longest:.3f} s"

    def one(self) -> float:
        """The seconds that one gang took."""
        name, jobs = f"timed-{secrets.token_hex(4)}", self.tenant.jobs
        begin = self.log.position()
        jobs.create(indexed_job(name, SIZE, cpu="100m"))
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
