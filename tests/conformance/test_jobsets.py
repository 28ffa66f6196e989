"""JobSets as gangs: whole sets, replicated Jobs and Jobs start together or not at all, and end without a trace."""

import pytest

from tests.conformance.running import run_at_each_moment
from tests.conformance.scenarios.preemption_stage import HIGH, LOW, Stage
from verify.auditor.audit_log import AuditLog
from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, POD_GROUP, Jobs, condition_entry, indexed_job
from verify.clusters.jobsets import ATTEMPT, NAME, SETTLE_SECONDS, JobSets, job_set, part

LEFT, RIGHT = part("left", replicas=2, pods=3), part("right", replicas=2, pods=3)


def test_a_whole_set_waits_whole_says_why_and_starts_whole(jobsets: JobSets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="11")
    jobsets.create(job_set("pair", LEFT, RIGHT, scope="set"))
    eventually(lambda: jobsets.waits("pair", 12), within_seconds=SETTLE_SECONDS)
    eventually(lambda: jobsets.minimums("pair") == [12], within_seconds=SETTLE_SECONDS)
    assert not any(job["spec"]["suspend"] for job in jobsets.children("pair"))

    def says_why() -> bool:
        entry = condition_entry(jobsets.groups("pair")[0], CONDITION)
        return entry is not None and "minCount (12) cannot be satisfied" in entry["message"]

    eventually(says_why, within_seconds=15)
    eventually(lambda: jobsets.events("pair", "FailedScheduling"), within_seconds=15)
    throughout(lambda: jobsets.bound("pair") == 0, seconds=1, poll_seconds=0.2)
    nodes.add(1, cpu="1")
    eventually(lambda: jobsets.bound("pair") == 12, within_seconds=SETTLE_SECONDS)
    assert jobsets.are_grouped("pair")
    jobsets.remove("pair")


def test_each_replicated_job_starts_whole_by_itself(jobsets: JobSets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="9")
    jobsets.create(job_set("pair", LEFT, RIGHT, scope="replicated-job"))
    eventually(lambda: jobsets.bound("pair") == 6, within_seconds=SETTLE_SECONDS)
    assert jobsets.minimums("pair") == [6, 6]
    throughout(lambda: {jobsets.bound("pair", each) for each in ("left", "right")} == {0, 6}, seconds=2)
    jobsets.remove("pair")


@pytest.mark.parametrize("scope", ["job", None], ids=["stated", "unsaid"])
def test_each_job_starts_whole_by_itself(jobsets: JobSets, nodes: HollowNodes, scope: str | None) -> None:
    nodes.add(1, cpu="8")
    jobsets.create(job_set("pair", LEFT, RIGHT, part("driver", cpu="1m"), scope=scope))
    eventually(
        lambda: jobsets.bound("pair", "left") + jobsets.bound("pair", "right") == 6, within_seconds=SETTLE_SECONDS
    )
    assert jobsets.minimums("pair") == [3, 3, 3, 3]
    (driver,) = jobsets.pods("pair", "driver")
    assert POD_GROUP not in driver["metadata"]["annotations"]
    throughout(lambda: jobsets.bound("pair", "left") + jobsets.bound("pair", "right") == 6, seconds=2)
    jobsets.remove("pair")


def test_of_four_whole_sets_of_sixty_percent_one_runs_at_any_moment(
    jobsets: JobSets, nodes: HollowNodes, audit_log: AuditLog
) -> None:
    # A node has room for one pod: the next set has none before the last pod of the one that runs has ended.
    nodes.add(6, cpu="5")
    names = [f"set-{number}" for number in range(4)]
    begin = audit_log.position()
    for name in names:
        parts = (part(each, pods=3, cpu="3", run_seconds=1) for each in ("one", "two"))
        jobsets.create(job_set(name, *parts, scope="set"))

    def all_done() -> bool:
        return all(jobsets.get(name).get("status", {}).get("terminalState") == "Completed" for name in names)

    eventually(all_done, within_seconds=3 * SETTLE_SECONDS)
    moments = run_at_each_moment(audit_log.since(begin), jobsets.namespace, NAME)
    assert max(len(running) for running in moments) == 1, moments
    assert set().union(*moments) == set(names)
    eventually(lambda: not any(jobsets.groups(name) for name in names), within_seconds=SETTLE_SECONDS)


