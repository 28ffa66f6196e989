"""The harness itself: a cluster without Tutti behaves as any Kubernetes does, and the auditor sees what it must."""

import time

from verify.auditor.audit_log import AuditLog
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, condition, plain_job, plain_pod

PLAIN = {"tutti.scheduler/policy": "none"}


def test_a_plain_job_runs_to_its_end_on_hollow_nodes(jobs: Jobs, nodes: HollowNodes) -> None:
    nodes.add(2, cpu="4")
    jobs.create(plain_job("stock", 4, run_seconds=0.5, annotations=PLAIN))
    eventually(lambda: jobs.succeeded("stock"), within_seconds=30)
    assert {pod["status"]["phase"] for pod in jobs.pods("stock")} == {"Succeeded"}


def test_a_pod_with_another_exit_code_fails(jobs: Jobs, nodes: HollowNodes) -> None:
    nodes.add()
    job = plain_job("fails", run_seconds=0.1, annotations=PLAIN, backoffLimit=0)
    job["spec"]["template"]["metadata"]["annotations"]["localcluster.tutti.scheduler/exit-code"] = "3"
    jobs.create(job)
    eventually(lambda: condition(jobs.get("fails"), "Failed") == "True", within_seconds=30)
    (pod,) = jobs.pods("fails")
    (status,) = pod["status"]["containerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == 3


def test_a_deleted_pod_first_fails_and_is_gone_soon(jobs: Jobs, nodes: HollowNodes, audit_log: AuditLog) -> None:
    (node,) = nodes.add()
    begin = audit_log.position()
    jobs.api.create("pods", plain_pod("alone", node=node), jobs.namespace)
    eventually(lambda: jobs.api.get("pods", "alone", jobs.namespace)["status"]["phase"] == "Running", within_seconds=10)
    jobs.api.delete("pods", "alone", jobs.namespace)
    eventually(lambda: jobs.api.find("pods", "alone", jobs.namespace) is None, within_seconds=10)
    records = [r for r in audit_log.since(begin) if r.name == "alone" and r.user == "hollow-kubelet"]
    phases = [record.request["status"]["phase"] for record in records if record.resource == "pods/status"]
    assert phases == ["Running", "Failed"]
    assert records[-1].verb == "delete"


def test_the_audit_log_tells_the_auditor_of_pods_binds_and_nodes(
    jobs: Jobs, nodes: HollowNodes, audit_log: AuditLog
) -> None:
    begin = audit_log.position()
    (node,) = nodes.add(cpu="2")
    jobs.create(plain_job("seen", 2, annotations=PLAIN))
    eventually(lambda: jobs.bound("seen") == 2, within_seconds=30)
    replay = Auditor()
    replay.feed(audit_log.since(begin))
    assert [pod.node for pod in replay.pods.values()] == [node, node]
    assert replay.nodes[node]["cpu"] == 2
    assert replay.close(time.time()) == []


def test_kubectl_describes_a_job(jobs: Jobs, nodes: HollowNodes, control_plane: ControlPlane) -> None:
    nodes.add()
    jobs.create(plain_job("told", run_seconds=0.1, annotations=PLAIN))
    eventually(lambda: jobs.succeeded("told"), within_seconds=30)
    assert "Completed" in control_plane.kubectl("describe", "job", "told", "-n", jobs.namespace).out
