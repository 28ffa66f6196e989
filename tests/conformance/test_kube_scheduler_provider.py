"""The stock kube-scheduler as the gang scheduler of a Job: Tutti makes the group and ties the pods to it, nothing more.

It needs the built-in group API, which the stock scheduler of these control planes knows.
"""

import pytest

from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, condition, condition_entry, indexed_job
from verify.clusters.tutti_process import Tutti

PROVIDER = {"tutti.scheduler/provider": "kube-scheduler"}
SETTLE_SECONDS = 30
HELD_SECONDS = 5
RETRIED_SECONDS = 100
"""The stock scheduler retries a gang of ten after up to 10 s times the root of ten, and a new node does not hasten it."""

FULL = 10


@pytest.fixture
def stock(group_api: str, jobs: Jobs, tutti: Tutti) -> Jobs:
    if group_api != "built-in":
        pytest.skip("the stock scheduler reads the built-in group API only")
    return jobs


@pytest.mark.real_only("the embedded cluster has no kube-scheduler")
def test_ten_pods_with_room_for_nine_wait_whole_and_start_whole_when_there_is_room(
    stock: Jobs, nodes: HollowNodes
) -> None:
    nodes.add(1, cpu=str(FULL - 1))
    job = stock.create(indexed_job("ten", FULL, annotations=PROVIDER))
    assert job["spec"]["template"]["spec"]["schedulerName"] == "default-scheduler"
    eventually(lambda: stock.waits("ten"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: _refused(stock, "ten"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: stock.bound("ten") == 0, seconds=HELD_SECONDS)
    group = stock.group("ten")["metadata"]["name"]
    for pod in stock.pods("ten"):
        assert pod["spec"]["schedulerName"] == "default-scheduler"
        assert pod["spec"]["schedulingGroup"] == {"podGroupName": group}
    nodes.add(1, cpu="1")
    eventually(lambda: stock.whole("ten"), within_seconds=RETRIED_SECONDS)
    eventually(lambda: condition(stock.group("ten"), CONDITION) == "True", within_seconds=SETTLE_SECONDS)
    throughout(lambda: condition(stock.group("ten"), CONDITION) == "True", seconds=HELD_SECONDS)
    assert {"Normal"} == {event["type"] for event in stock.api.list("events", stock.namespace) if _is_ours(event)}


@pytest.mark.real_only("the embedded cluster has no kube-scheduler")
def test_the_last_pods_of_a_job_do_not_wait_for_those_that_have_succeeded(stock: Jobs, nodes: HollowNodes) -> None:
    """The stock scheduler counts living members only: with a minimum of three the last two would never start."""
    nodes.add(1, cpu="8")
    annotations = {**PROVIDER, "tutti.scheduler/policy": "gang"}
    job = indexed_job("tail", 3, run_seconds=1, annotations=annotations, completions=5)
    stock.create(job)
    eventually(lambda: stock.succeeded("tail"), within_seconds=RETRIED_SECONDS)
    assert stock.group("tail")["spec"]["schedulingPolicy"]["gang"]["minCount"] < 3


@pytest.mark.real_only("the embedded cluster has no kube-scheduler")
def test_a_pod_of_a_gang_that_names_no_group_is_refused_instead_of_started_alone(stock: Jobs) -> None:
    owner = stock.create(indexed_job("held", 2, annotations=PROVIDER, suspend=True))["metadata"]
    template = indexed_job("held", 2)["spec"]["template"]
    labels = {"tutti.scheduler/managed": "kube-scheduler", "batch.kubernetes.io/controller-uid": owner["uid"]}
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "held", "uid": owner["uid"], "controller": True}
    metadata = {"name": "lone", "labels": labels, "ownerReferences": [reference]}
    with pytest.raises(ApiError, match="the pod waits for its group"):
        stock.api.create("pods", {"metadata": metadata, "spec": template["spec"]}, stock.namespace)


def test_without_the_built_in_groups_the_stock_scheduler_cannot_be_asked_for(
    group_api: str, jobs: Jobs, tutti: Tutti
) -> None:
    if group_api != "own":
        pytest.skip("this is about clusters without the built-in group API")
    with pytest.raises(ApiError, match="kube-scheduler needs the built-in group API"):
        jobs.create(indexed_job("refused", 2, annotations=PROVIDER))


def _refused(jobs: Jobs, name: str) -> bool:
    found = condition_entry(jobs.group(name), CONDITION) or {}
    return (found.get("status"), found.get("reason")) == ("False", "Unschedulable")


def _is_ours(event: dict[str, object]) -> bool:
    return event.get("reportingController") == "tutti-controllers"
