"""Devices for tests: classes, slices, claims and pods that use them, with names of their own in the whole cluster.

Tests speak of nodes `n1`, `n2` …, of the driver and class `gpu`; here these become names that no other test has. In the text of
selectors and in the names of attributes `{driver}` stands for the driver.
"""

import secrets
from collections.abc import Iterable
from typing import Any

from api.constants import REASON_WAITING_FOR_CLAIMS
from verify.clusters.client import Api, ApiError
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import condition_entry, indexed_job

Object = dict[str, Any]

FINALIZER = "resource.kubernetes.io/delete-protection"
SICK = {"key": "sick", "value": "yes", "effect": "NoSchedule"}
TOLERATES_SICK = {"key": "sick", "operator": "Exists"}
OURS, STOCK = "tutti", "default-scheduler"


def own(template: str) -> Object:
    """Each pod has a claim of its own from this template."""
    return {"resourceClaimTemplateName": template}


def named(claim: str) -> Object:
    """Pods use this claim."""
    return {"resourceClaimName": claim}


def device(name: str, *, taints: Iterable[Object] = (), **attributes: str | int | bool) -> Object:
    """A device with attributes of its driver."""
    found = {key: {_kind(value): value} for key, value in attributes.items()}
    return {"name": name, "attributes": found, **({"taints": list(taints)} if taints else {})}


def with_claims(spec: Object, claims: Iterable[Object]) -> Object:
    """The pod's spec, whose first container uses these claims in this order."""
    entries = [{"name": f"claim-{number}", **one} for number, one in enumerate(claims)]
    spec["resourceClaims"] = entries
    spec["containers"][0].setdefault("resources", {})["claims"] = [{"name": one["name"]} for one in entries]
    return spec


