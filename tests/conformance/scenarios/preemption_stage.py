"""What the scenarios of preemption put into a cluster, as short as possible, and what they can see there.

Who runs already is put on its node past every scheduler, so a scenario begins where it becomes interesting. Nodes that are
not tended have no kubelet: a pod deleted there goes on terminating until the scenario says that it has ended.
"""

import os
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import urllib3

from localcluster.shapes import HOLLOW_LABEL
from verify.clusters.client import ApiError, Object
from verify.clusters.eventually import eventually
from verify.clusters.groups import pod_group
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, POD_GROUP, Jobs, condition_entry
from verify.clusters.tutti_process import Tutti

LOW, MID, HIGH, TOP = "scenario-low", "scenario-mid", "scenario-high", "scenario-top"
NEVER = "scenario-never"
PRIORITIES = {LOW: 10, MID: 50, HIGH: 100, TOP: 500}
CLASSES: dict[str, Object] = {
    **{name: {"value": value} for name, value in PRIORITIES.items()},
    NEVER: {"value": PRIORITIES[HIGH], "preemptionPolicy": "Never"},
}
NAMEABLE = {TOP: {"tutti.scheduler/allow-as-preemption-priority": "true"}}
"""The labels of the class that groups of a lower priority may name as that of their preemption."""
SOON_SECONDS = 15
GRACE_SECONDS = 600
WASTED = "tutti_wasted_evictions_total"


