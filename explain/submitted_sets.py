"""LeaderWorkerSets as they come to be when they are submitted: the group of each replica, that of all of them, their pods."""

from dataclasses import dataclass
from typing import Final

import msgspec

from api.compile_replica import Replica, composite_for_set, pod_group_for_replica, workload_for_set
from api.constants import (
    LEADER_INDEX,
    LWS_EXCLUSIVE_TOPOLOGY,
    LWS_GROUP_INDEX,
    LWS_NAME,
    LWS_SIZE,
    LWS_WORKER_INDEX,
)
from api.errors import ConfigurationError
from api.gang import GroupIntent
from api.lws import LeaderWorkerSet
from api.meta import Metadata
from api.owner_topology import said_of_topology
from api.podgroup import Workload
from api.replica import replica_intent, starts_as_a_set
from explain.admitted import admitted
from explain.manifests import Manifest
from explain.submitted_items import SubmittedItems
from explain.submitted_objects import ObjectMaker, made_up_uid, typed
from kube.groups.group_api import OWN, OWN_COMPOSITES
from webhooks.admission.config import AdmissionConfig
from webhooks.leaderworkerset import default_leader_worker_set

_API_VERSION: Final = OWN.pod_groups.api_version


def submit_leader_worker_set(
    manifest: Manifest, items: SubmittedItems, maker: ObjectMaker, config: AdmissionConfig
) -> None:
    """Takes in a LeaderWorkerSet.

    Raises:
        Refused: admission, or the API server, would refuse it.
        ConfigurationError: it is of a form that cannot be looked at here.
    """
    document, warnings = admitted(manifest, lambda request: default_leader_worker_set(request, config))
    document = maker.with_identity(document)
    lws = typed(document, LeaderWorkerSet)
    if lws.exclusive_topology is not None:
        raise ConfigurationError(
            f"LeaderWorkerSet {lws.metadata.name}: the annotation {LWS_EXCLUSIVE_TOPOLOGY} cannot be looked at here"
        )
    intent = replica_intent(lws)
    note = "; ".join(warnings)
    if not isinstance(intent, GroupIntent):
        note = note or f"its replicas are no gangs: {intent.reason}"
    made = _Set(document, lws, intent if isinstance(intent, GroupIntent) else None, note)
    parent = _submit_composite(made, items, maker)
    for index in range(1 if lws.spec.replicas is None else lws.spec.replicas):
        _submit_replica(made, index, parent, items, maker)


@dataclass(frozen=True, slots=True)
class _Set:
    """A set, what its replicas are (None: no gangs), and what is to be said of it."""

    document: Manifest
    lws: LeaderWorkerSet
    intent: GroupIntent | None
    note: str

    @property
    def workload(self) -> Workload | None:
        """Its Workload."""
        if self.intent is None:
            return None
        return msgspec.convert(workload_for_set(self.lws, self.intent, api_version=_API_VERSION), Workload)


def _submit_composite(made: _Set, items: SubmittedItems, maker: ObjectMaker) -> str:
    """Name of the CompositePodGroup over all replicas; empty where each starts by itself."""
    workload = made.workload
    if made.intent is None or workload is None or not starts_as_a_set(made.lws):
        return ""
    manifest = composite_for_set(made.lws, made.intent, workload.metadata.name, api_version=OWN_COMPOSITES.api_version)
    composite = maker.composite(manifest)
    items.composite(composite, f"lws/{made.lws.metadata.name}")
    return composite.metadata.name


def _submit_replica(made: _Set, index: int, parent: str, items: SubmittedItems, maker: ObjectMaker) -> None:
    lws, workload = made.lws, made.workload
    namespace, leader_name = lws.metadata.namespace, f"{lws.metadata.name}-{index}"
    labels = {LWS_NAME: lws.metadata.name, LWS_GROUP_INDEX: str(index)}
    leader = Metadata(
        name=leader_name,
        namespace=namespace,
        uid=made_up_uid("Pod", namespace, leader_name),
        labels={**labels, LWS_WORKER_INDEX: LEADER_INDEX},
        annotations={LWS_SIZE: str(lws.size)},
    )
    group = None
    if made.intent is not None and workload is not None:
        intent = made.intent
        said = said_of_topology(lws)
        replica = Replica(leader, leader_name, intent.min_count, intent.priority_class_name, said=said, parent=parent)
        group = maker.group(pod_group_for_replica(replica, workload, api_version=_API_VERSION))
        items.group(group, f"lws/{lws.metadata.name} replica {index}", made.note)
    templates = made.document["spec"]["leaderWorkerTemplate"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": leader.name, "uid": leader.uid, "controller": True}
    for number in range(lws.size):
        own = {} if number == 0 else owner
        template = (templates.get("leaderTemplate") if number == 0 else None) or templates["workerTemplate"]
        name = leader_name if number == 0 else f"{leader_name}-{number}"
        pod = maker.pod_of(template, name, namespace, own, {**labels, LWS_WORKER_INDEX: str(number)}, group)
        items.pod(pod, f"lws/{lws.metadata.name} pod/{pod.metadata.name}", made.note)
