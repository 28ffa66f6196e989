"""Workloads and PodGroups as users make them themselves, in the group API in force."""

from typing import Any, Final

from verify.clusters.client import Api

Object = dict[str, Any]

_KINDS: Final = {"workloads": "Workload", "podgroups": "PodGroup", "compositepodgroups": "CompositePodGroup"}


def type_of(api: Api, resource: str) -> Object:
    """`apiVersion` and `kind`: what a CRD wants to be told, and an object of a list does not say."""
    version = api.path(resource).removeprefix("/apis/").rpartition("/")[0]
    return {"apiVersion": version, "kind": _KINDS[resource]}


def pod_group(
    api: Api, name: str, need: int | None = 2, *, annotations: dict[str, str] | None = None, **spec: object
) -> Object:
    """A gang of `need`, or a basic group without it; `spec` are further fields of its spec."""
    policy = {"gang": {"minCount": need}} if need is not None else {"basic": {}}
    metadata = {"name": name, "annotations": annotations or {}}
    return {**type_of(api, "podgroups"), "metadata": metadata, "spec": {"schedulingPolicy": policy, **spec}}


def workload(
    api: Api, name: str, controller: Object, *templates: str, need: int = 2, owners: list[Object] | None = None
) -> Object:
    """A Workload for what `controller` refers to, with templates of these names for gangs of `need`."""
    policy = {"gang": {"minCount": need}}
    spec = {
        "controllerRef": controller,
        "podGroupTemplates": [{"name": template, "schedulingPolicy": policy} for template in templates],
    }
    metadata = {"name": name, "ownerReferences": owners or []}
    return {**type_of(api, "workloads"), "metadata": metadata, "spec": spec}
