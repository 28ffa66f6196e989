"""A gang without room waits whole, says why, and starts as a whole the moment there is room."""

from verify.auditor.audit_log import AuditLog, Record
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, condition_entry, indexed_job
from verify.clusters.tutti_process import Tutti

WORKERS = 8
BOUND_WITHIN_SECONDS = 1.0


def held_gang(jobs: Jobs, nodes: HollowNodes) -> str:
    """Eight workers of one core each, seven cores: the name of the Job, once its refusal is told."""
    nodes.add(7, cpu="1")
    jobs.create(indexed_job("short", WORKERS))
    eventually(lambda: jobs.waits("short"), within_seconds=15)
    eventually(lambda: condition_entry(jobs.group("short"), CONDITION), within_seconds=10)
    return "short"


def test_no_pod_is_bound_while_one_place_is_missing(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    name = held_gang(jobs, nodes)
    throughout(lambda: jobs.bound(name) == 0, seconds=3, poll_seconds=0.2)


def test_the_pod_group_says_how_many_members_fit(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    entry = condition_entry(jobs.group(held_gang(jobs, nodes)), CONDITION)
    assert entry is not None
    assert (entry["status"], entry["reason"]) == ("False", "Unschedulable")
    assert "8" in entry["message"], entry["message"]
    assert "7" in entry["message"], entry["message"]


def test_events_on_the_job_and_its_group_say_why(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    name = held_gang(jobs, nodes)
    group = jobs.group(name)["metadata"]["name"]
    for kind, regarding in (("Job", name), ("PodGroup", group)):
        eventually(lambda k=kind, r=regarding: jobs.events(k, r, "FailedScheduling"), within_seconds=10)  # type: ignore[misc]


def test_kubectl_describe_job_says_why(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    name = held_gang(jobs, nodes)

    def told() -> bool:
        described = control_plane.kubectl("describe", "job", name, "-n", jobs.namespace).out
        assert "FailedScheduling" in described, described
        return "cpu" in described

    eventually(told, within_seconds=10, poll_seconds=0.5)


def test_all_members_are_bound_within_a_second_of_a_new_node(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, audit_log: AuditLog
) -> None:
    name = held_gang(jobs, nodes)
    begin = audit_log.position()
    nodes.add(cpu="1")
    eventually(lambda: jobs.whole(name), within_seconds=15)
    records = audit_log.since(begin)
    (node,) = [record for record in records if record.resource == "nodes" and record.verb == "create"]
    binds = binds_of(records, jobs.namespace)
    assert len(binds) == WORKERS
    took = max(record.completed for record in binds) - node.completed
    assert took <= BOUND_WITHIN_SECONDS, f"the last of {WORKERS} binds came {took:.2f} s after the node"
    eventually(lambda: condition_status(jobs, name) == "True", within_seconds=5)


def test_all_members_are_bound_within_a_second_of_freed_room(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, audit_log: AuditLog
) -> None:
    nodes.add(cpu="8")
    jobs.create(indexed_job("first", 2))
    eventually(lambda: jobs.whole("first"), within_seconds=15)
    jobs.create(indexed_job("second", WORKERS))
    eventually(lambda: condition_status(jobs, "second") == "False", within_seconds=15)
    begin = audit_log.position()
    jobs.api.delete("jobs", "first", jobs.namespace)
    eventually(lambda: jobs.whole("second"), within_seconds=15)
    records = audit_log.since(begin)
    freed = [r for r in records if r.resource == "pods/status" and r.request["status"].get("phase") == "Failed"]
    took = max(record.completed for record in binds_of(records, jobs.namespace)) - max(r.completed for r in freed)
    assert took <= BOUND_WITHIN_SECONDS, f"the last bind came {took:.2f} s after the room was free"


def binds_of(records: list[Record], namespace: str) -> list[Record]:
    return [r for r in records if r.resource == "pods/binding" and r.succeeded and r.namespace == namespace]


def condition_status(jobs: Jobs, name: str) -> str | None:
    entry = condition_entry(jobs.group(name), CONDITION)
    return entry["status"] if entry else None
