"""LeaderWorkerSets that start as a whole (annotation `scope: set`): one CompositePodGroup over the groups of all replicas."""

import copy
from typing import Any

import msgspec
import pytest

from api.compile_replica import composite_for_set
from api.constants import LWS_GROUP_INDEX, MANAGED, PARENT_COMPOSITE, POD_GROUP, SCOPE
from api.lws import LeaderWorkerSet
from api.meta import Metadata
from api.podgroup import PodGroup
from api.replica import group_name_of, replica_intent
from kube.client.errors import Invalid
from kube.client.resources import LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from kube.groups.group_api import BUILT_IN, OWN, OWN_COMPOSITES
from tests.controllers.fake_cluster import refuse
from tests.localcluster.leaderworkersets.records import Record, parameters
from tests.lws.builders import Object, leader, lws, stateful_set, typed, worker_set
from tests.lws.test_admission import admit, request
from tests.lws.world import SelectingCluster, World, groups_of
from tests.scheduler.core.world import World as Scheduling
from webhooks.admission.config import AdmissionConfig
from webhooks.leaderworkerset import default_leader_worker_set

WHOLE = {SCOPE: "set"}
STARTED = {"conditions": [{"type": "CompositePodGroupInitiallyScheduled", "status": "True", "reason": "Scheduled"}]}


def cluster(*, leaders: int = 2, **more: Any) -> SelectingCluster:
    made = SelectingCluster()
    made.put(LEADER_WORKER_SETS, lws(annotations=WHOLE, **more))
    made.put(STATEFUL_SETS, stateful_set())
    for index in range(leaders):
        made.put(PODS, leader(index))
        made.put(STATEFUL_SETS, worker_set(index))
    return made


def composite(world: World) -> Object:
    (found,) = world.cluster.all(OWN_COMPOSITES)
    return found


def minimum(world: World) -> int:
    return int(composite(world)["spec"]["schedulingPolicy"]["gang"]["minGroupCount"])


async def test_the_groups_of_all_replicas_get_one_parent_that_needs_them_all() -> None:
    world = World(cluster())
    await world.settle()
    name = composite(world)["metadata"]["name"]
    assert name.startswith("serve-set-")
    assert minimum(world) == 2
    assert [group["spec"]["parentCompositePodGroupName"] for group in groups_of(world.cluster).values()] == [name, name]
    (owner,) = composite(world)["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("LeaderWorkerSet", "set-uid", True)
    workload = world.cluster.all(OWN.workloads)[0]["metadata"]["name"]
    assert composite(world)["spec"]["workloadRef"]["workloadName"] == workload


async def test_without_the_annotation_there_is_no_parent() -> None:
    made = cluster()
    made.put(LEADER_WORKER_SETS, lws())
    world = World(made)
    await world.settle()
    assert made.all(OWN_COMPOSITES) == []
    assert all("parentCompositePodGroupName" not in group["spec"] for group in groups_of(made).values())


@pytest.mark.parametrize("replicas", [1, 4])
async def test_until_the_set_has_started_its_minimum_follows_the_replicas(replicas: int) -> None:
    world = World(cluster())
    await world.settle()
    world.cluster.put(LEADER_WORKER_SETS, lws(annotations=WHOLE, replicas=replicas))
    await world.settle()
    assert minimum(world) == replicas


@pytest.mark.parametrize(("replicas", "wanted"), [(4, 2), (1, 1)])
async def test_once_it_has_started_more_replicas_join_one_by_one_and_fewer_are_fewer(
    replicas: int, wanted: int
) -> None:
    world = World(cluster())
    await world.settle()
    world.cluster.put(OWN_COMPOSITES, {**copy.deepcopy(composite(world)), "status": STARTED})
    world.cluster.put(LEADER_WORKER_SETS, lws(annotations=WHOLE, replicas=replicas))
    await world.settle()
    assert minimum(world) == wanted


async def test_where_the_minimum_is_for_good_the_user_is_told_once() -> None:
    world = World(cluster())
    await world.settle()
    refuse(Invalid(422, "Invalid", "field is immutable"), verb="patch", plural="compositepodgroups")(world.cluster)
    world.cluster.put(LEADER_WORKER_SETS, lws(annotations=WHOLE, replicas=3))
    await world.settle()
    await world.once()
    assert minimum(world) == 2
    (told,) = (note for reason, note in world.events.told if reason == "InvalidGangSettings")
    assert told.startswith("2 replicas start together, as when it was created")


async def test_at_rest_nothing_is_written() -> None:
    world = World(cluster())
    await world.settle()
    writes = world.cluster.writes
    await world.once()
    assert world.cluster.writes == writes


async def test_a_set_whose_replicas_have_groups_already_does_not_become_whole() -> None:
    made = cluster()
    made.put(LEADER_WORKER_SETS, lws())
    world = World(made)
    await world.settle()
    made.put(LEADER_WORKER_SETS, lws(annotations=WHOLE, replicas=3))
    made.put(PODS, leader(2))
    await world.settle()
    assert made.all(OWN_COMPOSITES) == []
    assert all("parentCompositePodGroupName" not in group["spec"] for group in groups_of(made).values())


async def test_on_a_server_without_composites_the_set_waits_and_says_so() -> None:
    world = World(cluster(), composites=None)
    await world.settle()
    assert groups_of(world.cluster) == {}
    ((_, note),) = world.events.told
    assert note.endswith("the server has no CompositePodGroups")


def test_where_the_field_is_dropped_an_annotation_names_the_parent() -> None:
    made = typed(lws(annotations=WHOLE))
    group = PodGroup(metadata=Metadata(name="g", annotations={PARENT_COMPOSITE: "tree"}))
    assert group.parent == "tree"
    intent = replica_intent(made)
    assert not hasattr(intent, "reason")
    manifest = composite_for_set(made, intent, "w", api_version=OWN_COMPOSITES.api_version)
    assert manifest["apiVersion"] == "tutti.scheduler/v1beta1"
    assert BUILT_IN.pod_groups.group != OWN_COMPOSITES.group


def test_how_long_a_set_waits_is_said_at_the_root_which_waits_for_all() -> None:
    made = typed(lws(annotations={**WHOLE, "tutti.scheduler/scheduling-timeout": "10m"}))
    intent = replica_intent(made)
    assert not hasattr(intent, "reason")
    manifest = composite_for_set(made, intent, "w", api_version=OWN_COMPOSITES.api_version)
    assert manifest["metadata"]["annotations"] == {
        "tutti.scheduler/managed-by": "tutti",
        "tutti.scheduler/scheduling-timeout": "10m",
    }


# --- admission ---------------------------------------------------------------------------------------------------------


def refusal(new: Object, old: Object | None = None, rules: AdmissionConfig | None = None) -> str:
    from tests.lws.test_admission import RULES

    response = default_leader_worker_set(request(new, old), rules or RULES)
    assert not response.allowed
    return response.message


def test_a_set_that_starts_as_a_whole_is_admitted() -> None:
    assert admit(lws(managed=None, annotations=WHOLE))["metadata"]["annotations"][SCOPE] == "set"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"annotations": {SCOPE: "everything"}}, "'everything' is not one of replica, set"),
        ({"annotations": {**WHOLE, "tutti.scheduler/policy": "basic"}}, "only as gangs"),
        ({"annotations": WHOLE, "startup": "LeaderReady"}, "created only once their leader runs"),
        (
            {"annotations": {**WHOLE, "leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"}},
            "created only once their leader runs",
        ),
        ({"annotations": {**WHOLE, "tutti.scheduler/provider": "volcano"}}, "provider embedded only"),
    ],
)
def test_a_scope_that_cannot_be_kept_is_refused(more: dict[str, Any], said: str) -> None:
    message = refusal(lws(managed=None, **more))
    assert said in message
    assert f"metadata.annotations[{SCOPE}]" in message


