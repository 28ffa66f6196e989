"""What a gang costs the API server, counted in its audit log.

TUTTI_REST_SECONDS says how long the cluster is watched at rest; the published promise is measured with 300.
"""

import os
import time
from collections import Counter

import pytest

from verify.auditor.audit_log import AuditLog, Record
from verify.auditor.identities import ACCOUNT_PREFIX, PROBES
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, condition, indexed_job
from verify.clusters.tutti_process import Tutti

REST_SECONDS = float(os.environ.get("TUTTI_REST_SECONDS", "30"))
SETTLE_SECONDS = 60
BURST = 100
REPEATED_SHARE = 0.02
READS = {"get", "list", "watch"}


def ours(records: list[Record]) -> list[Record]:
    """What our three processes wrote or tried to, without their leases."""
    return [
        record
        for record in records
        if record.user.startswith(ACCOUNT_PREFIX)
        and record.verb not in READS
        and record.resource not in {"leases", *PROBES}
    ]


@pytest.mark.parametrize("workers", [2, 20])
def test_a_gang_takes_one_workload_one_pod_group_and_one_job_patch(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, audit_log: AuditLog, workers: int
) -> None:
    nodes.add(1, cpu="32")
    begin = audit_log.position()
    jobs.create(indexed_job("counted", workers))
    eventually(lambda: jobs.whole("counted"), within_seconds=SETTLE_SECONDS)
    condition = "PodGroupInitiallyScheduled"
    eventually(
        lambda: (
            condition in str(jobs.group("counted").get("status")) and "True" in str(jobs.group("counted")["status"])
        ),
        within_seconds=SETTLE_SECONDS,
    )
    mine = [record for record in ours(audit_log.since(begin)) if record.namespace == jobs.namespace]
    made = Counter((record.verb, record.resource) for record in mine if record.resource != "events")
    assert made.pop(("patch", "podgroups/status")) <= 2
    assert made == {
        ("create", "workloads"): 1,
        ("create", "podgroups"): 1,
        ("patch", "jobs"): 1,
        ("create", "pods/binding"): workers,
    }


def test_in_a_burst_of_jobs_hardly_any_patch_has_to_be_repeated(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, audit_log: AuditLog
) -> None:
    nodes.add(4, cpu="64")
    begin = audit_log.position()
    names = [f"burst-{number}" for number in range(BURST)]
    for name in names:
        jobs.create(indexed_job(name, 2, cpu="100m"))
    eventually(lambda: running(jobs) == set(names), within_seconds=SETTLE_SECONDS, poll_seconds=0.5)
    patches = [record for record in ours(audit_log.since(begin)) if record.resource == "jobs"]
    refused = [record for record in patches if not record.succeeded]
    assert len(patches) - len(refused) == BURST
    assert len(refused) <= BURST * REPEATED_SHARE, Counter(record.code for record in refused)


def running(jobs: Jobs) -> set[str]:
    """The names of the Jobs that have been resumed."""
    return {j["metadata"]["name"] for j in jobs.api.list("jobs", jobs.namespace) if not j["spec"].get("suspend")}


def test_at_rest_nothing_is_written(jobs: Jobs, nodes: HollowNodes, tutti: Tutti, audit_log: AuditLog) -> None:
    """Running, waiting, suspended and finished gangs: once all is said, nobody writes but the leases."""
    nodes.add(1, cpu="4")
    jobs.create(indexed_job("runs", 3))
    eventually(lambda: jobs.whole("runs"), within_seconds=SETTLE_SECONDS)
    jobs.create(indexed_job("waits", 3))
    jobs.create(indexed_job("suspended", 3, suspend=True))
    jobs.create(indexed_job("ends", 2, cpu="100m", run_seconds=0.2))
    eventually(lambda: jobs.waits("waits") and jobs.succeeded("ends"), within_seconds=SETTLE_SECONDS)
    eventually(
        lambda: condition(jobs.group("suspended"), "PodGroupInitiallyScheduled") == "False",
        within_seconds=SETTLE_SECONDS,
    )
    eventually(lambda: quiet(audit_log), within_seconds=SETTLE_SECONDS)
    begin = audit_log.position()
    time.sleep(REST_SECONDS)
    written = ours(audit_log.since(begin))
    assert not written, [str(record) for record in written]


def quiet(audit_log: AuditLog) -> bool:
    """Whether nothing of ours was written for a few seconds."""
    begin = audit_log.position()
    time.sleep(5)
    return not ours(audit_log.since(begin))
