"""`fit` says yes exactly when submitting the same would start it, on the same nodes, in the place of the same pods."""

from collections import Counter
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.constants import MIN_COUNT, POLICY, TOPOLOGY
from api.devices import ResourceClaimTemplate
from api.errors import ConfigurationError
from explain.admitted import Refused
from explain.device_changes import release_claims_of
from explain.fit import FitAnswer, add_nodes, fit
from explain.manifests import read_manifests
from explain.reasons import Reason
from explain.submitted import Submitter
from providers.selection import standard_providers
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from tests.devices.build import claim, device_class, request
from tests.devices.upstream import typed
from tests.explain.scene_devices import follow_devices, offered
from tests.explain.scenes import CLASSES, NOW_SECONDS, Scene
from tests.explain.test_generated_gangs import scenes
from tests.scheduler.core import build
from tests.scheduler.core.world import World
from webhooks.admission.config import AdmissionConfig

CASES = 200


def asked(
    state: ClusterState,
    text: str,
    *,
    evicts: bool = False,
    nodes: int = 0,
    like: str = "",
    templates: tuple[ResourceClaimTemplate, ...] = (),
) -> FitAnswer:
    classes = tuple(state.classes)
    config = AdmissionConfig(standard_providers(), classes=lambda: classes)
    submission = Submitter(config, classes, NOW_SECONDS, templates).submit(read_manifests(text, build.NAMESPACE))
    if nodes:
        add_nodes(state, nodes, like)
    return fit(state, submission, NOW_SECONDS, evicts=evicts)


def job(name: str, size: int, *, cpu: str = "1", **more: Any) -> dict[str, Any]:
    """A gang Job; `more`: `annotations`, `labels`, `spec` (of its pods), `requests`, `ports`, `completion_mode`."""
    container: dict[str, Any] = {"name": "main", "image": "i"}
    container["resources"] = {"requests": more.get("requests", {"cpu": cpu})}
    if "ports" in more:
        container["ports"] = more["ports"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "annotations": more.get("annotations", {})},
        "spec": {
            "parallelism": size,
            "completions": size,
            "completionMode": more.get("completion_mode", "Indexed"),
            "template": {
                "metadata": {"labels": more.get("labels", {})},
                "spec": {"restartPolicy": "Never", "containers": [container], **more.get("spec", {})},
            },
        },
    }


def as_job(scene: Scene) -> str:
    annotations = {MIN_COUNT: str(scene.need), POLICY: "gang"}
    if "topology" in scene.group:
        annotations[TOPOLOGY] = scene.group["topology"]
    spec = dict(scene.pod.get("spec", {}))
    name = next((name for name, value in CLASSES.items() if value == scene.priority), None)
    if name is not None:
        spec["priorityClassName"] = name
    more: dict[str, Any] = {key: scene.pod[key] for key in ("requests", "labels", "ports") if key in scene.pod}
    devices = scene.pod.get("devices", 0)
    if not devices:
        return yaml.safe_dump(job("wanting", scene.size, annotations=annotations, spec=spec, **more))
    spec["resourceClaims"] = [{"name": "device", "resourceClaimTemplateName": "some"}]
    made = job("wanting", scene.size, annotations=annotations, spec=spec, **more)
    return yaml.safe_dump_all([made, template("some", devices)])


def template(name: str, count: int = 1) -> dict[str, Any]:
    spec = claim("any", request("r", count))["spec"]
    return {"kind": "ResourceClaimTemplate", "metadata": {"name": name}, "spec": {"spec": spec}}


def submitted(scene: Scene, *, evicts: bool) -> tuple[Counter[str], set[str]] | None:
    """What the scheduler makes of it: pods by node and who left; None when it does not start."""
    world = scene.world()
    decision = decide(world.state, scene.key)
    left: set[str] = set()
    if decision.result == "unschedulable" and evicts:
        found = Evaluator(world.state, PreemptionLimits()).preempt(scene.key, world.now).candidate
        if found is not None:
            left = {pod.name for pod in found.pods}
            release_claims_of(world.state.devices, found.pods)
            for pod in found.pods:
                world.apply(world.state.remove_pod(pod.namespace, pod.name, pod.uid))
            decision = decide(world.state, scene.key)
    if decision.result != "scheduled":
        return None
    return Counter(node for _, node in decision.bindings), left


