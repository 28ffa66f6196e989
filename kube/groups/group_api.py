"""The two APIs in which groups may live, and everything that differs between them.

Either the server has Kubernetes' own `scheduling.k8s.io/v1beta1` (1.37 with its switches on), or the same kinds are
served from our CRDs. No other file asks which one is in force: it asks for the property it depends on.
"""

from dataclasses import dataclass
from typing import Final, Literal

from api.constants import BUILT_IN_GROUP, GROUP, VERSION
from kube.client.resources import Resource

GroupAPIName = Literal["built-in", "own"]


@dataclass(frozen=True, slots=True)
class GroupAPI:
    """Where Workloads and PodGroups are kept, and who does what for them.

    Attributes:
        name: how settings and the record in the cluster call it.
        workloads: the Workload resource.
        pod_groups: the PodGroup resource.
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


BUILT_IN: Final = GroupAPI(
    name="built-in",
    workloads=Resource(BUILT_IN_GROUP, VERSION, "workloads", "Workload", namespaced=True),
    pod_groups=Resource(BUILT_IN_GROUP, VERSION, "podgroups", "PodGroup", namespaced=True),
    keeps_pod_field=True,
    pods_own_group_reference=False,
    guards_itself=True,
)

OWN: Final = GroupAPI(
    name="own",
    workloads=Resource(GROUP, VERSION, "workloads", "Workload", namespaced=True),
    pod_groups=Resource(GROUP, VERSION, "podgroups", "PodGroup", namespaced=True),
    keeps_pod_field=False,
    pods_own_group_reference=True,
    guards_itself=False,
)

BY_NAME: Final[dict[str, GroupAPI]] = {api.name: api for api in (BUILT_IN, OWN)}
