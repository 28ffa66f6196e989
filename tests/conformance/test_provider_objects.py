"""The group objects of other gang schedulers on a real API server, with the CRDs as those schedulers publish them."""

from collections.abc import Iterator

import pytest

from providers.base import MinMemberRule, StartupPolicy
from providers.gang import Gang
from providers.selection import standard_providers
from tests.conformance.provider_kinds import WITH_KINDS, install_kind, kind_of, path_of, remove_kind
from tests.providers.expected import TABLE
from tests.providers.gangs import job_gang, replica
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import GATE, POD_GROUP, Jobs, condition, indexed_job
from verify.clusters.lws import Sets, leader_worker_set
from verify.clusters.tutti_process import Tutti

pytestmark = pytest.mark.one_api

MISSING = "tutti.scheduler/GroupKindMissing"
PROVIDER = "tutti.scheduler/provider"
SETTLE_SECONDS = 30
GONE_SECONDS = 60
STRICT = "?fieldValidation=Strict"


@pytest.fixture(params=WITH_KINDS)
def provider(request: pytest.FixtureRequest, control_plane: ControlPlane) -> Iterator[str]:
    """A gang scheduler whose kind is installed."""
    install_kind(control_plane.admin, request.param)
    yield request.param
    remove_kind(control_plane.admin, request.param)


@pytest.fixture
def absent(control_plane: ControlPlane) -> Iterator[str]:
    """Volcano, not installed yet."""
    yield "volcano"
    remove_kind(control_plane.admin, "volcano")


def objects_of(api: Api, provider: str, namespace: str) -> list[Object]:
    found: list[Object] = api.request("GET", path_of(kind_of(provider), namespace))["items"]
    return found


def gangs(namespace: str) -> list[Gang]:
    return [
        job_gang(namespace=namespace),
        job_gang(namespace=namespace, name="timed", timeout_seconds=60),
        replica(StartupPolicy.LEADER_CREATED, namespace=namespace),
        replica(StartupPolicy.LEADER_READY, namespace=namespace, name="llm-1-7d5e"),
    ]


def test_every_object_passes_strict_validation_and_loses_nothing(
    control_plane: ControlPlane, namespace: str, provider: str
) -> None:
    asked = standard_providers().named(provider)
    assert asked is not None
    for gang in gangs(namespace):
        for manifest in asked.group_objects(gang):
            path = path_of(kind_of(provider), namespace) + STRICT
            made = control_plane.admin.request("POST", path, manifest)
            assert manifest["spec"].items() <= made["spec"].items()
            assert made["metadata"]["ownerReferences"] == manifest["metadata"]["ownerReferences"]


def test_strict_validation_would_have_found_a_field_that_does_not_exist(
    control_plane: ControlPlane, namespace: str, provider: str
) -> None:
    kind = kind_of(provider)
    wrong = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x"}, "spec": {"minMembers": 1}}
    with pytest.raises(ApiError, match="minMembers"):
        control_plane.admin.request("POST", path_of(kind, namespace) + STRICT, wrong)


def test_a_job_of_another_scheduler_gets_its_group_and_its_pods_name_it(
    control_plane: ControlPlane, jobs: Jobs, tutti: Tutti, provider: str
) -> None:
    job = indexed_job("theirs", 3)
    job["spec"]["template"]["spec"]["schedulerName"] = TABLE[provider].scheduler_name
    jobs.create(job)
    eventually(lambda: len(jobs.pods("theirs")) == 3, within_seconds=SETTLE_SECONDS)
    (made,) = objects_of(jobs.api, provider, jobs.namespace)
    assert made["spec"]["minMember"] == 3
    live = jobs.get("theirs")
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Job", live["metadata"]["uid"], True)
    assert GATE not in live["metadata"].get("annotations", {})
    for pod in jobs.pods("theirs"):
        told = {**pod["metadata"]["labels"], **pod["metadata"]["annotations"]}
        assert made["metadata"]["name"] in {value for key, value in told.items() if key != POD_GROUP}
        assert pod["spec"]["schedulerName"] == TABLE[provider].scheduler_name
        assert pod["metadata"]["creationTimestamp"] >= made["metadata"]["creationTimestamp"]


