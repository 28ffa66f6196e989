"""What the demo creates, and manifests of other people made fit for a cluster that runs pods by the clock. Pure."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from api.constants import SCOPE
from api.errors import ConfigurationError
from kube.client.errors import one_line
from kube.client.resources import JOB_SETS, LEADER_WORKER_SETS, RESOURCE_CLAIM_TEMPLATES
from localcluster.lifecycle import RUN_SECONDS

NAMESPACE: Final = "default"
FITS: Final = "ensemble"
WAITS: Final = "orchestra"
ORDINARY: Final = "errands"
REPLICATED: Final = "choir"
URGENT: Final = "soloists"
LATE: Final = "encore"
WHOLE: Final = "opera"
RECORDS: Final = "studio"
MIXES: Final = "mixdown"
ONE_DEVICE: Final = "one-gpu"
URGENT_CLASS: Final = "urgent"
SAMPLE_SECONDS: Final = "6"
"""How long pods of others' manifests run, in seconds, unless those say it themselves."""

Manifest = dict[str, Any]


def fitting_gang(size: int) -> Manifest:
    """A gang that fits on the demo's nodes as they are."""
    return _job(FITS, cpu="2", seconds=8, completionMode="Indexed", completions=size, parallelism=size)


def waiting_gang(size: int) -> Manifest:
    """A gang of pods of which a node takes only one; it runs long enough for somebody to want its room."""
    return _job(WAITS, cpu="5", seconds=20, completionMode="Indexed", completions=size, parallelism=size)


def urgent_class() -> Manifest:
    """The PriorityClass of the more important gang."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": URGENT_CLASS},
        "value": 1000,
    }


def urgent_gang(size: int) -> Manifest:
    """A more important gang that needs the room of the one above."""
    job = _job(URGENT, cpu="5", seconds=12, completionMode="Indexed", completions=size, parallelism=size)
    job["spec"]["template"]["spec"]["priorityClassName"] = URGENT_CLASS
    return job


def late_gang(size: int) -> Manifest:
    """A small gang that comes while nobody schedules."""
    return _job(LATE, cpu="250m", seconds=4, completionMode="Indexed", completions=size, parallelism=size)


def device_template(device_class: str) -> Manifest:
    """The template of claims for one device each."""
    request = {"name": "device", "exactly": {"deviceClassName": device_class}}
    return {
        "apiVersion": RESOURCE_CLAIM_TEMPLATES.api_version,
        "kind": RESOURCE_CLAIM_TEMPLATES.kind,
        "metadata": {"name": ONE_DEVICE, "namespace": NAMESPACE},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def accelerated_gang(name: str, size: int, seconds: float) -> Manifest:
    """A gang each of whose pods has an accelerator of its own."""
    job = _job(name, cpu="100m", seconds=seconds, completionMode="Indexed", completions=size, parallelism=size)
    pod = job["spec"]["template"]["spec"]
    pod["resourceClaims"] = [{"name": "device", "resourceClaimTemplateName": ONE_DEVICE}]
    pod["containers"][0]["resources"]["claims"] = [{"name": "device"}]
    return job


def replicated_set(size: int) -> Manifest:
    """A LeaderWorkerSet with one replica; its pods run until it is deleted."""
    container = {
        "name": "voice",
        "image": "busybox:1.37",
        "resources": {"requests": {"cpu": "250m", "memory": "64Mi"}},
    }
    return {
        "apiVersion": LEADER_WORKER_SETS.api_version,
        "kind": LEADER_WORKER_SETS.kind,
        "metadata": {"name": REPLICATED, "namespace": NAMESPACE},
        "spec": {
            "replicas": 1,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": {"spec": {"containers": [container]}}},
        },
    }


def whole_job_set(size: int) -> Manifest:
    """A JobSet that starts as a whole: a conductor, and players of whom a node takes only one."""
    parts = [("conductor", 1, "250m"), ("players", size, "5")]
    return {
        "apiVersion": JOB_SETS.api_version,
        "kind": JOB_SETS.kind,
        "metadata": {"name": WHOLE, "namespace": NAMESPACE, "annotations": {SCOPE: "set"}},
        "spec": {"replicatedJobs": [_replicated_job(name, count, cpu) for name, count, cpu in parts]},
    }


def _replicated_job(name: str, count: int, cpu: str) -> Manifest:
    job = _job(name, cpu=cpu, seconds=15, completionMode="Indexed", completions=count, parallelism=count)
    return {"name": name, "replicas": 1, "template": {"spec": job["spec"]}}


def ordinary_job() -> Manifest:
    """A Job that is no gang: its pods start whenever there is room for one."""
    return _job(ORDINARY, cpu="100m", seconds=1, completions=4, parallelism=2)


def load_manifests(folder: Path) -> list[Manifest]:
    """All objects of the YAML files in a folder, in the order of their names, each told how long its pods run.

    Raises:
        ConfigurationError: there is no such folder, or a file is no YAML.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"--manifests: {folder} is no folder")
    found: list[Manifest] = []
    for file in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        if file.stem == "kustomization":
            continue
        try:
            documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigurationError(f"{file} cannot be read as YAML: {one_line(str(error))}") from error
        found += [timed(document) for document in _objects(documents)]
    return found


def timed(manifest: Manifest) -> Manifest:
    """The object with an end for its pods: hollow nodes would run them for ever."""
    changed = copy.deepcopy(manifest)
    for holder in _pod_like(changed):
        annotations = holder.setdefault("metadata", {}).setdefault("annotations", {})
        annotations.setdefault(RUN_SECONDS, SAMPLE_SECONDS)
    return changed


def _objects(documents: list[Any]) -> Iterator[Manifest]:
    for document in documents:
        if not isinstance(document, dict) or "kind" not in document:
            continue
        if document["kind"] == "List":
            yield from _objects(document.get("items") or [])
        else:
            yield document


def _pod_like(manifest: Manifest) -> Iterator[Manifest]:
    """The object itself when it is a pod, else its pod templates."""
    if manifest["kind"] == "Pod":
        yield manifest
        return
    spec = manifest.get("spec") or {}
    if manifest["kind"] == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    if isinstance(spec.get("template"), dict):
        yield spec["template"]


def _job(name: str, *, cpu: str, seconds: float, **spec: Any) -> Manifest:
    container = {"name": "player", "image": "busybox:1.37", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    template = {
        "metadata": {"annotations": {RUN_SECONDS: f"{seconds:g}"}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {**spec, "template": template},
    }
