"""A whole scheduler at work on a fake API server with storage."""

import time
from collections.abc import Callable
from typing import Any

from api.constants import BIND_COMPLETED, CONDITION_POD_SCHEDULED
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import gang, node, pod

Object = dict[str, Any]


class Stored(Cluster):
    """A cluster with volumes; the test is the controller that binds them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock=clock)
        self.api.put(
            "storageclasses",
            {"metadata": {"name": "sc"}, "provisioner": "d", "volumeBindingMode": "WaitForFirstConsumer"},
        )

    def add_node(self, name: str) -> None:
        self.api.put("nodes", {**node(name), "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})

    def add_volume(self, name: str, on: str) -> None:
        here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}
        spec = {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "sc",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        }
        self.api.put("persistentvolumes", {"metadata": {"name": name}, "spec": spec, "status": {"phase": "Available"}})

    def add_claim(self, name: str, *, modes: str = "ReadWriteOnce") -> None:
        asks = {"requests": {"storage": "5Gi"}}
        spec = {"accessModes": [modes], "storageClassName": "sc", "resources": asks}
        metadata = {"namespace": "ns", "name": name}
        self.api.put("persistentvolumeclaims", {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}})

    def add_pod(self, name: str, claim: str, group: str = "") -> None:
        made = pod(name, group=group, owned=bool(group))
        made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
        self.api.put("pods", made)

    def add_gang_with_volumes(self, size: int) -> None:
        """As many nodes, volumes and claims as members."""
        self.api.put("podgroups", gang("g", size))
        for number in range(size):
            self.add_node(f"n{number}")
            self.add_volume(f"pv{number}", f"n{number}")
            self.add_claim(f"c{number}")
            self.add_pod(f"g-{number}", f"c{number}", group="g")

    def volume(self, name: str) -> Object:
        return self.api.peek("persistentvolumes", "", name)

    def claim(self, name: str) -> Object:
        return self.api.peek("persistentvolumeclaims", "ns", name)

    def given(self) -> dict[str, str]:
        """Claims by the volume that says it is theirs."""
        names = self.api.names("persistentvolumes")
        found = ((name, self.volume(name)["spec"].get("claimRef")) for name in names)
        return {reference["name"]: name for name, reference in found if reference}

    def waits_for(self, name: str, what: str) -> bool:
        """Whether a pod says that it waits for this."""
        return what in self.api.condition("pods", "ns", name, CONDITION_POD_SCHEDULED).get("message", "")

    def bind(self, claim: str, volume: str) -> None:
        """What the volume controller does about a volume that was given to a claim."""
        found = self.claim(claim)
        found["spec"]["volumeName"] = volume
        found["metadata"].setdefault("annotations", {})[BIND_COMPLETED] = "yes"
        found["status"] = {"phase": "Bound"}
        self.api.put("persistentvolumeclaims", found)

    def make(self, claim: str, on: str) -> None:
        """What a provisioner and the volume controller do about a claim with a chosen node."""
        self.add_volume(f"made-for-{claim}", on)
        made = self.volume(f"made-for-{claim}")
        made["spec"]["claimRef"] = {"namespace": "ns", "name": claim, "uid": self.claim(claim)["metadata"]["uid"]}
        self.api.put("persistentvolumes", {**made, "status": {"phase": "Bound"}})
        self.bind(claim, f"made-for-{claim}")
