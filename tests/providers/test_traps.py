"""What has gone wrong for others with these schedulers, one test each."""

import json
from typing import Any

import pytest

from api.meta import OwnerReference
from providers.base import PodMetadata, Provider, StartupPolicy
from providers.gang import LEADER, WORKER, Gang, Role, minimum_resources, role_of, short_name
from providers.pfnet import Pfnet
from providers.selection import standard_providers
from tests.providers.gangs import LEADER_SPEC, container, job_gang, replica

KNOWN = standard_providers()
LONG = "a-very-long-name-of-a-training-job-that-somebody-wrote-once-train-pgt-0-7cfffc5757"
READY = StartupPolicy.LEADER_READY


def provider(name: str) -> Provider:
    found = KNOWN.named(name)
    assert found is not None
    return found


def worker_of(name: str, gang: Gang) -> PodMetadata:
    return provider(name).pod_metadata(gang, gang.roles[-1])


def spec_of(name: str, gang: Gang) -> dict[str, Any]:
    (made,) = provider(name).group_objects(gang)
    spec: dict[str, Any] = made["spec"]
    return spec


@pytest.mark.parametrize("name", ["coscheduling", "koordinator", "yunikorn"])
def test_a_name_that_is_a_label_value_has_at_most_63_characters(name: str) -> None:
    gangs = [job_gang(name=f"{LONG}-{number}") for number in range(50)]
    values = {next(iter(worker_of(name, gang).labels.values())) for gang in gangs}
    assert len(values) == 50
    assert all(len(value) <= 63 for value in values)


@pytest.mark.parametrize("name", ["coscheduling", "koordinator"])
def test_label_and_object_have_the_same_name_however_long_it_is(name: str) -> None:
    for gang in (job_gang(name=LONG), replica(READY, name=LONG)):
        objects = {made["metadata"]["name"] for made in provider(name).group_objects(gang)}
        named = {next(iter(provider(name).pod_metadata(gang, role).labels.values())) for role in gang.roles}
        assert named == objects


def test_a_short_name_ends_in_a_hash_and_not_in_a_separator() -> None:
    assert short_name("x" * 63, 63) == "x" * 63
    cut = short_name("a" * 50 + "-." + "b" * 50, 63)
    assert cut.startswith("a" * 50 + "-")
    assert "." not in cut


def test_an_application_of_yunikorn_has_a_new_id_for_every_incarnation_and_namespace() -> None:
    """An id that has failed once never schedules again."""
    gangs = [job_gang(), job_gang(name="train-other-hash"), job_gang(namespace="b")]
    assert len({worker_of("yunikorn", gang).labels["yunikorn.apache.org/app-id"] for gang in gangs}) == 3


def test_every_pod_of_yunikorn_describes_all_task_groups_and_names_one_of_them() -> None:
    gang = replica(READY)
    for role in gang.roles:
        told = provider("yunikorn").pod_metadata(gang, role).annotations
        groups = json.loads(told["yunikorn.apache.org/task-groups"])
        assert [group["name"] for group in groups] == [LEADER, WORKER]
        assert told["yunikorn.apache.org/task-group-name"] in {LEADER, WORKER}


def test_a_minimum_below_the_size_is_what_yunikorn_holds_room_for() -> None:
    (group,) = json.loads(worker_of("yunikorn", job_gang(min_count=2)).annotations["yunikorn.apache.org/task-groups"])
    assert group["minMember"] == 2


def test_the_parameters_a_user_states_for_yunikorn_stand() -> None:
    key = "yunikorn.apache.org/schedulingPolicyParameters"
    stated = job_gang(annotations={key: "gangSchedulingStyle=Hard"}, timeout_seconds=30)
    assert worker_of("yunikorn", stated).annotations[key] == "gangSchedulingStyle=Hard"
    assert worker_of("yunikorn", job_gang(timeout_seconds=30)).annotations[key] == "placeholderTimeoutInSeconds=30"
    assert key not in worker_of("yunikorn", job_gang()).annotations


@pytest.mark.parametrize(
    ("name", "key", "kind"),
    [
        ("volcano", "scheduling.volcano.sh/queue-name", "annotations"),
        ("kai", "kai.scheduler/queue", "labels"),
    ],
)
def test_the_queue_of_the_user_is_the_queue_of_the_group(name: str, key: str, kind: str) -> None:
    assert spec_of(name, job_gang(**{kind: {key: "team-a"}}))["queue"] == "team-a"


