"""Volumes and claims: what is wrong with them, what may change, and what a scheduler and a volume controller write."""

from typing import Any

from tests.parity.scripts.objects import Object, of
from tests.parity.steps import Script, Step, delete, get, patch, post, quiet, table, watch

CLAIMS = "/api/v1/namespaces/{ns}/persistentvolumeclaims"
ONE = f"{CLAIMS}/one"
VOLUMES = "/api/v1/persistentvolumes"
VOLUME = f"{VOLUMES}/parity-volume"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
CHOSEN = "volume.kubernetes.io/selected-node"
PROTECTED: Object = {"metadata": {"finalizers": None}}
GROUP = "storage.k8s.io/v1"


def claim(name: str, **spec: Any) -> Object:
    """A claim of a class that nobody serves; None takes a field away."""
    usual = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "parity-none",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return of("v1", "PersistentVolumeClaim", name, spec=given(usual | spec))


def volume(name: str, **spec: Any) -> Object:
    """A volume of a driver that is not there."""
    usual = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "storageClassName": "parity-none",
        "csi": {"driver": "parity.example.org", "volumeHandle": "v1"},
    }
    return of("v1", "PersistentVolume", name, spec=given(usual | spec))


def given(spec: Object) -> Object:
    """The fields of a spec that are not taken away."""
    return {key: value for key, value in spec.items() if value is not None}


def asks(**amounts: str) -> Object:
    """What a claim asks for."""
    return {"requests": amounts}


def in_zone(zone: str) -> Object:
    """Nodes of one zone."""
    expression = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


BAD_CLAIMS: dict[str, Object] = {
    "no access mode": {"accessModes": []},
    "an unknown access mode": {"accessModes": ["WriteOnly"]},
    "one pod and others": {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]},
    "no size": {"resources": {}},
    "another amount": {"resources": asks(cpu="1")},
    "a size of zero": {"resources": asks(storage="0")},
    "a negative size": {"resources": asks(storage="-1Gi")},
    "a size that is none": {"resources": asks(storage="much")},
    "a size that is an object": {"resources": {"requests": {"storage": {}}}},
    "an unknown mode": {"volumeMode": "Stone"},
    "a bad class": {"storageClassName": "Not_A_Name"},
    "modes that are no list": {"accessModes": "ReadWriteOnce"},
    "a bad selector": {"selector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
    "a bad volume": {"volumeName": "Not_A_Name"},
}
BAD_VOLUMES: dict[str, Object] = {
    "no access mode": {"accessModes": None},
    "an unknown access mode": {"accessModes": ["WriteOnly"]},
    "no size": {"capacity": None},
    "another amount": {"capacity": {"cpu": "1"}},
    "a size of zero": {"capacity": {"storage": "0"}},
    "no source": {"csi": None},
    "two sources": {"hostPath": {"path": "/x"}},
    "an unknown policy": {"persistentVolumeReclaimPolicy": "Burn"},
    "an unknown mode": {"volumeMode": "Stone"},
    "a local one of no node": {"csi": None, "local": {"path": "/x"}},
    "an empty affinity": {"nodeAffinity": {}},
    "a bad class": {"storageClassName": "Not_A_Name"},
    "a driver without a handle": {"csi": {"driver": "parity.example.org"}},
    "a path that goes up": {"csi": None, "hostPath": {"path": "/x/../y"}},
}


