"""A scheduler's view of a small cluster with devices, and what it decides."""

from typing import Any

from api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.record_factory import class_record
from scheduler.cache.records import EntityKey
from tests.devices.build import Json, claim, device_class, request
from tests.devices.upstream import typed
from tests.scheduler.core import build

NAMESPACE = build.NAMESPACE


class Cluster:
    """State with nodes, devices, claims and pods; names are enough to speak of them."""

    def __init__(self, *, is_followed: bool = True) -> None:
        self.state = ClusterState(frozenset({"tutti"}))
        self.state.devices.is_followed = is_followed
        self.device_class(device_class("gpu"))

    def node(self, name: str, *, cpu: int = 16, labels: dict[str, str] | None = None) -> None:
        self.state.upsert_node(build.node(name, cpu=cpu, labels=labels))

    def offer(self, *slices: Json) -> None:
        for one in slices:
            name = one["metadata"]["name"]
            self.state.devices.set_slice(name, self.state.devices.slim_slice(typed(one, ResourceSlice)))

    def withdraw(self, name: str) -> None:
        self.state.devices.set_slice(name, None)

    def device_class(self, manifest: Json) -> None:
        self.state.devices.set_class(manifest["metadata"]["name"], class_record(typed(manifest, DeviceClass)))

    def rule(self, name: str, spec: Json | None) -> None:
        manifest = None if spec is None else typed({"metadata": {"name": name}, "spec": spec}, DeviceTaintRule)
        self.state.devices.set_rule(name, manifest)

    def claim(self, manifest: Json, *, owner: str = "", **metadata: Any) -> None:
        """A ResourceClaim; `owner` is the UID of the pod it was made for."""
        meta = {**manifest["metadata"], "namespace": NAMESPACE, **metadata}
        if owner:
            meta["ownerReferences"] = [
                {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": owner, "controller": True}
            ]
        record = self.state.devices.slim_claim(typed({**manifest, "metadata": meta}, ResourceClaim))
        self.state.devices.set_claim((NAMESPACE, meta["name"]), record)

    def gang(
        self,
        name: str,
        pods: int,
        *templates: Json,
        named: tuple[str, ...] = (),
        cpu: int | str = 1,
        need: int | None = None,
        **more: Any,
    ) -> EntityKey:
        """A gang; each pod has a claim of its own from each template (a claim's manifest), and uses the `named` ones."""
        priority = more.get("priority")
        self.state.upsert_group(build.group(name, pods if need is None else need, priority=priority))
        for number in range(pods):
            self.member(f"{name}-{number}", name, *templates, named=named, cpu=cpu, **more)
        return build.group_key(name)

    def member(
        self, name: str, group: str, *templates: Json, named: tuple[str, ...] = (), cpu: int | str = 1, **more: Any
    ) -> None:
        """One pod of a group."""
        entries = [{"name": f"named-{number}", "resourceClaimName": one} for number, one in enumerate(named)]
        statuses = []
        for number, template in enumerate(templates):
            entries.append({"name": f"own-{number}", "resourceClaimTemplateName": template["metadata"]["name"]})
            made = f"{name}-own-{number}"
            statuses.append({"name": f"own-{number}", "resourceClaimName": made})
            self.claim({**template, "metadata": {"name": made, "uid": f"uid-of-{made}"}}, owner=f"uid-of-{name}")
        spec = {"resourceClaims": entries, **more.pop("spec", {})}
        self.state.upsert_pod(build.pod(name, cpu=cpu, group=group, spec=spec, claim_statuses=statuses, **more))

    def runs(self, name: str, node: str, *devices: str, group: str = "", claim_name: str = "", **more: Any) -> None:
        """A pod on a node with a claim of its own that has these devices (`slice/device`, as the pool is named)."""
        named = claim_name or f"{name}-own"
        entry = {"name": "own", "resourceClaimName": named}
        self.holds(named, node, *devices, users=(name,))
        spec = {"resourceClaims": [entry], **more.pop("spec", {})}
        self.state.upsert_pod(build.pod(name, group=group, on=node, spec=spec, **more))

    def holds(
        self,
        name: str,
        node: str,
        *devices: str,
        users: tuple[str, ...] = (),
        groups: tuple[str, ...] = (),
        **more: Any,
    ) -> None:
        """A claim that has these devices of a node, reserved for these pods and groups."""
        results = []
        for one in devices:
            pool, _, device = one.partition("/")
            results.append({"request": "r", "driver": "d", "pool": pool, "device": device})
        fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
        allocation: Json = {"devices": {"results": results}}
        if node:
            allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": fields}]}
        reserved = [{"resource": "pods", "name": user, "uid": f"uid-of-{user}"} for user in users]
        for group in groups:
            consumer = {
                "apiGroup": "scheduling.k8s.io",
                "resource": "podgroups",
                "name": group,
                "uid": f"uid-of-{group}",
            }
            reserved.append(consumer)
        status = {"allocation": allocation, "reservedFor": reserved}
        self.claim(claim(name, request("r", len(devices)), status=status), **more)

    def free(self, name: str) -> set[str]:
        """The controller takes the devices off a claim; UIDs of the pods that hear of it."""
        return self.state.devices.set_claim((NAMESPACE, name), None)

    def gone(self, name: str) -> None:
        """A pod is gone; its claims are as they were."""
        self.state.remove_pod(NAMESPACE, name, f"uid-of-{name}")

    def decide(self, key: EntityKey) -> Decision:
        return decide(self.state, key)


def gpu_template(count: int = 1, *selectors: str, **more: Any) -> Json:
    """A template for so many devices of class gpu."""
    return claim("t", request("r", count, *selectors), **more)


def places(decision: Decision) -> dict[str, str]:
    """Pods with their nodes."""
    return {uid.removeprefix("uid-of-"): node for uid, node in decision.bindings}


def given(decision: Decision) -> dict[str, list[str]]:
    """Claims with the devices they get, as `node/device`."""
    return {
        one.claim[1]: [f"{one.node_name}/{chosen.device.id.device}" for chosen in one.chosen]
        for one in decision.devices
    }