class Stage:
    """One namespace with its nodes. Without `tutti` nothing can be asked of the scheduler's process."""

    def __init__(self, jobs: Jobs, nodes: HollowNodes, tutti: Tutti | None) -> None:
        self.jobs = jobs
        self.api = jobs.api
        self.namespace = jobs.namespace
        self._nodes = nodes
        self._tutti = tutti
        for name, said in CLASSES.items():
            if self.api.find("priorityclasses", name) is None:
                self.api.create(
                    "priorityclasses", {"metadata": {"name": name, "labels": NAMEABLE.get(name, {})}, **said}
                )

    # --- what is put there -------------------------------------------------------------------------------------------

    def node(self, cpu: int, *, tended: bool = True, memory: str = "64Gi", **labels: str) -> str:
        """A node with so many CPUs; its name."""
        (name,) = self._nodes.add(cpu=str(cpu), memory=memory, labels=labels)
        if not tended:
            self.api.patch("nodes", name, {"metadata": {"labels": {HOLLOW_LABEL: None}}})
        return name

    def group(self, name: str, need: int | None, priority: str = HIGH, *, whole: bool = False, **more: Any) -> Object:
        """A gang of `need`, or a basic group without it; `more` are `annotations` and fields of `spec`."""
        settings = {"disruptionMode": {"all": {}} if whole else {"single": {}}, "priorityClassName": priority, **more}
        body = pod_group(self.api, name, need, **settings)

        def created() -> Object:
            # Admission follows PriorityClasses by watch, so one made a moment ago may not be known yet.
            return self.api.create("podgroups", body, self.namespace)

        return eventually(created, within_seconds=SOON_SECONDS)

    def pod(self, name: str, cpu: int = 1, *, priority: str = LOW, on: str = "", group: str = "", **more: Any) -> None:
        """A pod, on a node already if it is `on` one; `more` are `labels`, `requests`, `scheduler` and fields of `spec`."""
        metadata: Object = {"name": name, "labels": more.pop("labels", {})}
        requests: Mapping[str, str] = more.pop("requests", {"cpu": str(cpu), "memory": "64Mi"})
        container = {"name": "main", "image": "registry.example/pause:1", "resources": {"requests": dict(requests)}}
        spec: Object = {
            "schedulerName": more.pop("scheduler", "tutti"),
            "priorityClassName": priority,
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "restartPolicy": "Never",
            "containers": [{**container, "ports": more.pop("ports", [])}],
            **more,
        }
        if on:
            spec["nodeName"] = on
        if group:
            metadata["annotations"] = {POD_GROUP: group}
            if "scheduling.k8s.io" in self.api.path("podgroups"):
                spec["schedulingGroup"] = {"podGroupName": group}
        self.api.create("pods", {"metadata": metadata, "spec": spec}, self.namespace)

    def members(self, group: str, count: int, cpu: int = 1, *, priority: str = HIGH, **more: Any) -> None:
        """Pods of a group."""
        for number in range(count):
            self.pod(f"{group}-{number}", cpu, priority=priority, group=group, **dict(more))

    def gang(self, name: str, size: int, cpu: int = 1, *, need: int | None = None, priority: str = HIGH) -> None:
        """A gang that wants in."""
        self.group(name, size if need is None else need, priority)
        self.members(name, size, cpu, priority=priority)

    def budget(self, protected: Mapping[str, str], pods: int) -> None:
        """A disruption budget that lets none of these `pods` go, once the disruption controller has counted them."""
        spec = {"minAvailable": pods, "selector": {"matchLabels": dict(protected)}}
        self.api.create("poddisruptionbudgets", {"metadata": {"name": "careful"}, "spec": spec}, self.namespace)

        def counted() -> bool:
            status = self.api.get("poddisruptionbudgets", "careful", self.namespace).get("status") or {}
            return status.get("expectedPods") == pods and status.get("disruptionsAllowed") == 0

        eventually(counted, within_seconds=SOON_SECONDS)

    def end(self, *names: str) -> None:
        """These pods have ended: what a kubelet says of pods that were deleted."""
        for name in names:
            self.api.delete("pods", name, self.namespace, gracePeriodSeconds=0)

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """The scheduler sees nothing of what happens inside before all of it has happened."""
        pid = self._scheduler()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    # --- what can be seen --------------------------------------------------------------------------------------------

    def pods(self) -> dict[str, Object]:
        """All pods by name."""
        return {pod["metadata"]["name"]: pod for pod in self.api.list("pods", self.namespace)}

    def leaving(self) -> set[str]:
        """Pods whose deletion was asked for and that are there yet."""
        return {name for name, pod in self.pods().items() if pod["metadata"].get("deletionTimestamp")}

    def staying(self) -> set[str]:
        """Pods that are there and not being deleted."""
        return self.pods().keys() - self.leaving()

    def places(self, group: str) -> dict[str, str]:
        """The nodes of those pods of a group that have one."""
        return {
            name: pod["spec"]["nodeName"]
            for name, pod in self.pods().items()
            if name.startswith(f"{group}-") and pod["spec"].get("nodeName")
        }

    def nominations(self, group: str) -> set[str]:
        """The nodes that pods of a group are nominated to; an empty name for a pod that has no nomination."""
        pods = {name: pod for name, pod in self.pods().items() if name.startswith(f"{group}-")}
        return {(pod.get("status") or {}).get("nominatedNodeName") or "" for pod in pods.values()}

    def runs(self, group: str, count: int) -> None:
        """Waits until so many pods of the group have a node."""

        def has_places() -> bool:
            places = self.places(group)
            assert len(places) == count, f"{places} instead of {count}; the group says {self.told(group)}"
            return True

        eventually(has_places, within_seconds=SOON_SECONDS)

    def told(self, group: str) -> Object:
        """The group's condition; empty when it has none."""
        found = self.api.find("podgroups", group, self.namespace)
        return condition_entry(found or {}, CONDITION) or {}

    def refused(self, group: str, part: str = "") -> str:
        """Waits until the group says that it cannot be scheduled, with this in its message; the message."""

        def says_no() -> str:
            entry = self.told(group)
            assert (entry.get("status"), entry.get("reason")) == ("False", "Unschedulable"), entry
            assert part in entry["message"], entry["message"]
            return str(entry["message"])

        return eventually(says_no, within_seconds=SOON_SECONDS)

    def pod_refused(self, name: str) -> str:
        """Waits until a pod says that it cannot be scheduled; its message."""

        def says_no() -> str:
            entry = condition_entry(self.pods()[name], "PodScheduled") or {}
            assert (entry.get("status"), entry.get("reason")) == ("False", "Unschedulable"), entry
            return str(entry["message"])

        return eventually(says_no, within_seconds=SOON_SECONDS)

    def preempted(self, *names: str) -> None:
        """Waits until these pods, and no others, have an event that says that they left for somebody."""

        def told() -> bool:
            events = [event for event in self.api.list("events", self.namespace) if event["reason"] == "Preempted"]
            found = {event["regarding"]["name"] for event in events}
            assert found == set(names), found
            return True

        eventually(told, within_seconds=SOON_SECONDS)

    def wasted_evictions(self) -> float:
        """Evictions after which the preemptor did not start, since the scheduler runs."""
        text = self.metrics()
        found = re.search(rf"^{WASTED} (\S+)$", text, re.MULTILINE)
        assert found, f"{WASTED} is not among the metrics"
        return float(found[1])

    def metrics(self) -> str:
        """What the scheduler's process exports."""
        address = re.search(r"--metrics=(\S+)", _command_line(self._scheduler()))
        assert address, "the scheduler serves no metrics"
        return urllib3.request("GET", f"http://{address[1]}/metrics", retries=False).data.decode()

    def _scheduler(self) -> int:
        assert self._tutti is not None, "the scheduler is no process of this stage"
        return self._tutti.children()["scheduler"]

    def clear(self) -> None:
        """Ends all pods at once: nodes that are not tended would keep them."""
        self.end(*self.pods())
        for group in self.api.list("podgroups", self.namespace):
            try:
                self.api.delete("podgroups", group["metadata"]["name"], self.namespace)
            except ApiError as error:
                if error.status != 409:
                    raise


def _command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
