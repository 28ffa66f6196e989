"""Kueue as far as it decides when a Job runs: a Workload of its own per Job, and `suspend` after its word alone.

It has room for every Job, or for none that it has not admitted yet. What it does about a Job is what Kueue's reconciler does: with
an admitted Workload a suspended Job is resumed, whoever suspended it; without one a Job that runs is suspended, whoever resumed it;
an inactive Workload is evicted, and its Job suspended. Its webhook is in `kueue_webhook`.
"""

import contextlib
import threading
from typing import Any

from verify.clusters.client import Api, ApiError, Object
from verify.clusters.eventually import eventually

ROOT = "/apis/kueue.x-k8s.io/v1beta2"
CRD = "workloads.kueue.x-k8s.io"
QUEUE = "kueue.x-k8s.io/queue-name"
JOB_UID = "kueue.x-k8s.io/job-uid"
PERIOD_SECONDS = 0.02
SERVED_SECONDS = 30
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": CRD},
    "spec": {
        "group": "kueue.x-k8s.io",
        "scope": "Namespaced",
        "names": {"plural": "workloads", "singular": "workload", "kind": "Workload", "listKind": "WorkloadList"},
        "versions": [
            {
                "name": "v1beta2",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


class Kueue:
    """Runs for one namespace, in a thread. A context manager.

    Args:
        api: of somebody who may do all that.
        namespace: the one.
        manages_all: those without a queue, too, which it never admits (`manageJobsWithoutQueueName`).

    Attributes:
        has_quota: whether it admits anybody.
        resumed: how often it resumed each Job.
        evicted: how often it suspended each Job.
    """

    def __init__(self, api: Api, namespace: str, *, manages_all: bool = False) -> None:
        self.has_quota = True
        self.manages_all = manages_all
        self._admitted: set[str] = set()
        self.resumed: dict[str, int] = {}
        self.evicted: dict[str, int] = {}
        self._api = api
        self._namespace = namespace
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kueue", daemon=True)

    def __enter__(self) -> "Kueue":
        if self._api.find("customresourcedefinitions", CRD) is None:
            self._api.create("customresourcedefinitions", DEFINITION)
        eventually(self._is_served, within_seconds=SERVED_SECONDS)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._api.delete("customresourcedefinitions", CRD)

    def path_of(self, job: Object) -> str:
        """Where its Workload of the Job is."""
        return f"{self._path()}/{_name_of(job)}"

    def workload_of(self, job: Object) -> Object | None:
        """Its Workload of the Job."""
        found = self._api.request("GET", self._path(), query={"labelSelector": f"{JOB_UID}={job['metadata']['uid']}"})
        items: list[Object] = found["items"]
        return items[0] if items else None

    def _is_served(self) -> bool:
        with contextlib.suppress(ApiError):
            self._api.request("GET", f"{ROOT}/workloads")
            return True
        return False

    def _path(self) -> str:
        return f"{ROOT}/namespaces/{self._namespace}/workloads"

    def _run(self) -> None:
        while not self._over.wait(PERIOD_SECONDS):
            with contextlib.suppress(ApiError):  # what changed meanwhile is looked at again
                for job in self._api.list("jobs", self._namespace, labels="" if self.manages_all else QUEUE):
                    self._look_at(job)

    def _look_at(self, job: Object) -> None:
        if any(each["type"] in {"Complete", "Failed"} for each in job.get("status", {}).get("conditions", [])):
            return
        workload = self.workload_of(job)
        if workload is None:
            self._api.request("POST", self._path(), _workload(job))
            return
        may_run = self._is_admitted(job, workload)
        if may_run == bool(job["spec"].get("suspend")):
            name = job["metadata"]["name"]
            counts = self.resumed if may_run else self.evicted
            self._api.patch("jobs", name, {"spec": {"suspend": not may_run}}, self._namespace)
            counts[name] = counts.get(name, 0) + 1

    def _is_admitted(self, job: Object, workload: Object) -> bool:
        uid = job["metadata"]["uid"]
        if workload["spec"].get("active") is False:
            self._admitted.discard(uid)
        elif self.has_quota and QUEUE in job["metadata"].get("labels", {}):
            self._admitted.add(uid)
        return uid in self._admitted


def _workload(job: Object) -> dict[str, Any]:
    metadata = job["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "controller": True, "name": metadata["name"]}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": _name_of(job),
            "labels": {JOB_UID: metadata["uid"]},
            "ownerReferences": [{**owner, "uid": metadata["uid"]}],
        },
        "spec": {"queueName": metadata.get("labels", {}).get(QUEUE, "")},
    }


def _name_of(job: Object) -> str:
    return f"job-{job['metadata']['name']}"
