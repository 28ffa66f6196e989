"""A cluster with devices in which leaders are placed before their workers exist."""

import json
from typing import Any

from api.constants import MIN_RESOURCES
from api.devices import ConsumerReference, ResourceClaimTemplate
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.binding.claim_allocation import allocated, claim_write
from scheduler.cache.records import EntityKey, StateChange
from scheduler.reservations.future_reservations import FutureReservations, Places, of_existing_pods
from tests.devices.build import Json
from tests.devices.cluster import NAMESPACE, Cluster
from tests.devices.upstream import typed
from tests.scheduler.core import build

KEEP_SECONDS = 600.0
TEMPLATE = "workers"


class Replicas(Cluster):
    """What a cycle does to the state, without a server; nothing is bound by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.seen = ClusterWithFuturePods(self.state)
        self.changes: list[StateChange] = []
        self.restart()

    def restart(self) -> None:
        """What is kept is forgotten."""
        for kept in self.state.future_reservations:
            self.state.future_reservations.drop(kept.key)
        self.future = FutureReservations(
            self.state, clock=lambda: self.now, reserve_seconds=KEEP_SECONDS, apply=self.changes.append
        )

    def template(self, manifest: Json | None, name: str = TEMPLATE) -> set[str]:
        """A ResourceClaimTemplate comes, or goes; UIDs of those whom that may help."""
        key = (NAMESPACE, name)
        if manifest is None:
            return self.state.devices.set_template(key, None)
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-of-template-{name}"}
        found = typed({"metadata": metadata, "spec": {"spec": manifest["spec"]}}, ResourceClaimTemplate)
        return self.state.devices.set_template(key, self.state.devices.slim_template(found))

    def replica(
        self, name: str, workers: int, *entries: Json, cpu: int = 1, own: tuple[Json, ...] = (), **more: Any
    ) -> EntityKey:
        """The group of a replica with its leader; `entries` are the resource claims of each worker, `own` those of the leader."""
        uses = list(entries) or [{"name": "gpu", "resourceClaimTemplateName": TEMPLATE}]
        role = {"role": "worker", "count": workers, "requests": {"cpu": str(cpu)}}
        roles = [
            {"role": "leader", "count": 1, "requests": {"cpu": "1"}},
            role | {"placement": {"resourceClaims": uses}},
        ]
        annotations = {MIN_RESOURCES: json.dumps(roles)}
        leader = f"{name}-leader"
        self.state.upsert_group(build.group(name, 1, owner=f"uid-of-{leader}", annotations=annotations, **more))
        self.member(leader, name, *own, **more)
        return build.group_key(name)

    def worker(self, name: str, number: int, template: Json, *, on: str = "") -> None:
        """A worker comes with its claim; `on` a node with devices that somebody else chose."""
        self.state.set_controller(f"uid-of-{name}-workers", f"uid-of-{name}-leader")
        self.member(f"{name}-{number}", name, template, controller=("StatefulSet", f"{name}-workers"))

    def place(self, key: EntityKey) -> tuple[Decision, Places]:
        """Decides on an item and assumes what was decided."""
        decision, places = of_existing_pods(decide(self.seen.view, key), self.seen)
        for uid, node in decision.bindings:
            self.state.assume(uid, node, 60.0)
        if decision.bindings:
            self.future.reserve(key, places)
        for one in decision.devices:
            record = self.state.devices.claim(one.claim)
            assert record is not None
            consumer = ConsumerReference("", "pods", "somebody", record.owner_uid)
            write = claim_write(record, one, [consumer], "2026-01-01T00:00:00Z", lambda: "share")
            self.state.devices.assume({one.claim: allocated(write)})
        return decision, places

    def kept(self) -> list[str]:
        """Devices that are kept for pods to come, as `pool/device`."""
        held = self.state.devices.held
        found = (device for one in self.state.future_reservations for device in one.devices_left(held))
        return sorted(f"{one.id.pool}/{one.id.device}" for one in found)
