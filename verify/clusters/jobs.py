"""Jobs as users write them, and what tests ask about them afterwards."""

from typing import Any

from verify.clusters.client import Api

Object = dict[str, Any]

RUN_SECONDS = "localcluster.tutti.scheduler/run-seconds"
GATE = "tutti.scheduler/gate"
POD_GROUP = "tutti.scheduler/pod-group"
CONDITION = "PodGroupInitiallyScheduled"


def indexed_job(
    name: str,
    count: int,
    *,
    cpu: str = "1",
    run_seconds: float | None = None,
    annotations: dict[str, str] | None = None,
    template_labels: dict[str, str] | None = None,
    **spec: object,
) -> Object:
    """An Indexed Job with as many workers as completions: what Tutti takes for a gang when `count` > 1."""
    ends = {} if run_seconds is None else {RUN_SECONDS: f"{run_seconds:g}"}
    container = {
        "name": "worker",
        "image": "registry.example/worker:1",
        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
    }
    template = {
        "metadata": {"annotations": ends, "labels": template_labels or {}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {
            "completionMode": "Indexed",
            "parallelism": count,
            "completions": count,
            "template": template,
            **spec,
        },
    }


def plain_job(name: str, count: int = 1, **settings: Any) -> Object:
    """A Job that is no gang: NonIndexed."""
    job = indexed_job(name, count, **settings)
    job["spec"]["completionMode"] = "NonIndexed"
    return job


def plain_pod(name: str, *, cpu: str = "1", node: str = "", run_seconds: float | None = None) -> Object:
    """A pod without any controller; with `node` it is put there past every scheduler."""
    template = indexed_job(name, 1, cpu=cpu, run_seconds=run_seconds)["spec"]["template"]
    placed = {"nodeName": node} if node else {}
    metadata = {"name": name, "annotations": template["metadata"]["annotations"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**template["spec"], **placed}}


class Jobs:
    """The Jobs of one namespace: what became of them."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    def create(self, job: Object) -> Object:
        """Creates a Job."""
        return self.api.create("jobs", job, self.namespace)

    def get(self, name: str) -> Object:
        """The Job."""
        return self.api.get("jobs", name, self.namespace)

    def pods(self, name: str) -> list[Object]:
        """The Job's pods, found by UID: those of a namesake do not count, and once the Job is gone nor do its own."""
        job = self.api.find("jobs", name, self.namespace)
        if job is None:
            return []
        label = f"batch.kubernetes.io/controller-uid={job['metadata']['uid']}"
        return self.api.list("pods", self.namespace, labels=label)

    def bound(self, name: str) -> int:
        """How many of the Job's pods have a node and have not failed."""
        return sum(1 for pod in self.pods(name) if pod["spec"].get("nodeName") and pod["status"]["phase"] != "Failed")

    def whole(self, name: str) -> bool:
        """Whether as many pods are bound (or have succeeded) as the Job has workers."""
        return self.bound(name) >= int(self.get(name)["spec"]["parallelism"])

    def waits(self, name: str) -> bool:
        """Whether all pods of the Job exist and none of them is bound."""
        pods = self.pods(name)
        return len(pods) == self.get(name)["spec"]["parallelism"] and self.bound(name) == 0

    def succeeded(self, name: str) -> bool:
        """Whether the Job is complete."""
        return condition(self.get(name), "Complete") == "True"

    def workloads(self, name: str) -> list[Object]:
        """The Workloads that refer to a Job of this name."""
        reference = {"apiGroup": "batch", "kind": "Job", "name": name}
        return [w for w in self.api.list("workloads", self.namespace) if w["spec"].get("controllerRef") == reference]

    def groups(self, name: str) -> list[Object]:
        """The PodGroups made from those Workloads."""
        workloads = {workload["metadata"]["name"] for workload in self.workloads(name)}
        groups = self.api.list("podgroups", self.namespace)
        return [g for g in groups if (g["spec"].get("workloadRef") or {}).get("workloadName") in workloads]

    def group(self, name: str) -> Object:
        """The Job's one PodGroup; AssertionError when there are none or several."""
        groups = self.groups(name)
        assert len(groups) == 1, f"Job {name} has {len(groups)} PodGroups"
        return groups[0]

    def events(self, kind: str, name: str, reason: str) -> list[str]:
        """The notes of the events with this reason about an object."""
        return [
            event.get("note", "")
            for event in self.api.list("events", self.namespace)
            if event["reason"] == reason
            and event["regarding"].get("kind") == kind
            and event["regarding"].get("name") == name
        ]


def condition(value: Object, condition_type: str) -> str | None:
    """The status of a condition, None when there is none."""
    entry = condition_entry(value, condition_type)
    return entry["status"] if entry else None


def condition_entry(value: Object, condition_type: str) -> Object | None:
    """A condition, None when there is none."""
    for entry in value.get("status", {}).get("conditions") or []:
        if entry["type"] == condition_type:
            return dict(entry)
    return None


def is_gang(job: Object) -> bool:
    """Whether admission has marked the Job as a gang of Tutti's."""
    return "tutti.scheduler/managed" in job["spec"]["template"]["metadata"].get("labels", {})
