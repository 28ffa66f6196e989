"""Objects as they would be stored: with the API server's defaults that matter here, and through our own admission."""

import copy
from collections.abc import Callable
from typing import Any, Final

import msgspec

from api.constants import STOCK_SCHEDULER_NAME
from api.errors import ConfigurationError
from explain.manifests import Manifest
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import GroupResource, Malformed, Request, Response

Defaulter = Callable[[Request, AdmissionConfig], Response]

_RESOURCES: Final = {
    "Job": GroupResource("batch", "v1", "jobs"),
    "LeaderWorkerSet": GroupResource("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
    "JobSet": GroupResource("jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "CompositePodGroup": GroupResource("tutti.scheduler", "v1beta1", "compositepodgroups"),
    "PodGroup": GroupResource("tutti.scheduler", "v1beta1", "podgroups"),
}


class Refused(ConfigurationError):
    """Admission would refuse the object; `str()` says why."""


def admitted(manifest: Manifest, ask: Callable[[Request], Response]) -> tuple[Manifest, tuple[str, ...]]:
    """The object as admission leaves it, and its warnings.

    Raises:
        Refused: admission would refuse it.
    """
    kind, metadata = manifest["kind"], manifest["metadata"]
    request = Request(
        uid="fit",
        operation="CREATE",
        resource=_RESOURCES[kind],
        name=metadata["name"],
        namespace=metadata["namespace"],
        object=msgspec.Raw(msgspec.json.encode(manifest)),
    )
    try:
        response = ask(request)
    except Malformed as error:
        raise Refused(f"{kind} {metadata['name']}: {error}") from error
    if not response.allowed:
        raise Refused(f"{kind} {metadata['name']}: {response.message}")
    return _patched(manifest, response.patch), response.warnings


def defaulted_job(manifest: Manifest) -> Manifest:
    """A Job with what the API server adds before it asks anybody."""
    made = copy.deepcopy(manifest)
    spec = made.setdefault("spec", {})
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    for key, value in (
        ("parallelism", 1),
        ("completionMode", "NonIndexed"),
        ("suspend", False),
        ("podReplacementPolicy", "TerminatingOrFailed"),
    ):
        if spec.get(key) is None:
            spec[key] = value
    template = spec.setdefault("template", {}).setdefault("spec", {})
    if not template.get("schedulerName"):
        template["schedulerName"] = STOCK_SCHEDULER_NAME
    return made


def _patched(manifest: Manifest, operations: tuple[dict[str, Any], ...]) -> Manifest:
    """Carries out the operations that `webhooks.admission.patch` makes: members that are added or removed, list ends."""
    made = copy.deepcopy(manifest)
    for operation in operations:
        *way, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
        target: Any = made
        for part in way:
            target = target[part]
        if operation["op"] == "remove":
            del target[last]
        elif last == "-":
            target.append(copy.deepcopy(operation["value"]))
        else:
            target[last] = copy.deepcopy(operation["value"])
    return made
