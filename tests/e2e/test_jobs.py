"""Ordinary Jobs with real containers: they start together, run, and end."""

from tests.e2e.containers import gang, logs, running, started_at
from tests.e2e.node import SLOTS, Node
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import Jobs, condition, condition_entry, is_gang

RUN_SECONDS = 40.0
TOGETHER_SECONDS = 5.0


def test_a_gang_starts_together_runs_and_ends(tutti: Node, jobs: Jobs) -> None:
    script = 'echo "worker $JOB_COMPLETION_INDEX"; sleep 2'
    assert is_gang(jobs.create(gang("together", SLOTS, script)))
    eventually(lambda: jobs.succeeded("together"), within_seconds=RUN_SECONDS)
    pods = jobs.pods("together")
    starts = sorted(started_at(pod) for pod in pods)
    assert (starts[-1] - starts[0]).total_seconds() <= TOGETHER_SECONDS
    assert sorted(logs(tutti, jobs.namespace, pods)) == [f"worker {index}" for index in range(SLOTS)]


def test_a_gang_without_room_waits_whole_and_starts_once_there_is_some(jobs: Jobs) -> None:
    jobs.create(gang("first", 1 + SLOTS // 2, "trap 'exit 0' TERM; while :; do sleep 1; done"))
    eventually(lambda: running(jobs, "first") == 1 + SLOTS // 2, within_seconds=RUN_SECONDS)
    jobs.create(gang("second", 1 + SLOTS // 2, "sleep 1"))
    eventually(lambda: jobs.waits("second"), within_seconds=RUN_SECONDS)
    throughout(lambda: jobs.bound("second") == 0, seconds=3)
    (told,) = [condition_entry(pod, "PodScheduled") for pod in jobs.pods("second")[:1]]
    assert told is not None
    assert told["status"] == "False"
    jobs.api.delete("jobs", "first", jobs.namespace)
    eventually(lambda: jobs.succeeded("second"), within_seconds=2 * RUN_SECONDS)


def test_a_gang_whose_container_fails_is_a_failed_job(jobs: Jobs) -> None:
    made = gang("failing", 2, '[ "$JOB_COMPLETION_INDEX" = 0 ] && exit 3; sleep 60', grace_seconds=1)
    made["spec"]["backoffLimit"] = 0
    jobs.create(made)
    eventually(lambda: condition(jobs.get("failing"), "Failed") == "True", within_seconds=RUN_SECONDS)
    eventually(lambda: running(jobs, "failing") == 0, within_seconds=RUN_SECONDS)


def test_the_samples_of_the_project_run_as_they_are(tutti: Node) -> None:
    jobs = Jobs(tutti.api, "default")
    try:
        assert "error" not in tutti.kubectl("apply", "-k", "config/samples").lower()
        eventually(lambda: running(jobs, "gang") == 4, within_seconds=RUN_SECONDS)
        eventually(lambda: jobs.waits("gang-that-waits"), within_seconds=RUN_SECONDS)
    finally:
        # Their pods sleep through the usual grace period of 30 s; nobody needs their room.
        tutti.kubectl("delete", "-k", "config/samples", "--wait=false", "--ignore-not-found")
