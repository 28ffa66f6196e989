"""Volumes, claims, storage classes and what drivers tell: the messages are those of a real 1.37 server."""

from typing import Any

import pytest

from tests.localcluster.apiserver.rest import MERGE, Rest

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
STORAGE = "/apis/storage.k8s.io/v1"
CLASSES = f"{STORAGE}/storageclasses"
IMMUTABLE = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"

Object = dict[str, Any]


def claim(**spec: Any) -> Object:
    usual = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": "o"}, "spec": usual | spec}


def volume(**spec: Any) -> Object:
    usual = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}}
    return {
        "metadata": {"name": "o"},
        "spec": {key: value for key, value in (usual | spec).items() if value is not None},
    }


def storage_class(**fields: Any) -> Object:
    return {"metadata": {"name": "o"}, "provisioner": "p", **fields}


def csi_node(*drivers: Object) -> Object:
    return {"metadata": {"name": "o"}, "spec": {"drivers": list(drivers)}}


async def test_a_new_claim_waits_and_is_for_a_file_system(rest: Rest) -> None:
    made = await rest.create(CLAIMS, claim())
    assert (made["status"], made["spec"]["volumeMode"]) == ({"phase": "Pending"}, "Filesystem")


async def test_a_new_volume_is_kept_and_waits_for_a_controller(rest: Rest) -> None:
    made = await rest.create(VOLUMES, volume())
    assert (made["status"]["phase"], made["spec"]["persistentVolumeReclaimPolicy"]) == ("Pending", "Retain")
    assert made["status"]["lastPhaseTransitionTime"] == made["metadata"]["creationTimestamp"]


async def test_a_class_binds_at_once_and_its_volumes_go_unless_it_says_otherwise(rest: Rest) -> None:
    made = await rest.create(CLASSES, storage_class())
    assert (made["volumeBindingMode"], made["reclaimPolicy"]) == ("Immediate", "Delete")


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        (CLAIMS, claim(accessModes=[]), "spec.accessModes: Required value: at least 1 access mode is required"),
        (
            CLAIMS,
            claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]),
            "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        ),
        (CLAIMS, claim(resources={}), "spec.resources[storage]: Required value"),
        (
            CLAIMS,
            claim(resources={"requests": {"storage": "0"}}),
            'spec.resources[storage]: Invalid value: "0": must be greater than zero',
        ),
        (
            CLAIMS,
            claim(volumeMode="Odd"),
            'spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"',
        ),
        (VOLUMES, volume(hostPath=None), "spec: Required value: must specify a volume type"),
        (VOLUMES, volume(nfs={"server": "s", "path": "/p"}), "may not specify more than 1 volume type"),
        (
            VOLUMES,
            volume(hostPath=None, local={"path": "/x"}),
            "spec.nodeAffinity: Required value: Local volume requires node affinity",
        ),
        (
            VOLUMES,
            volume(capacity={}),
            '[spec.capacity: Required value, spec.capacity: Unsupported value: null: supported values: "storage"]',
        ),
        (
            VOLUMES,
            volume(persistentVolumeReclaimPolicy="Odd"),
            'Unsupported value: "Odd": supported values: "Delete", "Recycle", "Retain"',
        ),
        (CLASSES, {"metadata": {"name": "o"}}, "provisioner: Required value"),
        (
            CLASSES,
            storage_class(volumeBindingMode="Odd"),
            'Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"',
        ),
        (f"{STORAGE}/csinodes", csi_node({"name": "d", "nodeID": ""}), "spec.drivers[0].nodeID: Required value"),
        (
            f"{STORAGE}/csinodes",
            csi_node({"name": "d", "nodeID": "x"}, {"name": "d", "nodeID": "x"}),
            'spec.drivers[1].name: Duplicate value: "d"',
        ),
        (f"{STORAGE}/namespaces/default/csistoragecapacities", {"metadata": {"name": "o"}}, "storageClassName"),
        (
            f"{STORAGE}/volumeattachments",
            {"metadata": {"name": "o"}, "spec": {"attacher": "a", "nodeName": "n", "source": {}}},
            "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
        ),
    ],
)
async def test_what_cannot_be_is_refused(rest: Rest, path: str, body: Object, message: str) -> None:
    answer = await rest.ask("POST", path, body)
    assert answer.code == 422
    assert message in answer.body["message"]