class Devices:
    """What one test has of drivers, classes, slices and claims; `remove` takes away what is in no namespace."""

    def __init__(self, api: Api, namespace: str, nodes: HollowNodes) -> None:
        self.api = api
        self.namespace = namespace
        self.prefix = f"d{secrets.token_hex(3)}"
        self.nodes: dict[str, str] = {}
        """Their real names by those of the test."""
        self._hollow = nodes
        self._made: list[tuple[str, str]] = []

    # --- the cluster -------------------------------------------------------------------------------------------------

    def driver(self, short: str = "gpu") -> str:
        """A driver's name."""
        return f"{short}.{self.prefix}.example.com"

    def cluster_name(self, short: str) -> str:
        """Of a class, slice or rule."""
        return f"{self.prefix}-{short}"

    @property
    def extended_resource(self) -> str:
        """An extended resource of this test, which a class may back."""
        return f"{self.prefix}.example.com/acc"

    def add_node(self, short: str, *, cpu: str = "16", **settings: Any) -> str:
        """A node, its real name; its label `short` is the name the test has for it."""
        (self.nodes[short],) = self._hollow.add(1, cpu=cpu, labels={"short": short}, **settings)
        return self.nodes[short]

    def add_class(self, short: str = "gpu", *selectors: str, **spec: Any) -> None:
        """A class; of all devices of the driver of its name when no selectors are given."""
        texts = selectors or ('device.driver == "{driver}"',)
        chosen = [{"cel": {"expression": self._own(text, short)}} for text in texts]
        self._create(
            "deviceclasses", {"metadata": {"name": self.cluster_name(short)}, "spec": {"selectors": chosen, **spec}}
        )

    def offer(
        self,
        pool: str,
        *devices: Object | str,
        node: str | None = None,
        driver: str = "gpu",
        generation: int = 1,
        slices: int = 1,
        number: int = 0,
        **spec: Any,
    ) -> None:
        """A slice of a pool with these devices: on the node of the pool's name unless it says another or (`spec`) where.

        Args:
            pool: its name.
            devices: their names, or whole.
            node: where they are, when the pool is not called like the node.
            driver: whose.
            generation: of the pool.
            slices: how many the pool has.
            number: which of these it is.
            spec: more of it.
        """
        where: Object = (
            {}
            if spec.keys() & {"nodeSelector", "allNodes", "perDeviceNodeSelection"}
            else {"nodeName": self.nodes[node or pool]}
        )
        whole = [device(one) if isinstance(one, str) else one for one in devices]
        body = {
            "driver": self.driver(driver),
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": slices},
            **({"devices": whole} if whole else {}),
            **where,
            **spec,
        }
        name = self.cluster_name(f"{driver}-{pool}-{generation}-{number}")
        self._create("resourceslices", {"metadata": {"name": name}, "spec": body})

    def taint(self, rule: str, *, pool: str) -> None:
        """A DeviceTaintRule for all devices of a pool."""
        selector = {"driver": self.driver(), "pool": pool}
        spec = {"deviceSelector": selector, "taint": SICK}
        self._create("devicetaintrules", {"metadata": {"name": self.cluster_name(rule)}, "spec": spec})

    def base(self, *, more_on_n2: str = "16") -> None:
        """Three nodes with the class `gpu`: two devices on n1, three on n2 (the third is sick), none on n3; template `t`."""
        for short, cpu in (("n1", "16"), ("n2", more_on_n2), ("n3", "16")):
            self.add_node(short, cpu=cpu)
        self.offer_base()

    def offer_base(self) -> None:
        """The devices of `base` on nodes that exist."""
        self.add_class()
        self.offer("n1", device("g0", numa=0, model="a100"), device("g1", numa=1, model="a100"))
        healthy = [device(name, numa=0, model="a100") for name in ("g0", "g1")]
        self.offer("n2", *healthy, device("g2", numa=0, model="h100", taints=[SICK]))
        self.template("t", self.request())

    # --- claims ------------------------------------------------------------------------------------------------------

    def request(self, name: str = "r", count: int = 1, *selectors: str, of: str = "gpu", **fields: Any) -> Object:
        """A request for so many devices of a class."""
        exactly = {"deviceClassName": self.cluster_name(of), "allocationMode": "ExactCount", **fields}
        if exactly["allocationMode"] == "ExactCount":
            exactly["count"] = count
        if selectors:
            exactly["selectors"] = [{"cel": {"expression": self._own(text, of)}} for text in selectors]
        return {"name": name, "exactly": exactly}

    def first_of(self, name: str, *requests: Object) -> Object:
        """A request for the first of these that can be had."""
        return {"name": name, "firstAvailable": [{"name": one["name"], **one["exactly"]} for one in requests]}

    def spec(self, *requests: Object, constraints: Iterable[Object] = ()) -> Object:
        """What a claim says."""
        own = [
            {key: self._own(value) if isinstance(value, str) else value for key, value in one.items()}
            for one in constraints
        ]
        return {"devices": {"requests": list(requests), "constraints": own}}

    def template(self, name: str, *requests: Object, **more: Any) -> None:
        """A ResourceClaimTemplate."""
        manifest = {"metadata": {"name": name}, "spec": {"spec": self.spec(*requests, **more)}}
        self.api.create("resourceclaimtemplates", manifest, self.namespace)

    def claim(self, name: str, *requests: Object, owner: Object | None = None, **more: Any) -> Object:
        """A ResourceClaim; for one device unless it says what."""
        owners = {"ownerReferences": [owner]} if owner else {}
        body = {"metadata": {"name": name, **owners}, "spec": self.spec(*(requests or (self.request(),)), **more)}
        return self.api.create("resourceclaims", body, self.namespace)

    def allocate(self, claim: str, node: str, device_name: str) -> None:
        """Gives a device to a claim by hand, as another scheduler would."""
        selector = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [self.nodes[node]]}]}
        result = {"request": "r", "driver": self.driver(), "pool": node, "device": device_name}
        allocation = {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": [selector]},
            "allocationTimestamp": "2026-01-01T00:00:00Z",
        }
        finalizers = {"metadata": {"finalizers": [FINALIZER]}}
        self.api.patch("resourceclaims", claim, finalizers, self.namespace)
        path = self.api.path("resourceclaims", self.namespace, claim) + "/status"
        self.api.request("PATCH", path, {"status": {"allocation": allocation}}, kind="merge")

    def claims(self) -> list[Object]:
        """All of the namespace."""
        return self.api.list("resourceclaims", self.namespace)

    def get(self, claim: str) -> Object:
        """A claim by name."""
        return self.api.get("resourceclaims", claim, self.namespace)

    def given(self) -> list[str]:
        """The devices that claims of the namespace have, as pool/device."""
        return sorted(each for claim in self.claims() for each in devices_of(claim))

    def of_pod(self, name: str, entry: str = "claim-0") -> Object:
        """The claim that a pod uses under this entry."""
        pod = self.api.get("pods", name, self.namespace)
        (use,) = [one for one in pod["spec"]["resourceClaims"] if one["name"] == entry]
        if "resourceClaimName" in use:
            return self.get(use["resourceClaimName"])
        (told,) = [one for one in pod["status"]["resourceClaimStatuses"] if one["name"] == entry]
        return self.get(told["resourceClaimName"])

    # --- pods --------------------------------------------------------------------------------------------------------

    def gang(
        self, name: str, count: int, *claims: Object, cpu: str = "100m", priority: str = "", acc: int = 0, **more: Any
    ) -> Object:
        """An Indexed Job whose pods use these claims, created; `priority` is the name of a class, `acc` as for `pod`."""
        job = indexed_job(name, count, cpu=cpu, **more)
        spec = self._asking(with_claims(job["spec"]["template"]["spec"], claims), acc)
        if priority:
            spec["priorityClassName"] = priority
        return self.api.create("jobs", job, self.namespace)

    def pod(
        self,
        name: str,
        *claims: Object,
        scheduler: str = OURS,
        cpu: str = "100m",
        on: str = "",
        acc: int = 0,
        **more: Any,
    ) -> Object:
        """A pod without a gang, created.

        Args:
            name: its name.
            claims: what it uses.
            scheduler: who places it.
            cpu: what it asks for.
            on: the only node it may go to.
            acc: so many of the extended resource of this test.
            more: of its spec.
        """
        template = indexed_job(name, 1, cpu=cpu)["spec"]["template"]
        spec = self._asking(with_claims(template["spec"], claims), acc)
        spec["nodeSelector"] = {"short": on} if on else {}
        body = {"metadata": {"name": name}, "spec": {"schedulerName": scheduler, **spec, **more}}
        return self.api.create("pods", body, self.namespace)

    def _asking(self, spec: Object, acc: int) -> Object:
        """The spec, whose first container asks for so many of the extended resource."""
        if acc:
            resources = spec["containers"][0]["resources"]
            resources["requests"][self.extended_resource] = str(acc)
            resources["limits"] = {self.extended_resource: str(acc)}
        return spec

    def places(self, prefix: str = "") -> dict[str, str]:
        """Pods of the namespace that have a node, with the name that the test has for it."""
        shorts = {real: short for short, real in self.nodes.items()}
        found = {}
        for pod in self.api.list("pods", self.namespace):
            name, node = pod["metadata"]["name"], pod["spec"].get("nodeName")
            if node and name.startswith(prefix):
                found[name] = shorts[node]
        return found

    def place(self, pod: str) -> str:
        """The node of a pod; empty while it has none."""
        return self.places(pod).get(pod, "")

    def told(self, pod: str) -> str:
        """Why a pod has no node, as its condition says it; empty when it says nothing."""
        return refusal_of(self.api.get("pods", pod, self.namespace))

    # --- the end -----------------------------------------------------------------------------------------------------

    def withdraw(self, kind: str, short: str) -> None:
        """Deletes a class, slice or rule now."""
        self.api.delete(kind, self.cluster_name(short))

    def remove(self) -> None:
        """Takes away what is in no namespace; what is made from then on has other names."""
        for kind, name in reversed(self._made):
            self.api.delete(kind, name)
        self._made.clear()
        self.prefix = f"d{secrets.token_hex(3)}"

    def free_claims(self) -> None:
        """Takes away claims that a test has put there or left behind, whose pods are gone."""
        for claim in self.claims():
            name = claim["metadata"]["name"]
            self.api.delete("resourceclaims", name, self.namespace)
            try:
                self.api.patch("resourceclaims", name, {"metadata": {"finalizers": None}}, self.namespace)
            except ApiError as error:
                if error.status != 404:
                    raise

    def _create(self, kind: str, body: Object) -> None:
        self.api.create(kind, body)
        self._made.append((kind, body["metadata"]["name"]))

    def _own(self, text: str, of: str = "gpu") -> str:
        return text.replace("{driver}", self.driver(of))


def devices_of(claim: Object) -> list[str]:
    """What a claim has, as pool/device."""
    allocation = claim.get("status", {}).get("allocation") or {}
    return [f"{one['pool']}/{one['device']}" for one in allocation.get("devices", {}).get("results", ())]


def results_of(claim: Object) -> list[Object]:
    """The results of its allocation, whole."""
    return list(claim["status"]["allocation"]["devices"]["results"])


def refusal_of(pod: Object) -> str:
    """What its condition says about why it has no node; empty when nothing was said."""
    told = condition_entry(pod, "PodScheduled")
    return str(told.get("message", "")) if told and told["status"] == "False" else ""


def waits_for_claims(pod: Object) -> bool:
    """Whether it was not tried on any node, since a claim of its is not there yet."""
    told = condition_entry(pod, "PodScheduled")
    return told is not None and told.get("reason") == REASON_WAITING_FOR_CLAIMS


def _kind(value: str | int | bool) -> str:
    return {bool: "bool", int: "int", str: "string"}[type(value)]