@given(scenes(), st.booleans())
@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
def test_it_says_yes_when_submitting_it_would_start_it_on_the_same_nodes(scene: Scene, evicts: bool) -> None:
    scene.exists = None
    scene.pod.pop("gates", None)
    scene.pod.pop("claim", None)
    expected = submitted(scene, evicts=evicts)
    empty = Scene(**{**scene.__dict__, "has_group": False, "exists": 0})
    state = empty.world().state
    if "devices" in scene.pod:
        follow_devices(state)
    before = {pod.name for pod in state.assigned_pods.pods if pod is not None}
    answer = asked(state, as_job(scene), evicts=evicts)
    (found,) = answer.items
    assert found.fits == (expected is not None), found
    if expected is not None:
        nodes, left = expected
        assert Counter({share.node: share.pods for share in found.nodes}) == nodes
        assert before - {pod.name for pod in state.assigned_pods.pods if pod is not None} == left
        assert bool(found.evicts) == bool(left)
    else:
        assert found.answer is not None
        assert answer.exit_code in {3, 4}


def _world(nodes: int, cpu: int = 4) -> World:
    world = World()
    for number in range(nodes):
        world.node(f"n{number}", cpu=cpu, labels={"topology.kubernetes.io/zone": "ab"[number % 2]})
    return world


def test_documents_are_decided_in_order_each_seeing_the_earlier_ones() -> None:
    text = yaml.safe_dump_all([job("one", 2, cpu="3"), job("two", 2, cpu="3"), job("three", 2)])
    found = asked(_world(2).state, text)
    assert [(one.name, one.fits) for one in found.items] == [("job/one", True), ("job/two", False), ("job/three", True)]
    assert found.exit_code == 3
    assert {share.domain for share in found.items[0].nodes} == {"a", "b"}


def test_made_up_nodes_are_added_first() -> None:
    text = yaml.safe_dump(job("one", 4, cpu="3"))
    assert not asked(_world(2).state, text).items[0].fits
    assert asked(_world(2).state, text, nodes=2, like="n1").items[0].fits
    with pytest.raises(ConfigurationError, match="no node of that name"):
        asked(_world(2).state, text, nodes=2, like="n7")


def test_what_never_fits_has_another_exit_code_than_what_waits() -> None:
    assert asked(_world(2).state, yaml.safe_dump(job("one", 2, cpu="5"))).exit_code == 4
    assert asked(_world(2).state, yaml.safe_dump(job("one", 1, cpu="1", completion_mode="NonIndexed"))).exit_code == 3


def test_what_admission_refuses_is_a_mistake_of_who_wrote_it() -> None:
    with pytest.raises(Refused, match="Job one: "):
        asked(_world(2).state, yaml.safe_dump(job("one", 2, annotations={MIN_COUNT: "7"})))
    with pytest.raises(Refused, match="no PriorityClass"):
        asked(_world(2).state, yaml.safe_dump(job("one", 2, spec={"priorityClassName": "none"})))
    with pytest.raises(ConfigurationError, match="no kind"):
        asked(_world(2).state, "just text")


def test_pods_of_a_group_are_one_item_wherever_they_stand_in_the_file() -> None:
    group = {
        "apiVersion": "tutti.scheduler/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
    }
    spec = {"schedulerName": "tutti", "containers": [{"resources": {"requests": {"cpu": "3"}}}]}
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": f"p{number}", "annotations": {"tutti.scheduler/pod-group": "g"}},
            "spec": spec,
        }
        for number in range(2)
    ]
    service = {"kind": "Service", "metadata": {"name": "s"}}
    found = asked(_world(2).state, yaml.safe_dump_all([pods[0], group, service, pods[1]]))
    assert [(one.name, one.fits, len(one.nodes)) for one in found.items] == [("podgroup/g", True, 2)]
    assert found.ignored == ("Service",)