def test_a_missing_definition_holds_the_job_says_so_and_is_found_when_it_comes(
    control_plane: ControlPlane, jobs: Jobs, tutti: Tutti, absent: str
) -> None:
    jobs.create(indexed_job("early", 2, annotations={"tutti.scheduler/provider": absent}))
    (note,) = eventually(lambda: jobs.events("Job", "early", "GroupKindMissing"), within_seconds=SETTLE_SECONDS)
    assert "podgroups.scheduling.volcano.sh" in note
    assert jobs.get("early")["spec"]["suspend"] is True
    eventually(lambda: condition(jobs.get("early"), MISSING) == "True", within_seconds=SETTLE_SECONDS)
    throughout(lambda: condition(jobs.get("early"), MISSING) == "True", seconds=2, poll_seconds=0.1)
    assert condition(jobs.get("early"), "Suspended") == "True"
    install_kind(control_plane.admin, absent)
    eventually(lambda: len(jobs.pods("early")) == 2, within_seconds=SETTLE_SECONDS)
    eventually(lambda: condition(jobs.get("early"), MISSING) == "False", within_seconds=SETTLE_SECONDS)
    eventually(lambda: condition(jobs.get("early"), "Suspended") == "False", within_seconds=SETTLE_SECONDS)
    (made,) = objects_of(jobs.api, absent, jobs.namespace)
    assert jobs.events("Job", "early", "GangObjectCreated")
    # The garbage collector looks for new kinds every 30 s only.
    control_plane.restart_controller_manager()
    jobs.api.request("DELETE", f"{path_of(kind_of(absent), jobs.namespace)}/{made['metadata']['name']}")
    eventually(lambda: _is_another(jobs, absent, made), within_seconds=SETTLE_SECONDS)
    jobs.api.delete("jobs", "early", jobs.namespace)
    eventually(lambda: not objects_of(jobs.api, absent, jobs.namespace), within_seconds=GONE_SECONDS)


def _is_another(jobs: Jobs, provider: str, former: Object) -> bool:
    found = [each["metadata"]["uid"] for each in objects_of(jobs.api, provider, jobs.namespace)]
    return len(found) == 1 and found != [former["metadata"]["uid"]]


@pytest.mark.parametrize("startup", ["LeaderCreated", "LeaderReady"])
def test_a_replica_of_another_scheduler_gets_its_groups_and_its_pods_name_them(
    sets: Sets, provider: str, startup: str
) -> None:
    sets.create(leader_worker_set("theirs", annotations={PROVIDER: provider}, startupPolicy=startup))
    together = startup == "LeaderCreated"
    eventually(lambda: len(sets.pods("theirs")) == (3 if together else 1), within_seconds=SETTLE_SECONDS)
    leader = sets.leader("theirs")["metadata"]
    kind, asked = kind_of(provider), standard_providers().named(provider)
    assert asked is not None
    apart = asked.min_member_rule(StartupPolicy(startup)) is MinMemberRule.LEADER_APART
    eventually(
        lambda: len(objects_of(sets.api, provider, sets.namespace)) == (2 if apart else 1),
        within_seconds=SETTLE_SECONDS,
    )
    made = {each["metadata"]["name"]: each for each in objects_of(sets.api, provider, sets.namespace)}
    assert sorted(each["spec"]["minMember"] for each in made.values()) == _minimums(together=together, apart=apart)
    for each in made.values():
        assert each["apiVersion"] == kind.api_version
        assert [owner["uid"] for owner in each["metadata"]["ownerReferences"]] == [leader["uid"]]
    for pod in sets.pods("theirs"):
        metadata = pod["metadata"]
        told = {**metadata["labels"], **metadata["annotations"]}
        assert made.keys() & {value for key, value in told.items() if key != POD_GROUP}
        assert metadata["annotations"][POD_GROUP] == sets.group("theirs")["metadata"]["name"]
        assert pod["spec"]["schedulerName"] == TABLE[provider].scheduler_name


def _minimums(*, together: bool, apart: bool) -> list[int]:
    if together:
        return [3]
    return [1, 2] if apart else [1]
