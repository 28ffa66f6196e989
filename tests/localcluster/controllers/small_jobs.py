"""Small Jobs that end in every way a Job can end, and what of the cluster is compared afterwards."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from verify.clusters.client import Api

Object = dict[str, Any]

RUN_SECONDS = "localcluster.tutti.scheduler/run-seconds"
EXIT_CODE = "localcluster.tutti.scheduler/exit-code"
TIMES = ("startTime", "completionTime")
CONDITION_TIMES = ("lastProbeTime", "lastTransitionTime")


def job(name: str, *, runs: float | None = 0.1, exit_code: int = 0, **spec: Any) -> Object:
    """A Job whose pods run so long (None: for ever) and end with that code."""
    ends = {} if runs is None else {RUN_SECONDS: f"{runs:g}", EXIT_CODE: str(exit_code)}
    container = {"name": "main", "image": "registry.example/main:1", "resources": {"requests": {"cpu": "10m"}}}
    template = {
        "metadata": {"annotations": ends},
        "spec": {"restartPolicy": "Never", "containers": [container], **spec.pop("pod", {})},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def indexed(name: str, count: int, **spec: Any) -> Object:
    """An Indexed Job of so many pods at once."""
    return job(name, completionMode="Indexed", completions=count, parallelism=count, **spec)


def on_exit_code(action: str, code: int) -> Object:
    """A podFailurePolicy of one rule."""
    return {"rules": [{"action": action, "onExitCodes": {"operator": "In", "values": [code]}}]}


def suspend(value: bool) -> Callable[[Api, str, str], None]:
    def change(api: Api, namespace: str, name: str) -> None:
        api.patch("jobs", name, {"spec": {"suspend": value}}, namespace)

    return change


def scale(parallelism: int) -> Callable[[Api, str, str], None]:
    def change(api: Api, namespace: str, name: str) -> None:
        api.patch("jobs", name, {"spec": {"parallelism": parallelism}}, namespace)

    return change


def delete_one_pod(api: Api, namespace: str, name: str) -> None:
    pods = api.list("pods", namespace, labels=f"batch.kubernetes.io/job-name={name}")
    api.delete("pods", min(pod["metadata"]["name"] for pod in pods), namespace)


@dataclass(frozen=True)
class Case:
    """A Job, what is done to it after a while, and what is compared.

    `events`: whether its events (counts of retries differ). `which`: whether which of its pods are left.
    """

    manifest: Object
    later: Callable[[Api, str, str], None] | None = None
    events: bool = True
    which: bool = True

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])


CASES = (
    Case(indexed("indexed", 5)),
    Case(job("one")),
    Case(job("in-turns", completionMode="Indexed", completions=5, parallelism=2)),
    Case(job("some", completions=3, parallelism=2)),
    Case(job("work-queue", parallelism=2)),
    Case(job("fails-at-once", exit_code=3, backoffLimit=0)),
    Case(indexed("indexed-fails", 2, exit_code=1, backoffLimit=1)),
    Case(job("retries", exit_code=1, backoffLimit=1)),
    Case(job("suspended", suspend=True)),
    Case(indexed("resumed", 2, suspend=True), later=suspend(False)),
    Case(indexed("suspended-later", 2, runs=None), later=suspend(True)),
    Case(indexed("deadline", 2, runs=None, activeDeadlineSeconds=2)),
    Case(indexed("failed-by-rule", 1, exit_code=42, podFailurePolicy=on_exit_code("FailJob", 42))),
    Case(job("ignored", exit_code=7, podFailurePolicy=on_exit_code("Ignore", 7), activeDeadlineSeconds=6)),
    Case(job("counted", exit_code=7, podFailurePolicy=on_exit_code("Count", 7), backoffLimit=0)),
    Case(indexed("fails-each-index", 3, exit_code=1, backoffLimitPerIndex=0)),
    Case(indexed("too-many-failed-indexes", 1, exit_code=1, backoffLimitPerIndex=0, maxFailedIndexes=0)),
    Case(
        indexed("fail-index", 2, exit_code=9, backoffLimitPerIndex=3, podFailurePolicy=on_exit_code("FailIndex", 9)),
    ),
    Case(indexed("retries-index", 2, exit_code=1, backoffLimitPerIndex=1)),
    Case(job("nothing-to-do", parallelism=0)),
    Case(job("gone-by-ttl", ttlSecondsAfterFinished=1), events=False),
    Case(job("smaller", runs=None, completions=4, parallelism=4), later=scale(2)),
    Case(indexed("smaller-indexed", 4, runs=None, backoffLimit=3), later=scale(2), which=False),
    Case(job("of-another-controller", managedBy="example.com/other")),
    Case(job("pod-deleted", runs=None, completions=2, parallelism=2), later=delete_one_pod),
    Case(
        indexed("pod-deleted-waits", 2, runs=None, podReplacementPolicy="Failed"),
        later=delete_one_pod,
    ),
    Case(job("refused-pods", pod={"priorityClassName": "no-such-class"}), events=False),
    Case(
        indexed("success-policy", 1, successPolicy={"rules": [{"succeededIndexes": "0"}]}),
    ),
)


def is_ready_for_more(api: Api, namespace: str, case: Case) -> bool:
    """Whether the Job is as far as it gets before something is done to it."""
    found = api.get("jobs", case.name, namespace)
    if found["spec"].get("suspend"):
        return _has(found, "Suspended")
    return bool(found.get("status", {}).get("ready") == found["spec"]["parallelism"])


def is_settled(api: Api, namespace: str, case: Case) -> bool:
    """Whether nothing more will happen to the Job."""
    found = api.find("jobs", case.name, namespace)
    if found is None or case.name == "gone-by-ttl":
        return found is None
    status = found.get("status", {})
    if case.name == "of-another-controller":
        return True
    if case.name == "refused-pods":
        return "startTime" in status
    if found["spec"].get("suspend"):
        return _has(found, "Suspended") and not status.get("active") and not status.get("terminating")
    if found["spec"]["parallelism"] == 0:
        return "ready" in status
    if case.later is delete_one_pod:
        return bool(status.get("failed") == 1 and status.get("ready") == found["spec"]["parallelism"])
    if case.later is not None and not _has(found, "Complete"):
        pods = api.list("pods", namespace, labels=f"batch.kubernetes.io/job-name={case.name}")
        return bool(status.get("ready") == found["spec"]["parallelism"] == len(pods))
    return _has(found, "Complete") or _has(found, "Failed")


def _has(job: Object, condition: str) -> bool:
    conditions = job.get("status", {}).get("conditions") or []
    return any(each["type"] == condition and each["status"] == "True" for each in conditions)


@dataclass
class Result:
    """What is left of one Job: its status without times, its pods, its events."""

    status: Object | None
    pods: Counter[tuple[str, ...]] = field(default_factory=Counter)
    events: Counter[tuple[str, str]] = field(default_factory=Counter)


def result(api: Api, namespace: str, case: Case) -> Result:
    """What became of the Job of this case."""
    found = api.find("jobs", case.name, namespace)
    pods = api.list("pods", namespace, labels=f"batch.kubernetes.io/job-name={case.name}")
    told: Counter[tuple[str, str]] = Counter()
    for event in api.list("events", namespace) if case.events else ():
        if event["regarding"]["name"] == case.name and event["regarding"]["kind"] == "Job":
            told[event["reason"], _without_names(event["note"])] += 1
    return Result(
        None if found is None else _timeless(found["status"]),
        Counter(map(_pod, pods) if case.which else [(str(len(pods)),)]),
        told,
    )


def _timeless(status: Object) -> Object:
    kept: Object = {key: ("set" if key in TIMES else value) for key, value in status.items()}
    if "conditions" in kept:
        kept["conditions"] = [
            {
                key: _without_names(value) if key == "message" else value
                for key, value in each.items()
                if key not in CONDITION_TIMES
            }
            for each in kept["conditions"]
        ]
    return kept


def _pod(pod: Object) -> tuple[str, ...]:
    meta, spec = pod["metadata"], pod["spec"]
    labels = {key: "uid" if key.endswith("controller-uid") else value for key, value in meta["labels"].items()}
    owners = [
        (each["kind"], each["name"], each.get("controller"), each.get("blockOwnerDeletion"))
        for each in meta["ownerReferences"]
    ]
    return (
        pod["status"]["phase"],
        meta["generateName"],
        str(sorted(labels.items())),
        str(sorted(meta.get("annotations", {}).items())),
        str(meta.get("finalizers")),
        str(owners),
        str(spec.get("hostname")),
        str(spec["containers"][0].get("env")),
    )


def _without_names(note: str) -> str:
    first, colon, _ = note.partition("Created pod: ") if note.startswith("Created") else note.partition("Deleted pod: ")
    return first + colon if colon else re.sub(r"-[a-z0-9]{5} ", "- ", note.partition("/")[2] or note)
