"""The APIs in which groups may live, and everything that differs between them.

Either the server has Kubernetes' own `scheduling.k8s.io` (v1beta1 in 1.37 with its switches on, v1 in later ones), or the same
kinds are served from our CRDs. No other file asks which one is in force: it asks for the property it depends on.

Versions of one API are views of the same objects, with the same UIDs. So which version a process talks is its own affair:
two processes may talk two, and a gang is whole in both.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from api.constants import BUILT_IN_GROUP, GROUP, VERSION
from kube.client.resources import Resource

GroupAPIName = Literal["built-in", "own"]

NEXT_BUILT_IN_VERSION: Final = "v1"
"""What Kubernetes calls the group API once it is stable; with the schema of v1beta1, as far as it could be seen."""


@dataclass(frozen=True, slots=True)
class GroupAPI:
    """Where Workloads and PodGroups are kept, and who does what for them.

    Attributes:
        name: how settings and the record in the cluster call it, whatever the version.
        workloads: the Workload resource.
        pod_groups: the PodGroup resource, of the same version.
        keeps_pod_field: pods keep `spec.schedulingGroup`; elsewhere the server drops the field silently.
        pods_own_group_reference: pods get a non-controller owner reference to their PodGroup. Never with the built-in
            API, where that reference and the PodGroup's finalizer deadlock garbage collection.
        guards_itself: the server resolves priorities and protects groups by itself; with our CRDs we do.
    """

    name: GroupAPIName
    workloads: Resource
    pod_groups: Resource
    keeps_pod_field: bool
    pods_own_group_reference: bool
    guards_itself: bool


def _built_in(version: str) -> GroupAPI:
    return GroupAPI(
        name="built-in",
        workloads=Resource(BUILT_IN_GROUP, version, "workloads", "Workload", namespaced=True),
        pod_groups=Resource(BUILT_IN_GROUP, version, "podgroups", "PodGroup", namespaced=True),
        keeps_pod_field=True,
        pods_own_group_reference=False,
        guards_itself=True,
    )


BUILT_IN_V1: Final = _built_in(NEXT_BUILT_IN_VERSION)
BUILT_IN: Final = _built_in(VERSION)

OWN: Final = GroupAPI(
    name="own",
    workloads=Resource(GROUP, VERSION, "workloads", "Workload", namespaced=True),
    pod_groups=Resource(GROUP, VERSION, "podgroups", "PodGroup", namespaced=True),
    keeps_pod_field=False,
    pods_own_group_reference=True,
    guards_itself=False,
)

BUILT_IN_COMPOSITES: Final = tuple(
    Resource(BUILT_IN_GROUP, version, "compositepodgroups", "CompositePodGroup", namespaced=True)
    for version in (NEXT_BUILT_IN_VERSION, VERSION, "v1alpha3")
)
"""Behind the gate CompositePodGroup, the most wanted version first: v1alpha3 in 1.37, v1beta1 in 1.38, each served when asked for.

They are views of the same objects, as are those of the other kinds.
"""

OWN_COMPOSITES: Final = Resource(GROUP, VERSION, "compositepodgroups", "CompositePodGroup", namespaced=True)

GROUP_APIS: Final = (BUILT_IN_V1, BUILT_IN, OWN)
"""All that we can use, the most wanted first."""

NAMES: Final = frozenset(api.name for api in GROUP_APIS)


def one_version_each(served: Collection[GroupAPI]) -> tuple[GroupAPI, ...]:
    """Of what a server serves the most wanted version of each API: whoever lists these sees every group once."""
    chosen: dict[GroupAPIName, GroupAPI] = {}
    for api in GROUP_APIS:
        if api in served:
            chosen.setdefault(api.name, api)
    return tuple(chosen.values())
