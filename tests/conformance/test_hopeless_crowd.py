"""Two thousand more important gangs that can never start: a small Job with room starts beside them as if they were not there."""

import itertools
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import urllib3

from verify.clusters.client import Api, ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.groups import pod_group
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, POD_GROUP, Jobs, condition, indexed_job
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.slow, pytest.mark.real_only("18,000 objects are too many for the embedded cluster")]

GANGS = 2_000
SIZE = 8
RACK = "example.com/rack"
AT_ONCE = 12
BOUND_WITHIN_SECONDS = 5
TOLD_WITHIN_SECONDS = 400
"""So long may it take to make them all and to write what they wait for: two writes per pod."""


def hopeless_gang(api: Api, name: str, priority_class: str, *, is_in_rack: bool) -> list[tuple[str, dict[str, Any]]]:
    """A group and its pods: too large for any node, or each of them fits and all of them fit no rack, which takes a try to see."""
    inside: dict[str, Any] = {"schedulingConstraints": {"topology": [{"key": RACK}]}} if is_in_rack else {}
    group = pod_group(api, name, SIZE, priorityClassName=priority_class, **inside)
    requests = {"cpu": "5" if is_in_rack else "64", "memory": "64Mi"}
    made: list[tuple[str, dict[str, Any]]] = [("podgroups", group)]
    for index in range(SIZE):
        pod = {
            "metadata": {"name": f"{name}-{index}", "annotations": {POD_GROUP: name}},
            "spec": {
                "schedulerName": "tutti",
                "schedulingGroup": {"podGroupName": name},
                "priorityClassName": priority_class,
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "registry.example/x:1", "resources": {"requests": requests}}],
            },
        }
        made.append(("pods", pod))
    return made


@pytest.fixture
def priority_class(control_plane: ControlPlane) -> Iterator[str]:
    name = f"important-{secrets.token_hex(3)}"
    control_plane.admin.create("priorityclasses", {"metadata": {"name": name}, "value": 1000})
    yield name
    control_plane.admin.delete("priorityclasses", name)


@pytest.fixture
def crowd(jobs: Jobs, nodes: HollowNodes, tutti: Tutti, priority_class: str) -> Iterator[None]:
    """All gangs are there, were tried and say that they wait."""
    api, namespace = jobs.api, jobs.namespace
    for rack in range(4):
        nodes.add(5, cpu="8", labels={RACK: f"r{rack}"})
    gangs = [
        hopeless_gang(api, f"crowd-{number}", priority_class, is_in_rack=bool(number % 2)) for number in range(GANGS)
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = list(itertools.chain.from_iterable(gangs))
        list(pool.map(lambda each: make(api, each[0], each[1], namespace), made))
        eventually(lambda: all_refused(jobs), within_seconds=TOLD_WITHIN_SECONDS, poll_seconds=2)
        yield
        # One by one: a collection of so many takes longer than a request lasts, and no audit log says then which are gone.
        list(pool.map(lambda each: remove(api, each[0], each[1]["metadata"]["name"], namespace), reversed(made)))


def make(api: Api, resource: str, body: dict[str, Any], namespace: str) -> None:
    """Creates an object."""
    try:
        patiently(lambda: api.create(resource, body, namespace))
    except ApiError as error:
        # Made by the request that nobody had an answer to.
        if error.status != 409:
            raise


def remove(api: Api, resource: str, name: str, namespace: str) -> None:
    """Deletes an object."""
    patiently(lambda: api.delete(resource, name, namespace, gracePeriodSeconds=0))


def patiently(request: Callable[[], object]) -> None:
    """Asks a server that so many may keep busy for longer than a request lasts."""

    def is_answered() -> bool:
        try:
            request()
        except urllib3.exceptions.TimeoutError:
            return False
        return True

    eventually(is_answered, within_seconds=TOLD_WITHIN_SECONDS, poll_seconds=1)


def all_refused(jobs: Jobs) -> bool:
    groups = jobs.api.list("podgroups", jobs.namespace)
    told = sum(condition(group, CONDITION) == "False" for group in groups)
    assert told == GANGS, f"{told} of {GANGS} groups say that they wait"
    return True


def test_a_small_job_with_room_is_bound_within_five_seconds(jobs: Jobs, crowd: None, tutti: Tutti) -> None:
    took = []
    for number in range(3):
        name = f"small-{number}"
        begun = time.monotonic()
        jobs.create(indexed_job(name, 2))
        eventually(lambda name=name: jobs.whole(name), within_seconds=60, poll_seconds=0.05)  # type: ignore[misc]
        took.append(time.monotonic() - begun)
    assert max(took) <= BOUND_WITHIN_SECONDS, took


def test_a_lone_pod_too(jobs: Jobs, crowd: None, tutti: Tutti) -> None:
    """KEP-4671: retries of groups must not starve individual pods."""
    (_, pod) = hopeless_gang(jobs.api, "lone", "", is_in_rack=False)[1]
    pod["metadata"] = {"name": "lone"}
    del pod["spec"]["schedulingGroup"]
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    jobs.api.create("pods", pod, jobs.namespace)
    eventually(
        lambda: bool(jobs.api.get("pods", "lone", jobs.namespace)["spec"].get("nodeName")),
        within_seconds=BOUND_WITHIN_SECONDS,
        poll_seconds=0.05,
    )
