"""What the stand-in for the volume binder and for provisioners does next."""

from typing import Any, TypeVar

import msgspec
import pytest

from api.pod import Pod
from api.storage import Claim, StorageClass, Volume
from localcluster.controllers.volumes.steps import Step, claim_step, ephemeral_claims, volume_step

Object = dict[str, Any]

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


T = TypeVar("T")


def _decoded(fields: Object, kind: type[T]) -> T:
    return msgspec.json.decode(msgspec.json.encode(fields), type=kind)


def claim(*, annotations: dict[str, str] | None = None, phase: str = "Pending", **spec: Any) -> Claim:
    usual = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "5Gi"}},
        "storageClassName": "sc",
    }
    meta = {"name": "c", "namespace": "ns", "uid": "claim-uid", "annotations": annotations or {}}
    return _decoded({"metadata": meta, "spec": usual | spec, "status": {"phase": phase}}, Claim)


def volume(
    name: str = "v", *, size: int = 10, phase: str = "Available", owner: str | None = None, **spec: Any
) -> Volume:
    usual: Object = {"capacity": {"storage": f"{size}Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "sc"}
    if owner is not None:
        usual["claimRef"] = {"namespace": "ns", "name": "c", "uid": owner}
    meta: Object = {"name": name, "uid": f"uid-of-{name}"}
    if "made_by" in spec:
        meta["annotations"] = {"pv.kubernetes.io/provisioned-by": spec.pop("made_by")}
    return _decoded({"metadata": meta, "spec": usual | spec, "status": {"phase": phase}}, Volume)


def storage_class(*, waits: bool = True, provisioner: str = "disks") -> StorageClass:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    fields = {"metadata": {"name": "sc"}, "provisioner": provisioner, "volumeBindingMode": mode}
    return _decoded(fields, StorageClass)


def step(found: Step | None) -> Step:
    assert found is not None
    return found


def test_a_claim_that_waits_for_its_pod_is_left_alone() -> None:
    assert claim_step(claim(), [volume()], storage_class()) is None


def test_a_claim_that_does_not_wait_gets_the_smallest_volume_that_fits() -> None:
    volumes = [volume("large", size=50), volume("fits", size=6), volume("small", size=1)]
    found = step(claim_step(claim(), volumes, storage_class(waits=False)))
    assert (found.name, found.body["spec"]["claimRef"]["uid"]) == ("fits", "claim-uid")


@pytest.mark.parametrize(
    "other",
    [
        volume(storageClassName="other"),
        volume(accessModes=["ReadOnlyMany"]),
        volume(volumeMode="Block"),
        volume(phase="Released"),
        volume(owner="somebody-else"),
    ],
)
def test_a_volume_that_does_not_suit_is_not_taken(other: Volume) -> None:
    assert claim_step(claim(), [other], storage_class(waits=False, provisioner="kubernetes.io/no-provisioner")) is None


def test_a_claim_takes_the_volume_that_the_scheduler_gave_it() -> None:
    found = step(claim_step(claim(), [volume(owner="claim-uid")], storage_class()))
    assert (found.name, found.body["spec"], found.body["metadata"]["annotations"]) == ("c", {"volumeName": "v"}, BOUND)


def test_a_volume_that_a_person_reserved_is_given_to_its_claim_at_once() -> None:
    found = step(claim_step(claim(), [volume(owner="")], storage_class()))
    assert (found.name, found.body["spec"]["claimRef"]["uid"]) == ("v", "claim-uid")


def test_a_bound_claim_says_how_large_its_volume_is() -> None:
    found = step(claim_step(claim(annotations=BOUND, volumeName="v"), [volume(owner="claim-uid")], storage_class()))
    assert found.body["status"] == {
        "phase": "Bound",
        "capacity": {"storage": "10Gi"},
        "accessModes": ["ReadWriteOnce"],
    }


def test_a_bound_claim_whose_volume_is_gone_is_lost() -> None:
    found = step(claim_step(claim(annotations=BOUND, volumeName="v", phase="Bound"), [], storage_class()))
    assert found.body["status"]["phase"] == "Lost"


def test_a_volume_is_made_on_the_node_that_the_scheduler_chose() -> None:
    chosen = claim(annotations={"volume.kubernetes.io/selected-node": "n1"})
    found = step(claim_step(chosen, [], storage_class()))
    assert found.creates
    (term,) = found.body["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["n1"]
    assert found.body["spec"]["claimRef"]["uid"] == "claim-uid"


def test_a_volume_for_many_nodes_is_made_everywhere() -> None:
    chosen = claim(annotations={"volume.kubernetes.io/selected-node": "n1"}, accessModes=["ReadWriteMany"])
    assert "nodeAffinity" not in step(claim_step(chosen, [], storage_class())).body["spec"]


@pytest.mark.parametrize(
    ("given", "owner", "phase"),
    [
        (volume(phase="Pending"), None, "Available"),
        (volume(owner="claim-uid"), claim(), "Bound"),
        (volume(owner="claim-uid", phase="Bound"), None, "Released"),
        (volume(owner="predecessor", phase="Bound"), claim(), "Released"),
    ],
)
def test_a_volume_says_whether_somebody_has_it(given: Volume, owner: Claim | None, phase: str) -> None:
    assert step(volume_step(given, owner)).body["status"]["phase"] == phase


def test_a_volume_that_was_made_goes_with_its_claim_and_others_stay() -> None:
    made = volume(owner="gone", phase="Released", made_by="disks")
    assert step(volume_step(made, None)).deletes
    assert volume_step(volume(owner="gone", phase="Released"), None) is None


def test_a_pod_with_an_ephemeral_volume_gets_a_claim_that_goes_with_it() -> None:
    spec = {
        "volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "sc"}}}}]
    }
    meta = {"name": "p", "namespace": "ns", "uid": "pod-uid"}
    pod = msgspec.json.decode(msgspec.json.encode({"metadata": meta, "spec": spec}), type=Pod)
    (found,) = ephemeral_claims(pod)
    owner = found.body["metadata"]["ownerReferences"][0]
    assert (found.name, owner["uid"], owner["controller"]) == ("p-scratch", "pod-uid", True)
    assert found.body["spec"] == {"storageClassName": "sc"}
