"""Bad input gets one clear message; nothing crashes and nothing half-made stays."""

import json

import pytest

from verify.clusters.client import ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import Tutti

WORKERS = 3
LONGEST_MESSAGE = 1024
BAD_SETTINGS = [
    ("policy", "sometimes"),
    ("policy", ""),
    ("min-count", "0"),
    ("min-count", "-1"),
    ("min-count", "abc"),
    ("min-count", str(WORKERS + 1)),
    ("min-count", "1e1000000"),
    ("min-count", "9" * 300),
    ("elastic", "perhaps"),
    ("disruption-mode", "some"),
    ("topology", "not a label key"),
    ("provider", "no-such-scheduler"),
]


@pytest.fixture(autouse=True)
def nothing_crashes(tutti: Tutti) -> object:
    """The same three processes run before and after."""
    before = tutti.children()
    yield
    assert tutti.children() == before


def message_about(jobs: Jobs, job: Object) -> str:
    """The one message a user gets: the refusal, or else the warning on the Job; AssertionError when there is none."""
    try:
        jobs.create(job)
    except ApiError as error:
        return error.message
    name = job["metadata"]["name"]
    notes: list[str] = eventually(lambda: jobs.events("Job", name, "InvalidGangSettings"), within_seconds=15)
    assert len(notes) == 1, notes
    return notes[0]


@pytest.mark.parametrize(("key", "value"), BAD_SETTINGS)
def test_an_unusable_annotation_gets_one_message_and_no_group(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, key: str, value: str
) -> None:
    nodes.add()
    told = message_about(jobs, indexed_job("bad", WORKERS, annotations={f"tutti.scheduler/{key}": value}))
    assert key in told, told
    assert len(told) <= LONGEST_MESSAGE
    assert "\n" not in told.strip()
    assert "Traceback" not in told
    job = jobs.api.find("jobs", "bad", jobs.namespace)
    assert jobs.workloads("bad") == []
    assert jobs.groups("bad") == []
    if job is not None:
        eventually(lambda: not jobs.get("bad")["spec"].get("suspend"), within_seconds=15)


@pytest.mark.parametrize("count", ["1", str(WORKERS)])
def test_the_bounds_of_min_count_are_legal(jobs: Jobs, nodes: HollowNodes, tutti: Tutti, count: str) -> None:
    nodes.add(1, cpu="1")
    nodes.add(WORKERS - 1, cpu="1") if count != "1" else None
    jobs.create(indexed_job("bounds", WORKERS, annotations={"tutti.scheduler/min-count": count}))
    eventually(lambda: jobs.bound("bounds") == int(count), within_seconds=20)
    assert jobs.group("bounds")["spec"]["schedulingPolicy"]["gang"]["minCount"] == int(count)


def test_a_name_of_three_hundred_characters_is_refused_by_kubernetes(jobs: Jobs, tutti: Tutti) -> None:
    with pytest.raises(ApiError, match="no more than"):
        jobs.create(indexed_job("n" * 300, WORKERS))
    assert jobs.api.list("workloads", jobs.namespace) == []


def test_the_longest_name_a_job_may_have_is_a_gang(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add()
    name = "l" * 61
    jobs.create(indexed_job(name, WORKERS))
    eventually(lambda: jobs.whole(name), within_seconds=20)


def test_a_job_of_one_and_a_half_megabytes_is_a_gang_like_any_other(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add()
    job = indexed_job("heavy", 2)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "PADDING", "value": "p" * (1400 * 1024)}]
    assert len(json.dumps(job)) > 1400 * 1024
    jobs.create(job)
    eventually(lambda: jobs.whole("heavy"), within_seconds=30)
    assert len(jobs.groups("heavy")) == 1


def test_ambiguous_workloads_fall_back_to_plain_pods_with_one_event(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, group_api: str
) -> None:
    nodes.add()
    api_version = "scheduling.k8s.io/v1beta1" if group_api == "built-in" else "tutti.scheduler/v1beta1"
    for number in range(2):
        workload = {
            "apiVersion": api_version,
            "kind": "Workload",
            "metadata": {"name": f"mine-{number}"},
            "spec": {
                "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "unclear"},
                "podGroupTemplates": [{"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}}],
            },
        }
        jobs.api.create("workloads", workload, jobs.namespace)
    jobs.create(indexed_job("unclear", 2))
    eventually(lambda: jobs.whole("unclear"), within_seconds=20)
    assert eventually(lambda: jobs.events("Job", "unclear", "UnsupportedWorkloadStructure"), within_seconds=10)
    assert len(jobs.workloads("unclear")) == 2
    assert jobs.groups("unclear") == []