def reference(uid: str = "${uid}") -> Object:
    """A claim that a volume is given to."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "{ns}",
        "name": "one",
        "uid": uid,
        "resourceVersion": "${version}",
    }


def _bad(noun: str, path: str, cases: dict[str, Object], make: Any) -> list[Step]:
    return [post(f"{noun} with {what}", path, make("bad", **spec)) for what, spec in cases.items()]


CLAIMS_SCRIPT = Script(
    "claims",
    [
        *_bad("a claim", CLAIMS, BAD_CLAIMS, claim),
        post("create", CLAIMS, claim("one")),
        quiet(
            patch(
                "without its guard", ONE, PROTECTED, keep={"uid": "metadata.uid", "version": "metadata.resourceVersion"}
            )
        ),
        table("it waits", ONE),
        patch(
            "choose a node as it was read",
            ONE,
            {"metadata": {"uid": "${uid}", "resourceVersion": "${version}", "annotations": {CHOSEN: "n1"}}},
        ),
        patch(
            "choose another node by the same version",
            ONE,
            {"metadata": {"uid": "${uid}", "resourceVersion": "${version}", "annotations": {CHOSEN: "n2"}}},
        ),
        patch("choose a node for another claim", ONE, {"metadata": {"uid": "other", "annotations": {CHOSEN: "n2"}}}),
        patch("take the choice back", ONE, {"metadata": {"annotations": {CHOSEN: None}}}),
        patch("ask for more before it is bound", ONE, {"spec": {"resources": asks(storage="2Gi")}}),
        patch("ask for another class", ONE, {"spec": {"storageClassName": "other"}}),
        patch("ask for other modes", ONE, {"spec": {"accessModes": ["ReadWriteMany"]}}),
        patch("name its volume", ONE, {"spec": {"volumeName": "v1"}, "metadata": {"annotations": {"a": "b"}}}),
        patch("name another volume", ONE, {"spec": {"volumeName": "v2"}}),
        patch(
            "bind it",
            f"{ONE}/status",
            {"status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}},
        ),
        patch("an unknown phase", f"{ONE}/status", {"status": {"phase": "Floating"}}, query={"dryRun": "All"}),
        patch("the status path leaves the spec alone", f"{ONE}/status", {"spec": {"volumeName": "v3"}}),
        patch("the main path leaves the status alone", ONE, {"status": {"phase": "Lost"}}),
        table("it is bound", CLAIMS, query={"fieldSelector": "metadata.name=one"}),
        patch("ask for more of a class that is not there", ONE, {"spec": {"resources": asks(storage="2Gi")}}),
        quiet(post("a class", CLASSES, of(GROUP, "StorageClass", "parity-none", provisioner="parity.example.org"))),
        patch("ask for more of a class that does not grow", ONE, {"spec": {"resources": asks(storage="2Gi")}}),
        quiet(patch("it grows", f"{CLASSES}/parity-none", {"allowVolumeExpansion": True})),
        quiet(
            patch(
                "try until it is known",
                ONE,
                {"spec": {"resources": asks(storage="2Gi")}},
                query={"dryRun": "All"},
                until=("kind", "PersistentVolumeClaim"),
            )
        ),
        patch("ask for more", ONE, {"spec": {"resources": asks(storage="2Gi")}}),
        patch("ask for less", ONE, {"spec": {"resources": asks(storage="1500Mi")}}),
        patch("ask for less than there is", ONE, {"spec": {"resources": asks(storage="512Mi")}}),
        get("bound ones", CLAIMS, query={"labelSelector": "nothing=here"}),
        delete("delete another", ONE, {"preconditions": {"uid": "other"}}),
        delete("delete", ONE, {"preconditions": {"uid": "${uid}"}, "propagationPolicy": "Background"}),
        watch("follow", CLAIMS, query={"resourceVersion": "${version}"}),
        quiet(delete("drop the class", f"{CLASSES}/parity-none")),
    ],
)
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}
CLASSES_SCRIPT = Script(
    "classes",
    [
        post("create without a provisioner", CLASSES, of(GROUP, "StorageClass", "parity-bad")),
        post(
            "create with an unknown policy",
            CLASSES,
            of(GROUP, "StorageClass", "parity-bad", provisioner="p", reclaimPolicy="Burn"),
        ),
        post(
            "create with an unknown mode",
            CLASSES,
            of(GROUP, "StorageClass", "parity-bad", provisioner="p", volumeBindingMode="Soon"),
        ),
        post(
            "create with a bad provisioner",
            CLASSES,
            of(GROUP, "StorageClass", "parity-bad", provisioner="Not/A/Name"),
        ),
        post(
            "create for later",
            CLASSES,
            of(
                GROUP,
                "StorageClass",
                "parity-later",
                provisioner="kubernetes.io/no-provisioner",
                volumeBindingMode="WaitForFirstConsumer",
                parameters={"type": "fast"},
                allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
            ),
        ),
        patch("change its parameters", f"{CLASSES}/parity-later", {"parameters": {"type": "slow"}}),
        patch("change its provisioner", f"{CLASSES}/parity-later", {"provisioner": "other"}),
        patch("change its policy", f"{CLASSES}/parity-later", {"reclaimPolicy": "Retain"}),
        patch("change its mode", f"{CLASSES}/parity-later", {"volumeBindingMode": "Immediate"}),
        quiet(
            post(
                "the default",
                CLASSES,
                {
                    **of(GROUP, "StorageClass", "parity-default", provisioner="p"),
                    "metadata": {"name": "parity-default", "annotations": DEFAULT},
                },
            )
        ),
        table("the default says so", f"{CLASSES}/parity-default"),
        quiet(
            post(
                "try until it is known",
                CLAIMS,
                claim("any", storageClassName=None),
                query={"dryRun": "All"},
                until=("spec.storageClassName", "parity-default"),
            )
        ),
        post("a claim without a class gets the default", CLAIMS, claim("any", storageClassName=None)),
        post("a claim of no class stays so", CLAIMS, claim("none", storageClassName="")),
        delete("drop the default", f"{CLASSES}/parity-default"),
        delete("drop the other", f"{CLASSES}/parity-later"),
    ],
)
VOLUMES_SCRIPT = Script(
    "volumes",
    [
        *_bad("a volume", VOLUMES, BAD_VOLUMES, volume),
        quiet(
            post("a claim", CLAIMS, claim("one"), keep={"uid": "metadata.uid", "version": "metadata.resourceVersion"})
        ),
        post("create", VOLUMES, volume("parity-volume", nodeAffinity=in_zone("a"))),
        quiet(
            patch(
                "without its guard",
                VOLUME,
                PROTECTED,
                keep={"volume": "metadata.uid", "at": "metadata.resourceVersion"},
            )
        ),
        table("it is new", VOLUME),
        patch(
            "available", f"{VOLUME}/status", {"status": {"phase": "Available"}}, keep={"at": "metadata.resourceVersion"}
        ),
        patch(
            "give it as it was read",
            VOLUME,
            {
                "metadata": {
                    "uid": "${volume}",
                    "resourceVersion": "${at}",
                    "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"},
                },
                "spec": {"claimRef": reference()},
            },
        ),
        patch(
            "give it again by the same version",
            VOLUME,
            {"metadata": {"uid": "${volume}", "resourceVersion": "${at}"}, "spec": {"claimRef": reference("other")}},
        ),
        patch("give another volume", VOLUME, {"metadata": {"uid": "other"}, "spec": {"claimRef": reference()}}),
        table("it is given", VOLUME),
        patch("bound", f"{VOLUME}/status", {"status": {"phase": "Bound"}}),
        patch("change its source", VOLUME, {"spec": {"csi": {"volumeHandle": "v2"}}}),
        patch("change its mode", VOLUME, {"spec": {"volumeMode": "Block"}}),
        patch("change its place", VOLUME, {"spec": {"nodeAffinity": in_zone("b")}}),
        patch("let it grow", VOLUME, {"spec": {"capacity": {"storage": "2Gi"}}}),
        patch("keep it afterwards", VOLUME, {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}),
        patch("take it back", VOLUME, {"spec": {"claimRef": None}}),
        patch(
            "failed",
            f"{VOLUME}/status",
            {"status": {"phase": "Failed", "reason": "Broken", "message": "It is broken."}},
        ),
        table("it has failed", VOLUME),
        *(
            step
            for name, spec in (
                ("local", {"csi": None, "local": {"path": "/x"}, "nodeAffinity": in_zone("a")}),
                ("path", {"csi": None, "hostPath": {"path": "/x"}}),
                ("nfs", {"csi": None, "nfs": {"server": "s", "path": "/x"}}),
                ("block", {"volumeMode": "Block", "accessModes": ["ReadWriteMany", "ReadOnlyMany"]}),
            )
            for step in (
                post(f"create {name}", VOLUMES, volume(f"parity-{name}", **spec)),
                quiet(patch(f"{name} without its guard", f"{VOLUMES}/parity-{name}", PROTECTED)),
                delete(f"delete {name}", f"{VOLUMES}/parity-{name}", {"propagationPolicy": "Background"}),
            )
        ),
        delete("delete a stale version", VOLUME, {"preconditions": {"uid": "${volume}", "resourceVersion": "${at}"}}),
        delete("delete", VOLUME, {"preconditions": {"uid": "${volume}"}, "propagationPolicy": "Background"}),
        get("it is gone", VOLUME),
        watch("follow", VOLUMES, query={"resourceVersion": "${at}", "fieldSelector": "metadata.name=parity-volume"}),
    ],
)
SCRIPTS = [CLAIMS_SCRIPT, CLASSES_SCRIPT, VOLUMES_SCRIPT]
