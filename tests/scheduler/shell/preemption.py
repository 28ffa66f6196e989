"""What the tests of preemption put into the cluster, as short as possible: sizes are CPUs, priorities plain numbers."""

from typing import Any

from api.constants import (
    ALLOW_AS_PREEMPTION_PRIORITY,
    CONDITION_DISRUPTION_TARGET,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
    POD_GROUP,
)
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import JOB

LOW, MID, HIGH = 10, 50, 100


class Arena(Cluster):
    """A cluster in which some run already and others want in."""

    def node(self, name: str, cpu: int, **labels: str) -> None:
        """A node with so many CPUs."""
        status = {"allocatable": {"cpu": str(cpu), "memory": "256Gi", "pods": "110"}}
        self.api.put("nodes", {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": status})

    def group(self, name: str, need: int | None, priority: int = HIGH, **spec: Any) -> None:
        """A gang of `need`, or a basic group without it."""
        policy = {"gang": {"minCount": need}} if need is not None else {"basic": {}}
        metadata: dict[str, Any] = {"namespace": "ns", "name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
        metadata["annotations"] = spec.pop("annotations", {})
        if spec.pop("of_job", False):
            metadata |= {"annotations": {MANAGED_BY: MANAGED_BY_TUTTI}, "ownerReferences": [JOB]}
        self.api.put(
            "podgroups",
            {
                "metadata": metadata,
                "spec": {"schedulingPolicy": policy, "priority": priority, **spec},
            },
        )

    def pod(self, name: str, cpu: int = 1, *, priority: int = LOW, on: str = "", group: str = "", **more: Any) -> None:
        """A pod, running if it is `on` a node; `more` are `labels`, `requests`, `policy`, `scheduler`, `spec`."""
        metadata: dict[str, Any] = {
            "namespace": "ns",
            "name": name,
            "creationTimestamp": more.get("created", "2026-01-01T00:00:00Z"),
            "labels": more.get("labels", {}),
        }
        if more.get("of_job"):
            metadata["ownerReferences"] = [JOB]
        if group:
            metadata["annotations"] = {POD_GROUP: group}
        spec: dict[str, Any] = {
            "schedulerName": more.get("scheduler", "tutti"),
            "priority": priority,
            "preemptionPolicy": more.get("policy", "PreemptLowerPriority"),
            "containers": [{"resources": {"requests": more.get("requests", {"cpu": str(cpu)})}}],
            **more.get("spec", {}),
        }
        if on:
            spec["nodeName"] = on
        self.api.put("pods", {"metadata": metadata, "spec": spec, "status": {"phase": "Running" if on else "Pending"}})

    def members(self, group: str, count: int, cpu: int = 1, *, priority: int = HIGH, **more: Any) -> None:
        """Pods of a group."""
        for number in range(count):
            self.pod(f"{group}-{number}", cpu, priority=priority, group=group, **more)

    def gang(self, name: str, size: int, cpu: int = 1, *, need: int | None = None, priority: int = HIGH) -> None:
        """A gang that wants in."""
        self.group(name, size if need is None else need, priority)
        self.members(name, size, cpu, priority=priority)

    def priority_class(self, name: str, value: int, *, allowed: bool = True) -> None:
        """A PriorityClass, which groups of a lower priority may name as that of their preemption, or not."""
        labels = {ALLOW_AS_PREEMPTION_PRIORITY: "true"} if allowed else {}
        self.api.put("priorityclasses", {"metadata": {"name": name, "labels": labels}, "value": value})

    def budget(self, name: str, allowed: int, **labels: str) -> None:
        """A disruption budget for pods of these labels."""
        self.api.put(
            "poddisruptionbudgets",
            {
                "metadata": {"namespace": "ns", "name": name},
                "spec": {"selector": {"matchLabels": labels}},
                "status": {"disruptionsAllowed": allowed},
            },
        )

    # --- what can be seen --------------------------------------------------------------------------------------------

    @property
    def deleted(self) -> list[str]:
        """Pods whose deletion was asked for, in order."""
        return self.api.sent("delete", "pods")

    def runs(self, group: str, count: int) -> bool:
        """Whether so many pods of the group have a node."""
        return sum(name.startswith(f"{group}-") for name in self.api.bound()) == count

    def is_there(self, name: str) -> bool:
        """Whether a pod exists."""
        return self.api.exists("pods", "ns", name)

    def nominated(self, name: str) -> str:
        """The node a pod is nominated to."""
        return str(self.api.peek("pods", "ns", name).get("status", {}).get("nominatedNodeName") or "")

    def marked(self, name: str) -> dict[str, Any]:
        """The DisruptionTarget condition of a pod."""
        return self.api.condition("pods", "ns", name, CONDITION_DISRUPTION_TARGET)

    def vanish(self) -> None:
        """Terminating pods have ended."""
        for name in list(self.api.names("pods")):
            if "deletionTimestamp" in self.api.peek("pods", "ns", name)["metadata"]:
                self.api.remove("pods", "ns", name)

    def metric(self, name: str) -> float:
        """The sum of a counter."""
        found = [
            sample.value
            for family in self.metrics.registry.collect()
            for sample in family.samples
            if sample.name == name
        ]
        return sum(found)
