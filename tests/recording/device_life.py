"""A cluster that lives (`life`) whose nodes have devices: pods ask for claims, which are made, allocated, given back and freed."""

from collections.abc import Callable
from typing import Any

from api.devices import (
    ConsumerReference,
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.binding.claim_allocation import allocated, claim_write
from scheduler.binding.extended_claims import new_claim
from scheduler.cache.devices.record_factory import class_record
from scheduler.cache.devices.records import ClaimKey, ClaimRecord
from scheduler.recording.device_objects import resource_claim_object
from scheduler.settings import SchedulerSettings
from tests.devices.build import Json, claim, device, device_class, first_available, request, resource_slice
from tests.devices.upstream import typed
from tests.recording.life import SETTINGS, Life
from tests.scheduler.core import build

DRIVER = "gpu.vendor.example"
EXTENDED = "example.com/gpu"
"""Some pods ask for it (`life`), some nodes offer it."""
NEW = f'device.attributes["{DRIVER}"].model.startsWith("@new")'

ASKED: list[tuple[Json, ...]] = [
    (),
    (claim("t", request("r", 1)),),
    (claim("t", request("r", 1)),),
    (claim("t", request("r", 2), constraints=[{"matchAttribute": f"{DRIVER}/numa"}]),),
    (claim("t", request("@r", 1, NEW)),),
    (claim("t", first_available("r", request("good", 1, NEW), request("any", 1))),),
    (claim("t", request("share", 1, class_name="@nic", capacity={"requests": {"bandwidth": "3"}})),),
    (claim("t", request("r", 1)), claim("u", request("share", 1, class_name="@nic"))),
    (claim("t", request("r", 1), config=[{"opaque": {"driver": DRIVER, "parameters": {"mode": "@secret"}}}]),),
]


class DeviceLife(Life):
    """One run with devices."""

    def __init__(self, seed: int, settings: SchedulerSettings = SETTINGS) -> None:
        self.asked: dict[str, list[str]] = {}
        """Claims that were made for a pod."""
        self.for_extended: dict[str, list[str]] = {}
        """Those that were made for its extended resources."""
        self.slices: dict[str, str] = {}
        """Slices by node."""
        super().__init__(seed, settings)
        self.devices = self.state.devices
        self.devices.is_followed = True
        gpu = device_class(
            "gpu", f'device.driver == "{DRIVER}"', 'device.attributes["gpu.vendor.example"].kind == "gpu"'
        )
        gpu["spec"]["extendedResourceName"] = EXTENDED
        for one in (
            gpu,
            device_class("@nic", f'device.driver == "{DRIVER}" && device.allowMultipleAllocations'),
        ):
            self.concerns(self.devices.set_class(one["metadata"]["name"], class_record(typed(one, DeviceClass))))
        for node in list(self.nodes):
            self.slice_comes(node)

    def concerns(self, uids: set[str]) -> None:
        self.apply(self.state.waiting_pods.devices_changed(uids))

    def happenings(self) -> list[tuple[Callable[[], None], int]]:
        return [
            *super().happenings(),
            (self.slice_changes, 2),
            (self.rule_changes, 1),
            (self.template_changes, 1),
            (self.claims_come, 3),
            (self.claim_is_given_back, 2),
        ]

    # --- devices -----------------------------------------------------------------------------------------------------

    def slice_changes(self) -> None:
        node = self.random.choice(list(self.nodes))
        name = self.slices.get(node)
        if name is not None and self.random.random() < 0.5:
            del self.slices[node]
            self.concerns(self.devices.set_slice(name, None))
        else:
            self.slice_comes(node)

    def slice_comes(self, node: str) -> None:
        name = f"slice-of-{node}"
        self.slices[node] = name
        models = [self.random.choice(("@new-1", "@new-2", "@old")) for _ in range(self.random.randint(1, 4))]
        offered = [
            device(f"{node}-gpu{number}", kind="gpu", model=model, numa=number % 2, serial=f"@serial{number}{node}")
            for number, model in enumerate(models)
        ]
        nic = device(f"{node}-nic", kind="nic", model="@new-nic", numa=0)
        offered.append({**nic, "allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": "10"}}})
        counters = [{"name": "@set", "counters": {"mem": {"value": "1500m"}}}]
        generation = self.number()
        pool: dict[str, Any] = {"pool": name, "node": node, "driver": DRIVER, "generation": generation, "count": 2}
        for made in (
            resource_slice(name, offered, **pool),
            resource_slice(f"{name}-counters", **pool, sharedCounters=counters),
        ):
            record = self.devices.slim_slice(typed(made, ResourceSlice))
            self.concerns(self.devices.set_slice(made["metadata"]["name"], record))

    def rule_changes(self) -> None:
        if self.devices.rules and self.random.random() < 0.6:
            self.concerns(self.devices.set_rule("@rule", None))
            return
        node = self.random.choice(list(self.nodes))
        spec = {
            "deviceSelector": {"driver": DRIVER, "pool": f"slice-of-{node}"},
            "taint": {"key": "sick", "value": "@very", "effect": "NoSchedule"},
        }
        rule = typed({"metadata": {"name": "@rule"}, "spec": spec}, DeviceTaintRule)
        self.concerns(self.devices.set_rule("@rule", rule))

    def template_changes(self) -> None:
        key = (build.NAMESPACE, "@workers")
        if key in self.devices.templates and self.random.random() < 0.3:
            self.concerns(self.devices.set_template(key, None))
            return
        (asked,) = self.random.choice([asks for asks in ASKED if len(asks) == 1])
        metadata = {"name": key[1], "namespace": key[0], "uid": f"uid-of-template-{self.number()}"}
        made = typed({"metadata": metadata, "spec": {"spec": asked["spec"]}}, ResourceClaimTemplate)
        self.concerns(self.devices.set_template(key, self.devices.slim_template(made)))

    def worker_fields(self) -> dict[str, Any]:
        if self.random.random() < 0.3:
            return {}
        return {"placement": {"resourceClaims": [{"name": "e", "resourceClaimTemplateName": "@workers"}]}}

    # --- pods and their claims ---------------------------------------------------------------------------------------

    def shape(self) -> dict[str, Any]:
        return {**super().shape(), "asks": self.random.choice(ASKED)}

    def put_pod(self, name: str, **more: Any) -> None:
        asks = more.get("asks", ())
        if asks:
            entries = [{"name": f"e{at}", "resourceClaimTemplateName": f"@t{at}"} for at in range(len(asks))]
            more["spec"] = {**more.get("spec", {}), "resourceClaims": entries}
            if name not in self.pods and self.random.random() < 0.8:
                self.make_claims(name, asks)
            made = self.asked.get(name, [])
            more["claim_statuses"] = [{"name": f"e{at}", "resourceClaimName": one} for at, one in enumerate(made)]
        super().put_pod(name, **more)
        if more.get("phase") == "Succeeded":
            self.free(name)

    def remove_pod(self, name: str) -> None:
        super().remove_pod(name)
        self.free(name)

    def make_claims(self, name: str, asks: tuple[Json, ...]) -> None:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"uid-of-{name}", "controller": True}
        self.asked[name] = [f"{name}-e{at}-{self.number()}" for at in range(len(asks))]
        for made, template in zip(self.asked[name], asks, strict=True):
            metadata = {"name": made, "namespace": build.NAMESPACE, "uid": f"uid-of-{made}", "ownerReferences": [owner]}
            self.shown(self.devices.slim_claim(typed({**template, "metadata": metadata}, ResourceClaim)))

    def shown(self, record: ClaimRecord) -> None:
        """The watch shows a claim."""
        seen = self.devices.slim_claim(resource_claim_object(record))
        self.concerns(self.devices.set_claim(seen.key, seen))

    def free(self, name: str) -> None:
        for made in (*self.asked.pop(name, ()), *self.for_extended.pop(name, ())):
            self.concerns(self.devices.set_claim((build.NAMESPACE, made), None))

    def claims_come(self) -> None:
        late = [name for name, more in self.pods.items() if more.get("asks") and name not in self.asked]
        for name in late:
            if not self.pods[name].get("phase"):
                self.make_claims(name, self.pods[name]["asks"])
                self.put_pod(name, **self.pods[name])

    # --- what the scheduler does -------------------------------------------------------------------------------------

    def placed(self, decision: Decision) -> None:
        assumed: dict[ClaimKey, ClaimRecord] = {}
        for found in decision.devices:
            record = self.devices.claim(found.claim)
            if record is None:
                self.claim_is_made(found, assumed)
                continue
            consumer = ConsumerReference("", "pods", record.owner_uid.removeprefix("uid-of-"), record.owner_uid)
            write = claim_write(record, found, [consumer], "2026-01-01T00:00:00Z", lambda: f"share-{self.number()}")
            assumed[found.claim] = allocated(write)
        if assumed:
            self.devices.assume(assumed)

    def claim_is_made(self, found: DeviceAllocation, assumed: dict[ClaimKey, ClaimRecord]) -> None:
        """For the extended resources of a pod."""
        pod = self.state.pod(found.claim[1].partition("/")[2])
        assert pod is not None
        names = (f"{self.number():05}", f"share-{self.number()}")
        write = new_claim(
            self.devices, pod, {found.claim: found}, "2026-01-01T00:00:00Z", lambda: names[0], lambda: names[1]
        )
        assert write is not None
        self.for_extended.setdefault(pod.name, []).append(write.claim.metadata.name)
        assumed[write.claim.key] = allocated(write)

    def claim_is_given_back(self) -> None:
        for key, record in list(self.devices.assumed.items()):
            pod = self.state.pod(record.owner_uid)
            if pod is not None and not pod.is_bound:
                self.apply(self.state.forget(pod.uid))
            self.concerns(self.devices.take_back([key]))
            return

    def confirm_some(self) -> None:
        super().confirm_some()
        for record in list(self.devices.assumed.values()):
            if self.random.random() < 0.6:
                self.shown(record)
