"""A gang of a JobSet that is asked to leave: its Jobs are suspended, once, and only while pods of theirs are still to leave."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
import orjson
import pytest

from api.jobset import JobSet
from api.meta import Condition
from api.podgroup import PodGroup
from controllers.gangs.tools import Tools
from controllers.gangs.writes import Outdated
from controllers.jobsets.leaving import suspend_children
from controllers.jobsets.observed import ObservedJobSet
from controllers.jobsets.plan import LOOK_AGAIN_SECONDS, plan
from controllers.jobsets.steps import ConfirmJobSet, SuspendChildren
from kube.client.errors import Conflict
from kube.client.resources import JOBS, Resource
from tests.jobsets.builders import Object, child
from tests.jobsets.test_plan import RULES, groups_of, jobset, workload_of

BEFORE, ASKED, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"


def asked(group: PodGroup, status: str = "True") -> PodGroup:
    """The group with the condition by which the scheduler asks it to leave."""
    condition = Condition(type="DisruptionTarget", status=status, last_transition_time=ASKED)
    return msgspec.structs.replace(group, status=msgspec.structs.replace(group.status, conditions=(condition,)))


def pod(
    job: Object, *, created: str = BEFORE, node: str = "n1", phase: str = "Running", leaves: bool = False
) -> Object:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": job["metadata"]["uid"], "controller": True}
    metadata: Object = {"name": "p", "creationTimestamp": created, "ownerReferences": [owner]}
    if leaves:
        metadata["deletionTimestamp"] = LATER
    return {"metadata": metadata, "spec": {"nodeName": node} if node else {}, "status": {"phase": phase}}


@dataclass
class FakeServer:
    """Lists Jobs and pods, and takes patches."""

    jobs: list[Object]
    pods: list[Object] = field(default_factory=list)
    patched: list[tuple[str, Object]] = field(default_factory=list)
    refuses: bool = False

    async def list_pages(self, resource: Resource, _: str, *, label_selector: str) -> AsyncIterator[bytes]:
        uid = label_selector.partition("=")[2]
        mine = [each for each in self.pods if each["metadata"]["ownerReferences"][0]["uid"] == uid]
        yield orjson.dumps({"metadata": {}, "items": self.jobs if resource is JOBS else mine})

    async def patch(self, _: Resource, body: Object, name: str, *__: Any, **___: Any) -> None:
        if self.refuses:
            raise Conflict(409, "Conflict", "the UID is another one")
        self.patched.append((name, body))


@dataclass
class FakeTools:
    client: FakeServer


async def suspended(server: FakeServer, found: JobSet) -> list[str]:
    """The Jobs that are suspended when all groups of a JobSet are asked to leave."""
    groups = tuple(asked(each) for each in groups_of(found))
    await suspend_children(groups, found, cast("Tools[JobSet]", FakeTools(server)))
    return [name for name, _ in server.patched]


@pytest.fixture
def jobs() -> list[Object]:
    return [child(part=part, index=index, scope="set") for part in ("left", "right") for index in (0, 1)]


def test_while_a_group_is_asked_to_leave_its_jobs_are_looked_at_again_and_again() -> None:
    found = jobset()
    (group,) = groups_of(found)
    planned = plan(ObservedJobSet(found, workload_of(found), (asked(group),)), RULES)
    confirm, suspend = planned.steps
    assert isinstance(confirm, ConfirmJobSet)
    assert isinstance(suspend, SuspendChildren)
    assert planned.requeue_after_seconds == LOOK_AGAIN_SECONDS


@pytest.mark.parametrize(
    ("settings", "status"), [({}, "False"), ({"suspend": True}, "True"), ({"conditions": ("Completed",)}, "True")]
)
def test_nobody_is_suspended_who_was_not_asked_or_has_nobody_to_end(settings: dict[str, Any], status: str) -> None:
    found = jobset(**settings)
    groups = tuple(asked(each, status) for each in groups_of(found))
    assert not any(
        isinstance(step, SuspendChildren)
        for step in plan(ObservedJobSet(found, workload_of(found), groups), RULES).steps
    )


async def test_all_jobs_of_the_group_with_pods_that_run_are_suspended_by_uid(jobs: list[Object]) -> None:
    server = FakeServer(jobs, [pod(job) for job in jobs])
    assert await suspended(server, jobset()) == [job["metadata"]["name"] for job in jobs]
    assert server.patched[0][1] == {"metadata": {"uid": jobs[0]["metadata"]["uid"]}, "spec": {"suspend": True}}


@pytest.mark.parametrize(
    "state",
    [{"created": LATER}, {"node": ""}, {"phase": "Succeeded"}, {"leaves": True}],
    ids=["made since then", "waits", "has ended", "is leaving"],
)
async def test_a_job_whose_pods_leave_or_are_new_is_left_alone(jobs: list[Object], state: dict[str, Any]) -> None:
    assert await suspended(FakeServer(jobs, [pod(job, **state) for job in jobs]), jobset()) == []


async def test_jobs_of_other_groups_and_of_former_attempts_are_left_alone() -> None:
    found = jobset("job")
    jobs = [child(scope="job", index=0), child(scope="job", index=1), child(scope="job", index=0, attempt=1)]
    server = FakeServer(jobs, [pod(job) for job in jobs])
    first = groups_of(found)[0]
    await suspend_children((asked(first),), found, cast("Tools[JobSet]", FakeTools(server)))
    assert [name for name, _ in server.patched] == [jobs[0]["metadata"]["name"]]


async def test_a_job_that_is_another_one_meanwhile_ends_the_pass(jobs: list[Object]) -> None:
    with pytest.raises(Outdated):
        await suspended(FakeServer(jobs, [pod(job) for job in jobs], refuses=True), jobset())
