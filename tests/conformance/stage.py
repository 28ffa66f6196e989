"""The cluster of one placement case on a real control plane: bare nodes, on which nothing ever runs or changes."""

import secrets
from typing import Any

from tests.placement.case import HOSTNAME, Case, Running, named, own_names
from verify.clusters.client import Api, ApiError
from verify.clusters.eventually import eventually

Object = dict[str, Any]

DECIDED_SECONDS = 30
POLL_SECONDS = 0.01
ASKED = "asked"
"""The pod that schedulers are asked about."""
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PLURALS = {
    "CSIDriver": "csidrivers",
    "CSINode": "csinodes",
    "CSIStorageCapacity": "csistoragecapacities",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "StorageClass": "storageclasses",
    "VolumeAttachment": "volumeattachments",
}


class Stage:
    """Sets a case up and asks schedulers about it."""

    def __init__(self, api: Api, namespace: str, case: Case) -> None:
        self._api = api
        self._prefix = f"case-{secrets.token_hex(3)}"
        self._case = case
        self.namespace = namespace
        self.other = f"{self._prefix}-other"
        self._name = ASKED

    def set_up(self) -> None:
        if self._has_other:
            self._api.create("namespaces", {"metadata": {"name": self.other, "labels": {"team": "red"}}})
        for index, chosen in enumerate(self._case.services):
            body = {"metadata": {"name": f"service-{index}"}, "spec": {"selector": chosen, "ports": [{"port": 80}]}}
            self._api.create("services", body, self.namespace)
        for index in range(len(self._case.machines)):
            self._add_node(index)
        for manifest in self._case.objects:
            if not manifest.get("made"):
                self._add_object(self.own(manifest))
        for index, one in enumerate(self._case.running):
            self._add_pod(f"running-{index}", one)
        for manifest in self._case.objects:
            if not manifest.get("made") and "phase" in manifest.get("status", {}):
                self._await_phase(self.own(manifest))

    def tear_down(self) -> None:
        for namespace in (self.namespace, *([self.other] if self._has_other else [])):
            for pod in self._api.list("pods", namespace):
                self._api.delete("pods", pod["metadata"]["name"], namespace)
        for index in range(len(self._case.services)):
            self._api.delete("services", f"service-{index}", self.namespace)
        for manifest in self._case.objects:
            self._remove_object(self.own(manifest))
        for index in range(len(self._case.machines)):
            self._api.delete("nodes", self.node(index))
        if self._has_other:
            self._api.delete("namespaces", self.other)

    @property
    def _has_other(self) -> bool:
        return any(one.other for one in self._case.running)

    def node(self, index: int) -> str:
        return f"{self._prefix}-n{index}"

    def own(self, value: Any) -> Any:
        return own_names(value, lambda short: self.namespace if short == "namespace" else f"{self._prefix}-{short}")

    def answer(self, scheduler: str) -> str:
        """The node the case's pod got, or what it was told; the pod is gone afterwards."""
        case = self._case
        self._create(self._asked(), self.namespace, case.labels, case.spec, case, schedulerName=scheduler)
        found = eventually(self._decided, within_seconds=DECIDED_SECONDS, poll_seconds=POLL_SECONDS)
        # No kubelet has it, so it is gone at once, and schedulers see that before they see the next one.
        self._api.delete("pods", self._name, self.namespace)
        return str(found)

    def _asked(self) -> str:
        """A new name each time, unless the case counts on `asked`."""
        is_named = ASKED in f"{self._case.objects} {self._case.reasons}"
        self._name = ASKED if is_named else f"{ASKED}-{secrets.token_hex(3)}"
        return self._name

    def _decided(self) -> str:
        pod = self._api.get("pods", self._name, self.namespace)
        if pod["spec"].get("nodeName"):
            return str(pod["spec"]["nodeName"])
        told = [one for one in pod["status"].get("conditions", []) if one["type"] == "PodScheduled"]
        if told and "waiting for ephemeral volume controller" not in told[0]["message"]:
            return str(told[0]["message"])
        if not self._case.delays:
            return ""
        claim = self._api.get("persistentvolumeclaims", "c", self.namespace)
        return str(claim["metadata"].get("annotations", {}).get(SELECTED_NODE, ""))

    # --- objects -----------------------------------------------------------------------------------------------------

    def _add_node(self, index: int) -> None:
        machine = self._case.machines[index]
        name = self.node(index)
        amounts = {"cpu": str(machine.cpu), "memory": f"{machine.memory}Gi", "pods": str(machine.pods), **machine.more}
        self._api.create(
            "nodes",
            {
                "metadata": {"name": name, "labels": {HOSTNAME: name, **machine.labels}},
                "spec": {"taints": list(machine.taints), "unschedulable": machine.is_cordoned},
                "status": {
                    "capacity": amounts,
                    "allocatable": amounts,
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "images": [{"names": [image], "sizeBytes": size * 2**20} for image, size in machine.images],
                    "declaredFeatures": list(machine.features),
                },
            },
        )

    def _add_object(self, manifest: Object) -> None:
        meta = dict(manifest["metadata"])
        is_going = meta.pop("deletionTimestamp", None) is not None
        body = {key: value for key, value in manifest.items() if key not in {"status", "apiVersion", "kind"}}
        plural, namespace = self._place(manifest)
        self._api.create(plural, {**body, "metadata": {**meta, **self._namespaced(namespace)}}, namespace)
        if is_going:
            self._api.delete(plural, meta["name"], namespace)

    def _await_phase(self, manifest: Object) -> None:
        plural, namespace = self._place(manifest)
        name, wanted = manifest["metadata"]["name"], manifest["status"]["phase"]
        eventually(
            lambda: self._api.get(plural, name, namespace)["status"].get("phase") == wanted,
            within_seconds=DECIDED_SECONDS,
            poll_seconds=POLL_SECONDS,
        )

    def _remove_object(self, manifest: Object) -> None:
        plural, namespace = self._place(manifest)
        name = manifest["metadata"]["name"]
        self._api.delete(plural, name, namespace)
        if not plural.startswith("persistentvolume"):
            return
        try:
            self._api.patch(plural, name, {"metadata": {"finalizers": None}}, namespace)
        except ApiError as error:
            if error.status != 404:
                raise

    def _place(self, manifest: Object) -> tuple[str, str | None]:
        plural = PLURALS[manifest["kind"]]
        is_namespaced = plural in {"persistentvolumeclaims", "csistoragecapacities"}
        return plural, self.namespace if is_namespaced else None

    def _namespaced(self, namespace: str | None) -> dict[str, str]:
        return {"namespace": namespace} if namespace else {}

    def _add_pod(self, name: str, one: Running) -> None:
        namespace = self.other if one.other else self.namespace
        self._create(name, namespace, one.labels, one.spec, one, nodeName=self.node(one.at))

    def _create(
        self, name: str, namespace: str, labels: dict[str, str], spec: Object, asks: Case | Running, **more: Any
    ) -> None:
        spec = self.own(named(spec, self.other))
        containers = spec.pop("containers", [{"name": "main", "image": "registry.example/none:1"}])
        requests = {**({"cpu": str(asks.cpu)} if asks.cpu else {}), **asks.requests}
        if requests:
            limits = {name: amount for name, amount in requests.items() if "/" in name}
            containers[0]["resources"] = {"requests": requests, **({"limits": limits} if limits else {})}
        for number, volume in enumerate(spec.get("volumes", ())):
            if "persistentVolumeClaim" in volume or "ephemeral" in volume:
                mount = {"name": volume["name"], "mountPath": f"/v{number}"}
                containers[0].setdefault("volumeMounts", []).append(mount)
        body = {"containers": containers, "terminationGracePeriodSeconds": 0, **spec, **more}
        self._api.create("pods", {"metadata": {"name": name, "labels": labels}, "spec": body}, namespace)