def test_the_scope_of_a_set_that_exists_cannot_be_changed() -> None:
    assert "cannot be changed" in refusal(lws(annotations=WHOLE, size=5), lws(size=5))
    assert "cannot be changed" in refusal(lws(size=5), lws(annotations=WHOLE, size=5))


# --- recorded objects --------------------------------------------------------------------------------------------------

WHOLE_RECORDS = ("lws-rollout-strategy", "lws-sglang", "lws-vllm-gpu", "lws-vllm-tpu", "lws-volume-claim-templates")


def taken_in(record: Record) -> tuple[SelectingCluster, LeaderWorkerSet]:
    """The recorded objects as they would be with our admission, and the scope."""
    made = SelectingCluster()
    recorded = copy.deepcopy(record.content["lws"][0])
    recorded["metadata"].setdefault("annotations", {})[SCOPE] = "set"
    for name in ("leaderTemplate", "workerTemplate"):
        template = recorded["spec"]["leaderWorkerTemplate"].get(name)
        if template is not None:
            template.setdefault("metadata", {}).setdefault("labels", {})[MANAGED] = "embedded"
    made.put(LEADER_WORKER_SETS, recorded)
    leaders = next(each for each in record.content["sts"] if each["metadata"]["name"] == record.set_name)
    made.put(STATEFUL_SETS, leaders)
    for index in range(recorded["spec"]["replicas"]):
        pod = copy.deepcopy(record.content["leader"][0])
        pod["metadata"]["name"], pod["metadata"]["uid"] = f"{record.set_name}-{index}", f"leader-{index}-uid"
        pod["metadata"]["labels"] |= {MANAGED: "embedded", LWS_GROUP_INDEX: str(index)}
        metadata = msgspec.convert(pod["metadata"], Metadata)
        pod["metadata"].setdefault("annotations", {})[POD_GROUP] = group_name_of(metadata, "token")
        made.put(PODS, pod)
    return made, msgspec.convert(recorded, LeaderWorkerSet)


@pytest.mark.parametrize("record", parameters(*WHOLE_RECORDS))
async def test_of_a_recorded_set_all_replicas_start_or_none(record: Record) -> None:
    made, recorded = taken_in(record)
    world = World(made)
    world.look()
    await world.reconcile((recorded.metadata.namespace, recorded.metadata.name))
    world.look()
    await world.reconcile((recorded.metadata.namespace, recorded.metadata.name))
    assert minimum(world) == recorded.replicas
    groups = made.all(OWN.pod_groups)
    assert len(groups) == recorded.replicas

    scheduling = Scheduling()
    pods = recorded.replicas * recorded.size
    scheduling.node("n1", cpu=pods - 1)
    tree = composite(world)
    scheduling.composite(tree["metadata"]["name"], minimum(world))
    for group in groups:
        need = group["spec"]["schedulingPolicy"]["gang"]["minCount"]
        assert need == recorded.size
        scheduling.group(group["metadata"]["name"], need, parent=group["spec"]["parentCompositePodGroupName"])
        scheduling.pods(group["metadata"]["name"], need)
    scheduling.run()
    assert scheduling.bound() == {}
    scheduling.node("n2", cpu=1)
    scheduling.run()
    assert len(scheduling.bound()) == pods
