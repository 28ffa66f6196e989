"""What the scenarios of gangs, queue and topology do beside what those of preemption do, and how they look at it."""

import re
from collections.abc import Mapping
from typing import Any

from tests.conformance.scenarios.preemption_stage import SOON_SECONDS, Stage
from verify.auditor.promises.cache_truth import read_metrics
from verify.clusters.client import ApiError, Object
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import condition_entry

STAYS_SECONDS = 0.6
WITHOUT_GROUP = 'tutti_pending_podgroups{reason="WaitingForPodGroup"}'
ATTEMPTS = "tutti_podgroup_schedule_attempts_total"
GATE: dict[str, Any] = {"schedulingGates": [{"name": "example.com/wait"}]}
TRUE = ("True", "Scheduled")
REFUSED = ("False", "Unschedulable")


class Scene(Stage):
    """One namespace with its nodes, and groups and pods that come, change and go."""

    # --- what happens ------------------------------------------------------------------------------------------------

    def labelled(self, cpu: int, labels: Mapping[str, Any]) -> str:
        """A node with labels whose keys are no Python names; its name."""
        return self.node(cpu, **labels)

    def ungate(self, name: str, **spec: object) -> None:
        """Removes a pod's scheduling gates; first changes what may be changed while it has them."""
        if spec:
            self.api.patch("pods", name, {"spec": spec}, self.namespace)
        self.api.patch("pods", name, {"spec": {"schedulingGates": None}}, self.namespace)

    def minimum(self, group: str, need: int) -> None:
        """Another minCount."""
        self.api.patch("podgroups", group, {"spec": {"schedulingPolicy": {"gang": {"minCount": need}}}}, self.namespace)

    def drop_group(self, name: str) -> None:
        """Deletes a PodGroup at once, members or not: the built-in one is protected by a finalizer.

        Where members wait the scheduler has noticed then: it may hear later of a group that goes than of a node that comes.
        """
        members = [pod for pod_name, pod in self.pods().items() if pod_name.startswith(f"{name}-")]
        self.api.delete("podgroups", name, self.namespace)
        try:
            self.api.patch("podgroups", name, {"metadata": {"finalizers": None}}, self.namespace)
        except ApiError as error:
            if error.status != 404:
                raise
        eventually(lambda: self.api.find("podgroups", name, self.namespace) is None, within_seconds=SOON_SECONDS)
        if not all(pod["spec"].get("nodeName") for pod in members):
            eventually(self.some_miss_their_group, within_seconds=SOON_SECONDS)

    def some_miss_their_group(self) -> bool:
        """Whether the scheduler counts pods that wait for a group of theirs to exist."""
        return read_metrics(self.metrics()).get(WITHOUT_GROUP, 0.0) > 0

    # --- what can be seen --------------------------------------------------------------------------------------------

    def says(self, group: str) -> tuple[str, str]:
        """Status and reason of the group's condition."""
        entry = self.told(group)
        return entry.get("status", ""), entry.get("reason", "")

    def says_soon(self, group: str, status: str, reason: str) -> Object:
        """Waits until the group's condition is this; the condition."""

        def told() -> Object:
            assert self.says(group) == (status, reason), self.told(group)
            return self.told(group)

        return eventually(told, within_seconds=SOON_SECONDS)

    def started(self, group: str, count: int) -> None:
        """Waits until so many of its pods have a node, and its condition is True."""
        self.runs(group, count)
        self.says_soon(group, *TRUE)

    def nobody_starts(self, *groups: str) -> None:
        """None of these pods gets a node for a while."""
        throughout(lambda: not any(self.places(group) for group in groups), seconds=STAYS_SECONDS)

    def stays(self, group: str, count: int) -> None:
        """So many of its pods have a node, and this remains so for a while."""
        throughout(lambda: len(self.places(group)) == count, seconds=STAYS_SECONDS)

    def labels_of(self, group: str, key: str) -> set[str]:
        """The values of a label on the nodes of a group's pods."""
        nodes = {node["metadata"]["name"]: node["metadata"].get("labels", {}) for node in self.api.list("nodes")}
        return {nodes[name].get(key, "") for name in self.places(group).values()}

    def group_error(self, group: str, part: str) -> None:
        """Waits until the group says that it is refused as a whole, with this in the message."""
        entry = self.says_soon(group, "False", "SchedulerError")
        assert part in entry["message"], entry["message"]

    def pod_error(self, name: str) -> str:
        """Waits until a pod says that its group is refused as a whole; its message."""

        def told() -> str:
            entry = condition_entry(self.pods()[name], "PodScheduled") or {}
            assert (entry.get("status"), entry.get("reason")) == ("False", "SchedulerError"), entry
            return str(entry["message"])

        return eventually(told, within_seconds=SOON_SECONDS)

    def attempts(self) -> float:
        """Cycles that groups have had since the scheduler runs."""
        return sum(map(float, re.findall(rf"^{ATTEMPTS}{{[^}}]*}} (\S+)$", self.metrics(), re.MULTILINE)))