@pytest.mark.parametrize("body", [claim(resources={"requests": {"storage": "much"}})])
async def test_a_size_that_is_none_is_a_bad_request(rest: Rest, body: Object) -> None:
    answer = await rest.ask("POST", CLAIMS, body)
    assert (answer.code, "quantities must match" in answer.body["message"]) == (400, True)


async def test_a_claim_gets_its_volume_once_and_grows_only_when_bound(rest: Rest) -> None:
    await rest.create(CLASSES, storage_class(allowVolumeExpansion=True))
    await rest.create(CLAIMS, claim(storageClassName="o"))
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    refused = await rest.patch(f"{CLAIMS}/o", larger, MERGE)
    assert (refused.code, IMMUTABLE in refused.body["message"]) == (422, True)
    assert (await rest.patch(f"{CLAIMS}/o", {"spec": {"volumeName": "v"}}, MERGE)).code == 200
    assert (await rest.patch(f"{CLAIMS}/o", {"spec": {"volumeName": "w"}}, MERGE)).code == 422
    assert (await rest.patch(f"{CLAIMS}/o/status", {"status": {"phase": "Bound"}}, MERGE)).code == 200
    assert (await rest.patch(f"{CLAIMS}/o", larger, MERGE)).code == 200


async def test_a_claim_of_a_class_that_does_not_grow_stays_as_it_is(rest: Rest) -> None:
    await rest.create(CLASSES, storage_class())
    await rest.create(CLAIMS, claim(storageClassName="o"))
    assert (await rest.patch(f"{CLAIMS}/o/status", {"status": {"phase": "Bound"}}, MERGE)).code == 200
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    refused = await rest.patch(f"{CLAIMS}/o", larger, MERGE)
    assert (refused.code, "storageclass that provisions the pvc must support resize" in refused.body["message"]) == (
        403,
        True,
    )


@pytest.mark.parametrize("asked", [None, "", "other"])
async def test_only_a_claim_that_names_no_class_gets_the_default_one(rest: Rest, asked: str | None) -> None:
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    await rest.create(CLASSES, {**storage_class(), "metadata": {"name": "usual", "annotations": marked}})
    made = await rest.create(CLAIMS, claim() if asked is None else claim(storageClassName=asked))
    assert made["spec"]["storageClassName"] == ("usual" if asked is None else asked)


async def test_a_volume_keeps_its_source_and_may_be_given_away(rest: Rest) -> None:
    await rest.create(VOLUMES, volume())
    refused = await rest.patch(f"{VOLUMES}/o", {"spec": {"hostPath": {"path": "/y"}}}, MERGE)
    assert "spec.persistentvolumesource is immutable after creation" in refused.body["message"]
    given = await rest.patch(f"{VOLUMES}/o", {"spec": {"claimRef": {"namespace": "a", "name": "b"}}}, MERGE)
    assert given.code == 200


@pytest.mark.parametrize("change", [{"provisioner": "q"}, {"volumeBindingMode": "WaitForFirstConsumer"}])
async def test_a_class_never_changes(rest: Rest, change: Object) -> None:
    await rest.create(CLASSES, storage_class())
    answer = await rest.patch(f"{CLASSES}/o", change, MERGE)
    assert answer.body["message"].endswith(f"{next(iter(change))}: Invalid value: null: field is immutable")


async def test_a_driver_says_what_it_needs(rest: Rest) -> None:
    made = await rest.create(f"{STORAGE}/csidrivers", {"metadata": {"name": "o"}, "spec": {}})
    spec = made["spec"]
    assert (spec["attachRequired"], spec["storageCapacity"], spec["volumeLifecycleModes"]) == (
        True,
        False,
        ["Persistent"],
    )
