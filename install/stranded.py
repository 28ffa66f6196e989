"""What only our scheduler would place, under whichever of its names: it is said when Tutti goes.

A profile has a scheduler name of its own. The names in use are found in the settings that `config/profiles` puts into the cluster,
and on what admission took in: its label says that the scheduler it names is ours.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import yaml

from api.constants import (
    DEFAULT_SCHEDULER_NAME,
    EMBEDDED_PROVIDER,
    MANAGED,
    PART_OF,
    PART_OF_LABEL,
    STOCK_SCHEDULER_NAME,
    SYSTEM_NAMESPACE,
)
from api.jobset import FINISHED
from install.removal import Object, list_if_served
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import CONFIG_MAPS, JOB_SETS, JOBS, LEADER_WORKER_SETS, PODS, Resource

_FINISHED: Final = frozenset({"Complete", "Failed"})
_SECTIONS: Final = ("scheduler", "controllers", "webhooks")


async def scheduler_names(client: Client) -> frozenset[str]:
    """Every name by which pods in this cluster may ask for our scheduler; to be read before anything is taken away."""
    names = {DEFAULT_SCHEDULER_NAME}
    try:
        settings = await client.list(CONFIG_MAPS, SYSTEM_NAMESPACE, label_selector=f"{PART_OF_LABEL}={PART_OF}")
    except NotFound:
        settings = {}
    for config_map in settings.get("items") or []:
        for text in (config_map.get("data") or {}).values():
            names |= names_in_settings(text)
    for resource in (JOBS, PODS, LEADER_WORKER_SETS, JOB_SETS):
        for found in await list_if_served(client, resource):
            names |= {name for labels, name in _templates(resource, found) if labels.get(MANAGED) == EMBEDDED_PROVIDER}
    return frozenset(names - {"", STOCK_SCHEDULER_NAME})


def names_in_settings(text: str) -> set[str]:
    """The scheduler names in a settings file of ours; none in what is no such file."""
    try:
        settings = yaml.safe_load(text)
    except yaml.YAMLError:
        return set()
    if not isinstance(settings, dict):
        return set()
    found: list[Any] = []
    for part in (settings, *(settings.get(section) for section in _SECTIONS)):
        if isinstance(part, dict):
            found += [part.get("scheduler_name"), *(part.get("profile_names") or ())]
            found += [each.get("scheduler_name") for each in part.get("profiles") or () if isinstance(each, dict)]
    return {name for name in found if isinstance(name, str)}


async def stranded(client: Client, names: Collection[str]) -> list[str]:
    """Unfinished Jobs and JobSets, LeaderWorkerSets and waiting pods, as kind and namespace/name, that only we would place."""
    found = []
    for resource, is_stranded in (
        (JOBS, is_stranded_job),
        (LEADER_WORKER_SETS, is_stranded_set),
        (JOB_SETS, is_stranded_job_set),
        (PODS, is_stranded_pod),
    ):
        kind = "pod" if resource is PODS else resource.kind
        found += [
            f"{kind} {_path(each)}" for each in await list_if_served(client, resource) if is_stranded(each, names)
        ]
    return found


def is_stranded_job(job: Object, names: Collection[str]) -> bool:
    """Whether the Job will still make pods that only our scheduler would place."""
    conditions = (job.get("status") or {}).get("conditions") or []
    ended = any(each["type"] in _FINISHED and each["status"] == "True" for each in conditions)
    return not ended and _names_one(JOBS, job, names)


def is_stranded_set(lws: Object, names: Collection[str]) -> bool:
    """Whether the LeaderWorkerSet makes pods that only our scheduler would place."""
    return _names_one(LEADER_WORKER_SETS, lws, names)


def is_stranded_job_set(jobset: Object, names: Collection[str]) -> bool:
    """Whether the JobSet will still make pods that only our scheduler would place."""
    conditions = (jobset.get("status") or {}).get("conditions") or []
    ended = any(each["type"] in FINISHED and each["status"] == "True" for each in conditions)
    return not ended and _names_one(JOB_SETS, jobset, names)


def is_stranded_pod(pod: Object, names: Collection[str]) -> bool:
    """Whether the pod waits for our scheduler."""
    waits = not pod["spec"].get("nodeName") and (pod.get("status") or {}).get("phase", "Pending") == "Pending"
    return waits and _names_one(PODS, pod, names)


def _names_one(resource: Resource, found: Object, names: Collection[str]) -> bool:
    return any(name in names for _, name in _templates(resource, found))


def _templates(resource: Resource, found: Object) -> Iterator[tuple[Mapping[str, str], str]]:
    """Labels and scheduler name of the pods that the object is or makes."""
    templates: list[Object | None]
    if resource is PODS:
        templates = [found]
    elif resource is JOBS:
        templates = [found["spec"]["template"]]
    elif resource is JOB_SETS:
        jobs = [each.get("template") or {} for each in (found.get("spec") or {}).get("replicatedJobs") or ()]
        templates = [(job.get("spec") or {}).get("template") for job in jobs]
    else:
        both = (found.get("spec") or {}).get("leaderWorkerTemplate") or {}
        templates = [both.get("leaderTemplate"), both.get("workerTemplate")]
    for template in templates:
        if template is not None:
            labels = (template.get("metadata") or {}).get("labels") or {}
            yield labels, str((template.get("spec") or {}).get("schedulerName") or "")


def _path(found: Object) -> str:
    return f"{found['metadata'].get('namespace', '')}/{found['metadata']['name']}"
