"""Objects about storage for the cases of VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone.

Names that start with `@` belong to the case: `@n0` is its first node, and volumes, classes and drivers get a name of their own
in every run, because they are shared by all namespaces.
"""

from typing import Any

from tests.placement.case import HOSTNAME, Case, Machine, Object, Running, Spec

MANUAL = "kubernetes.io/no-provisioner"
TWO = (Machine(), Machine())
THREE = (Machine(), Machine(), Machine())


def storage_class(name: str = "@sc", *, provisioner: str = MANUAL, waits: bool = True, **more: Any) -> Object:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        "reclaimPolicy": "Retain",
        **more,
    }


def allowed(key: str, *values: str) -> Object:
    return {"allowedTopologies": [{"matchLabelExpressions": [{"key": key, "values": list(values)}]}]}


def volume(name: str = "@pv", *, on: tuple[int, ...] | None = None, phase: str = "Available", **more: Any) -> Object:
    """`more`: `size` (GiB), `storage_class`, `labels`, `modes`, `csi` (driver and handle), `affinity`, `claim`, `spec`."""
    source = (
        {"csi": {"driver": more["csi"][0], "volumeHandle": more["csi"][1]}}
        if "csi" in more
        else {"local" if more.get("is_local") else "hostPath": {"path": "/tmp/none"}}
    )
    spec = {
        "capacity": {"storage": f"{more.get('size', 10)}Gi"},
        "accessModes": list(more.get("modes", ["ReadWriteOnce"])),
        "storageClassName": more.get("storage_class", "@sc"),
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
        **source,
        **more.get("spec", {}),
    }
    if on is not None:
        spec["nodeAffinity"] = affinity(HOSTNAME, *(f"@n{index}" for index in on))
    if "affinity" in more:
        spec["nodeAffinity"] = affinity(*more["affinity"])
    if "claim" in more:
        spec["claimRef"] = {"namespace": "@namespace", "name": more["claim"]}
    labels = more.get("labels", {})
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"phase": phase},
    }


def affinity(key: str, *values: str) -> Object:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    return {"required": {"nodeSelectorTerms": [term]}}


def claim(name: str = "c", *, size: int = 5, phase: str = "Pending", **more: Any) -> Object:
    """`more`: `storage_class`, `volume`, `modes`, `selector`, `annotations`, `spec`, `owner`, `going`."""
    spec = {
        "accessModes": list(more.get("modes", ["ReadWriteOnce"])),
        "resources": {"requests": {"storage": f"{size}Gi"}},
        "storageClassName": more.get("storage_class", "@sc"),
        **({"volumeName": more["volume"]} if "volume" in more else {}),
        **({"selector": {"matchLabels": more["selector"]}} if "selector" in more else {}),
        **more.get("spec", {}),
    }
    metadata: Object = {"name": name, "annotations": more.get("annotations", {})}
    if more.get("going"):
        metadata |= {"finalizers": ["example.com/hold"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    if "owner" in more:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": more["owner"], "uid": f"uid-of-{more['owner']}"}
        metadata["ownerReferences"] = [{**owner, "controller": True}]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }


def bound(name: str = "c", to: str = "@pv", **more: Any) -> tuple[Object, Object]:
    """A claim with its volume; `more` is about the volume, but for `modes`, which both have."""
    modes = more.get("modes", ["ReadWriteOnce"])
    sc = more.get("storage_class", "@sc")
    asks = claim(name, volume=to, modes=modes, storage_class=sc, phase="Bound")
    return volume(to, claim=name, phase="Bound", **more), asks


def driver(name: str, **spec: Any) -> Object:
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}, "spec": spec}


def csi_node(index: int, **counts: int | None) -> Object:
    """The drivers of a node (`d` stands for `@d.example`), each with how many volumes it can have."""
    drivers = [
        {
            "name": f"@{name}.example",
            "nodeID": "x",
            "topologyKeys": None,
            **({"allocatable": {"count": count}} if count is not None else {}),
        }
        for name, count in counts.items()
    ]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": f"@n{index}"},
        "spec": {"drivers": drivers},
    }


def capacity(name: str, size: int | None, node: int | None, **more: Any) -> Object:
    labels = {"matchLabels": {HOSTNAME: f"@n{node}"}} if node is not None else None
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "@namespace"},
        "storageClassName": "@sc",
        **({"capacity": f"{size}Gi"} if size is not None else {}),
        **({"nodeTopology": labels} if labels is not None else {}),
        **more,
    }


def mounts(*claims: str) -> Spec:
    return {
        "volumes": [
            {"name": f"v{number}", "persistentVolumeClaim": {"claimName": name}} for number, name in enumerate(claims)
        ]
    }


def inline(**source: Any) -> Spec:
    return {"volumes": [{"name": "v", **source}]}


def stored_case(
    name: str,
    machines: tuple[Machine, ...],
    objects: tuple[Object, ...],
    spec: Spec,
    node: int | None,
    reasons: str = "",
    running: tuple[Running, ...] = (),
    **more: Any,
) -> Case:
    return Case(name, machines, running, {}, spec, node, reasons, objects=objects, **more)


D = "@d.example"
"""A driver."""
SC = storage_class()
"""A class whose volumes are made by people."""
DYNAMIC = storage_class(provisioner=D)
"""A class whose volumes the driver makes."""
