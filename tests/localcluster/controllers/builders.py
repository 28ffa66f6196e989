"""Jobs and pods of the Job controller, in as few words as a test needs."""

import datetime
from typing import Any

import msgspec

from localcluster.controllers.jobs.assess import Assessment, assess
from localcluster.controllers.jobs.backoff import Failures
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.jobs.pods import COMPLETION_INDEX, TRACKING_FINALIZER, Pod

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
NOW_TEXT = "2026-01-02T03:04:05Z"
EARLIER_TEXT = "2026-01-02T03:00:00Z"


def at(seconds: float) -> datetime.datetime:
    return NOW + datetime.timedelta(seconds=seconds)


def stamp(seconds: float) -> str:
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def job(*, status: dict[str, Any] | None = None, deleted: bool = False, restart: str = "Never", **spec: Any) -> Job:
    metadata: dict[str, Any] = {"name": "j", "namespace": "ns", "uid": "job"}
    if deleted:
        metadata["deletionTimestamp"] = NOW_TEXT
    body = {
        "metadata": metadata,
        "spec": {"template": {"spec": {"restartPolicy": restart}}, **spec},
        "status": status or {},
    }
    return msgspec.convert(body, Job)


def indexed(count: int, parallelism: int | None = None, **fields: Any) -> Job:
    return job(
        completionMode="Indexed", completions=count, parallelism=count if parallelism is None else parallelism, **fields
    )


def pod(
    name: str,
    phase: str = "Running",
    *,
    index: int | None = None,
    tracked: bool = True,
    deleted: bool = False,
    ready: bool = False,
    exit_code: int | None = None,
    ended: float = 0.0,
    created: str = EARLIER_TEXT,
    annotations: dict[str, str] | None = None,
    conditions: list[dict[str, str]] | None = None,
    restarts: int = 0,
    node: str = "n",
) -> Pod:
    own = dict(annotations or {})
    if index is not None:
        own[COMPLETION_INDEX] = str(index)
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "ns",
        "uid": name,
        "annotations": own,
        "creationTimestamp": created,
        "finalizers": [TRACKING_FINALIZER] if tracked else [],
    }
    if deleted:
        metadata |= {"deletionTimestamp": NOW_TEXT, "deletionGracePeriodSeconds": 30}
    container: dict[str, Any] = {"name": "main", "restartCount": restarts, "state": {}}
    if exit_code is not None:
        container["state"] = {"terminated": {"exitCode": exit_code, "finishedAt": stamp(ended)}}
    told = [*(conditions or [])]
    if ready:
        told.append({"type": "Ready", "status": "True"})
    body = {
        "metadata": metadata,
        "spec": {"nodeName": node},
        "status": {"phase": phase, "conditions": told, "containerStatuses": [container]},
    }
    return msgspec.convert(body, Pod)


def failed(name: str, exit_code: int = 1, **fields: Any) -> Pod:
    return pod(name, "Failed", exit_code=exit_code, **fields)


def succeeded(name: str, **fields: Any) -> Pod:
    return pod(name, "Succeeded", exit_code=0, **fields)


def seen(of: Job, *pods: Pod, failures: Failures | None = None) -> Assessment:
    return assess(of, pods, failures or Failures(), NOW)