@pytest.mark.parametrize("restarts", ["OnFailure", "Never"])
def test_a_set_that_is_preempted_has_no_failure_and_starts_whole_again(
    jobsets: JobSets, stage: Stage, jobs: Jobs, nodes: HollowNodes, restarts: str
) -> None:
    nodes.add(1, cpu="4")
    parts = part("one", pods=2), part("two", pods=2)
    for each in parts:
        each["template"]["spec"]["template"]["spec"] |= {"restartPolicy": restarts, "priorityClassName": LOW}
    jobsets.create(job_set("low", *parts, scope="set"))
    eventually(lambda: jobsets.bound("low") == 4, within_seconds=SETTLE_SECONDS)
    former = {pod["metadata"]["uid"] for pod in jobsets.pods("low")}
    children = {job["metadata"]["uid"] for job in jobsets.children("low")}
    high = indexed_job("high", 4)
    high["spec"]["template"]["spec"]["priorityClassName"] = HIGH
    jobs.create(high)
    eventually(lambda: jobs.whole("high"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: jobsets.waits("low", 4), within_seconds=SETTLE_SECONDS)
    assert not former & {pod["metadata"]["uid"] for pod in jobsets.pods("low")}
    jobs.api.delete("jobs", "high", jobs.namespace, propagation="Background")
    eventually(lambda: jobsets.bound("low") == 4, within_seconds=SETTLE_SECONDS)
    assert {job["metadata"]["uid"] for job in jobsets.children("low")} == children
    assert not any(job["status"].get("failed") for job in jobsets.children("low"))
    assert not jobsets.get("low")["status"].get("restarts")
    jobsets.remove("low")


RACK = "example.com/rack"


def racks_of(jobsets: JobSets, name: str, part: str | None = None) -> set[str]:
    """The racks in which pods of it run."""
    nodes = {pod["spec"]["nodeName"] for pod in jobsets.pods(name, part)}
    return {jobsets.api.get("nodes", node)["metadata"]["labels"][RACK] for node in nodes}


def test_a_preferred_level_keeps_a_whole_set_together_where_that_can_be(jobsets: JobSets, nodes: HollowNodes) -> None:
    for rack in ("a", "b", "a", "b"):
        nodes.add(1, cpu="3", labels={RACK: rack})
    made = job_set("near", part("one", pods=3), part("two", pods=3), scope="set")
    made["metadata"]["annotations"]["tutti.scheduler/topology"] = f"preferred:{RACK}"
    jobsets.create(made)
    eventually(lambda: jobsets.bound("near") == 6, within_seconds=SETTLE_SECONDS)
    assert len(racks_of(jobsets, "near")) == 1
    jobsets.remove("near")


def test_slices_of_a_whole_set_are_whole_in_one_rack_each(jobsets: JobSets, nodes: HollowNodes) -> None:
    for rack in ("a", "b"):
        nodes.add(1, cpu="4", labels={RACK: rack})
    made = job_set("sliced", part("one", pods=3), part("two", pods=3), scope="set")
    made["metadata"]["annotations"] |= {"tutti.scheduler/slice-size": "3", "tutti.scheduler/slice-topology": RACK}
    jobsets.create(made)
    eventually(lambda: jobsets.bound("sliced") == 6, within_seconds=SETTLE_SECONDS)
    assert [len(racks_of(jobsets, "sliced", each)) for each in ("one", "two")] == [1, 1]
    jobsets.remove("sliced")


@pytest.mark.parametrize("order", ["InOrder", "dependsOn"])
def test_a_whole_set_that_would_wait_for_itself_is_refused_and_its_parts_start_in_order(
    jobsets: JobSets, nodes: HollowNodes, order: str
) -> None:
    nodes.add(1, cpu="12")
    second = part("second", pods=3)
    if order == "dependsOn":
        second["dependsOn"] = [{"name": "first", "status": "Ready"}]
    spec = {"startupPolicy": {"startupPolicyOrder": "InOrder"}} if order == "InOrder" else {}
    with pytest.raises(ApiError, match="use replicated-job"):
        jobsets.create(job_set("ordered", part("first", pods=3), second, scope="set", **spec))
    jobsets.create(job_set("ordered", part("first", pods=3), second, scope="replicated-job", **spec))
    eventually(lambda: jobsets.bound("ordered") == 6, within_seconds=SETTLE_SECONDS)
    assert jobsets.are_grouped("ordered")
    jobsets.remove("ordered")


@pytest.mark.parametrize("strategy", ["Recreate", "BlockingRecreate"])
def test_a_restart_starts_whole_again_and_counts_no_pod_of_the_former_attempt(
    jobsets: JobSets, nodes: HollowNodes, strategy: str
) -> None:
    nodes.add(1, cpu="12")
    jobsets.create(
        job_set("again", LEFT, RIGHT, scope="set", failurePolicy={"maxRestarts": 2, "restartStrategy": strategy})
    )
    eventually(lambda: jobsets.bound("again") == 12, within_seconds=SETTLE_SECONDS)
    former = {group["metadata"]["uid"] for group in jobsets.groups("again")}
    children = {job["metadata"]["uid"] for job in jobsets.children("again")}
    jobsets.fail(jobsets.pods("again")[0])

    def is_restarted() -> bool:
        pods = [pod for pod in jobsets.pods("again") if pod["metadata"]["labels"][ATTEMPT] == "1"]
        # Half of the new attempt never runs beside the rest of the former one.
        assert sum(1 for pod in pods if pod["spec"].get("nodeName")) in {0, 12} or len(pods) == 12
        return len(pods) == 12 and all(pod["spec"].get("nodeName") for pod in pods)

    eventually(is_restarted, within_seconds=SETTLE_SECONDS)
    assert not children & {job["metadata"]["uid"] for job in jobsets.children("again")}
    eventually(lambda: len(jobsets.groups("again")) == 1, within_seconds=SETTLE_SECONDS)
    (group,) = jobsets.groups("again")
    assert group["metadata"]["uid"] not in former
    assert jobsets.are_grouped("again")
    jobsets.remove("again")


def test_a_job_that_somebody_deletes_is_made_again_and_replaces_members_of_the_same_group(
    jobsets: JobSets, nodes: HollowNodes
) -> None:
    nodes.add(1, cpu="12")
    jobsets.create(job_set("pair", LEFT, RIGHT, scope="set"))
    eventually(lambda: jobsets.bound("pair") == 12, within_seconds=SETTLE_SECONDS)
    (group,) = jobsets.groups("pair")
    gone = jobsets.children("pair")[0]["metadata"]
    jobsets.api.delete("jobs", gone["name"], jobsets.namespace, propagation="Background")
    eventually(lambda: gone["uid"] not in {j["metadata"]["uid"] for j in jobsets.children("pair")}, within_seconds=20)
    eventually(lambda: jobsets.bound("pair") == 12, within_seconds=SETTLE_SECONDS)
    assert [each["metadata"]["uid"] for each in jobsets.groups("pair")] == [group["metadata"]["uid"]]
    jobsets.remove("pair")


def test_a_suspended_set_has_no_group_before_it_is_resumed_and_starts_whole_then(
    jobsets: JobSets, nodes: HollowNodes
) -> None:
    nodes.add(1, cpu="12")
    jobsets.create(job_set("later", LEFT, RIGHT, scope="set", suspend=True))
    eventually(lambda: len(jobsets.children("later")) == 4, within_seconds=SETTLE_SECONDS)
    throughout(lambda: not jobsets.groups("later") and not jobsets.pods("later"), seconds=1, poll_seconds=0.2)
    jobsets.suspend("later", False)
    eventually(lambda: jobsets.bound("later") == 12, within_seconds=SETTLE_SECONDS)
    jobsets.suspend("later", True)
    eventually(lambda: not jobsets.pods("later"), within_seconds=SETTLE_SECONDS)
    assert all(job["spec"]["suspend"] for job in jobsets.children("later"))
    jobsets.suspend("later", False)
    eventually(lambda: jobsets.bound("later") == 12, within_seconds=SETTLE_SECONDS)
    assert jobsets.are_grouped("later")
    jobsets.remove("later")


def test_a_set_without_gangs_is_left_alone(jobsets: JobSets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="4")
    made = jobsets.create(job_set("plain", part("one"), part("two")))
    assert "schedulerName" not in made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    eventually(lambda: jobsets.bound("plain") == 2, within_seconds=SETTLE_SECONDS)
    assert not jobsets.groups("plain")
    jobsets.remove("plain")