def test_each_replica_of_a_leader_worker_set_is_an_item() -> None:
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}}
    lws = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "serve"},
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": template}},
    }
    found = asked(_world(4).state, yaml.safe_dump(lws))
    assert [(one.name, one.fits) for one in found.items] == [
        ("lws/serve replica 0", True),
        ("lws/serve replica 1", False),
    ]


def test_a_job_that_is_no_gang_is_not_ours_to_place() -> None:
    (found,) = asked(_world(2).state, yaml.safe_dump(job("one", 1))).items
    assert not found.fits
    assert "default-scheduler" in found.note


def _devices(nodes: int, devices: int) -> World:
    world = World()
    for number in range(nodes):
        world.node(f"n{number}", cpu=64, **offered(world.state, f"n{number}", {"devices": devices}))
    return world


def _claiming(name: str, size: int, *, template: str = "", named: str = "") -> dict[str, Any]:
    source = {"resourceClaimTemplateName": template} if template else {"resourceClaimName": named}
    return job(name, size, spec={"resourceClaims": [{"name": "gpu", **source}]})


def test_devices_that_an_earlier_document_gets_are_gone_for_the_later_ones() -> None:
    documents = [
        template("one"),
        _claiming("first", 4, template="one"),
        _claiming("second", 3, template="one"),
        _claiming("third", 2, template="one"),
    ]
    found = asked(_devices(2, 3).state, yaml.safe_dump_all(documents))
    assert [one.fits for one in found.items] == [True, False, True]
    assert found.ignored == ()
    refused = found.items[1].answer
    assert refused is not None
    assert refused.reason is Reason.DEVICES
    assert found.exit_code == 3


def test_a_claim_that_pods_share_is_in_the_file() -> None:
    shared = {"kind": "ResourceClaim", "metadata": {"name": "all"}, "spec": claim("all", request("r", 3))["spec"]}
    found = asked(_devices(3, 3).state, yaml.safe_dump_all([shared, _claiming("sharing", 5, named="all")]))
    (item,) = found.items
    assert item.fits
    assert [share.pods for share in item.nodes] == [5]


def test_a_template_of_the_cluster_is_used_and_a_missing_one_is_named() -> None:
    text = yaml.safe_dump(_claiming("first", 2, template="one"))
    of_cluster = typed(
        {**template("one"), "metadata": {"name": "one", "namespace": build.NAMESPACE}}, ResourceClaimTemplate
    )
    (item,) = asked(_devices(1, 2).state, text, templates=(of_cluster,)).items
    assert item.fits
    (item,) = asked(_devices(1, 2).state, text).items
    assert item.note == "no ResourceClaimTemplate one is in the file, or known of the cluster"
    assert item.answer is not None
    assert item.answer.reason is Reason.CLAIMS
    assert item.answer.exit_code == 3


def test_a_device_class_of_the_file_is_used() -> None:
    large = device_class("large", 'device.driver == "d"')
    asks = claim("any", request("r", 1, class_name="large"))["spec"]
    documents = [
        {"kind": "DeviceClass", **large},
        {"kind": "ResourceClaimTemplate", "metadata": {"name": "one"}, "spec": {"spec": asks}},
        _claiming("first", 2, template="one"),
    ]
    assert asked(_devices(1, 2).state, yaml.safe_dump_all(documents)).items[0].fits
    assert not asked(_devices(1, 2).state, yaml.safe_dump_all(documents[1:])).items[0].fits


def test_made_up_nodes_have_the_devices_of_the_one_they_are_like() -> None:
    text = yaml.safe_dump_all([template("one"), _claiming("first", 6, template="one")])
    assert not asked(_devices(1, 2).state, text).items[0].fits
    (item,) = asked(_devices(1, 2).state, text, nodes=2, like="n0").items
    assert item.fits
    assert [share.pods for share in item.nodes] == [2, 2, 2]


def test_where_nothing_is_known_of_devices_that_is_said() -> None:
    state = _devices(1, 2).state
    state.devices.is_followed, state.devices.is_unknown = False, True
    (item,) = asked(state, yaml.safe_dump_all([template("one"), _claiming("first", 2, template="one")])).items
    assert item.answer is not None
    assert (item.answer.reason, item.answer.exit_code) == (Reason.DEVICES, 3)
    assert "nothing is known of devices" in item.answer.message