def test_pods_of_kai_and_yunikorn_and_koordinator_carry_the_queue_of_their_owner() -> None:
    for name, key in (
        ("kai", "kai.scheduler/queue"),
        ("yunikorn", "yunikorn.apache.org/queue"),
        ("koordinator", "quota.scheduling.koordinator.sh/name"),
    ):
        assert worker_of(name, job_gang(annotations={key: "team-a"})).labels[key] == "team-a"


def test_settings_of_volcano_reach_its_group() -> None:
    (made,) = provider("volcano").group_objects(job_gang(annotations={"volcano.sh/sla-waiting-time": "1h", "x": "y"}))
    assert made["metadata"]["annotations"] == {
        "tutti.scheduler/managed-by": "tutti",
        "volcano.sh/sla-waiting-time": "1h",
    }


@pytest.mark.parametrize("name", ["coscheduling", "koordinator"])
def test_the_time_a_user_allows_is_the_groups(name: str) -> None:
    assert spec_of(name, job_gang(timeout_seconds=120))["scheduleTimeoutSeconds"] == 120
    assert "scheduleTimeoutSeconds" not in spec_of(name, job_gang())


def test_kai_waits_for_the_whole_group_once_the_leader_is_placed() -> None:
    assert spec_of("kai", replica(READY))["minMember"] == 1
    assert spec_of("kai", replica(READY, leader_is_placed=True))["minMember"] == 4


def test_pfnet_states_the_exact_size_and_caps_the_time() -> None:
    told = worker_of("pfnet", job_gang(timeout_seconds=600)).annotations
    assert told["gang-scheduling.preferred.jp/gang-schedule-timeout-seconds"] == "100"
    assert told["gang-scheduling.preferred.jp/gang-size"] == "4"


def test_the_prefix_of_pfnet_is_a_setting() -> None:
    gang = job_gang()
    assert set(Pfnet(prefix="example.com/g").pod_metadata(gang, gang.roles[0]).annotations) == {
        "example.com/g-name",
        "example.com/g-size",
    }


@pytest.mark.parametrize("size", [1, 2])
def test_a_single_worker_behind_its_leader_is_no_gang_for_pfnet(size: int) -> None:
    gang = replica(READY, min_count=size, roles=(Role(LEADER, 1), Role(WORKER, size - 1)))
    assert all(provider("pfnet").pod_metadata(gang, role) == PodMetadata() for role in gang.roles[:size])


@pytest.mark.parametrize("name", ["volcano", "coscheduling", "kai", "koordinator", "kube-scheduler"])
def test_a_replica_of_one_pod_has_nobody_to_wait_for(name: str) -> None:
    one = replica(READY, min_count=1, roles=(role_of(LEADER, 1, LEADER_SPEC), Role(WORKER, 0)))
    minima = [made["spec"]["minMember"] for made in provider(name).group_objects(one)]
    assert minima in ([], [1])


def test_the_resources_of_a_minimum_are_not_those_of_all() -> None:
    assert spec_of("volcano", job_gang(min_count=2))["minResources"]["nvidia.com/gpu"] == "16"
    assert spec_of("volcano", job_gang(min_count=2))["minMember"] == 2


def test_resources_read_as_people_write_them() -> None:
    gang = job_gang(min_count=1, roles=(role_of(WORKER, 1, {"containers": [container("1500m", "1500Mi")]}),))
    assert minimum_resources(gang) == {"cpu": "1500m", "memory": "1500Mi"}
    gang = job_gang(min_count=2, roles=(role_of(WORKER, 2, {"containers": [container("500m", "1000")]}),))
    assert minimum_resources(gang) == {"cpu": "1", "memory": "2000"}


def test_a_gang_without_requests_asks_for_nothing_but_itself() -> None:
    gang = job_gang(roles=(role_of(WORKER, 4, {"containers": [{"name": "c"}]}),), owner=None)
    assert spec_of("coscheduling", gang) == {"minMember": 4}
    assert "ownerReferences" not in provider("coscheduling").group_objects(gang)[0]["metadata"]


def test_pods_that_kueue_counts_carry_nothing_of_its_pod_groups() -> None:
    for gang in (job_gang(), replica(READY)):
        assert all(provider("kueue").pod_metadata(gang, role) == PodMetadata() for role in gang.roles)


def test_the_owner_decides_over_what_the_template_says() -> None:
    owner = OwnerReference(api_version="v1", kind="Pod", name="p", uid="u")
    gang = job_gang(owner=owner, labels={"k": "label"}, annotations={"k": "annotation"})
    assert gang.setting("k") == "label"
    assert gang.setting("absent") is None
