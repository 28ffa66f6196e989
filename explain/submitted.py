"""What a manifest becomes once it is submitted: its groups and pods, as the webhooks and controllers would make them.

Names and UIDs are made up. What is decided does not depend on them but for the order of equal things.
"""

import copy
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from api.compile import pod_group_for_job, workload_for_job
from api.compile_replica import Replica, pod_group_for_replica, workload_for_set
from api.constants import (
    LEADER_INDEX,
    LWS_EXCLUSIVE_TOPOLOGY,
    LWS_GROUP_INDEX,
    LWS_NAME,
    LWS_SIZE,
    LWS_WORKER_INDEX,
    MANAGED,
    POD_GROUP,
)
from api.devices import DeviceClass, ResourceClaim, ResourceClaimTemplate
from api.errors import ConfigurationError
from api.gang import GroupIntent, job_intent
from api.job import Job
from api.lws import LeaderWorkerSet
from api.meta import Metadata
from api.pod import Pod
from api.podgroup import PodGroup, Workload
from api.priorityclass import PriorityClass, class_in_force
from api.replica import replica_intent
from api.storage import Claim
from explain.admitted import Refused, admitted, defaulted_job
from explain.manifests import Manifest
from explain.submitted_claims import ClaimMaker
from kube.groups.group_api import OWN
from webhooks.admission.config import AdmissionConfig
from webhooks.job.defaulter import default_job
from webhooks.leaderworkerset import default_leader_worker_set
from webhooks.podgroup import default_pod_group

Kind = TypeVar("Kind", bound=msgspec.Struct)
_API_VERSION: Final = OWN.pod_groups.api_version
_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_JOB_NAME: Final = "batch.kubernetes.io/job-name"
_BESIDE: Final[Mapping[str, Any]] = {
    "PersistentVolumeClaim": Claim,
    "ResourceClaim": ResourceClaim,
    "ResourceClaimTemplate": ResourceClaimTemplate,
    "DeviceClass": DeviceClass,
}
"""What is placed nowhere itself, but used by what is."""


@dataclass(slots=True)
class Submitted:
    """One item to be decided on: a group with its pods, or a pod.

    Attributes:
        name: as KIND/NAME.
        namespace: of all of it.
        group: None for a pod that stands alone.
        pods: its pods.
        note: what else is to be said of it, such as warnings of admission.
    """

    name: str
    namespace: str
    group: PodGroup | None = None
    pods: list[Pod] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """All that a file becomes: items in the order in which they are named first, what they use beside them, kinds left out."""

    items: tuple[Submitted, ...]
    claims: tuple[Claim, ...]
    ignored: tuple[str, ...]
    device_classes: tuple[DeviceClass, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    """Those that the file names, and those that are made for its pods from templates."""


class Submitter:
    """Makes objects of manifests.

    Args:
        config: the configuration of admission.
        classes: the PriorityClasses of the cluster.
        now_seconds: since 1970.
        templates: the ResourceClaimTemplates of the cluster.
    """

    def __init__(
        self,
        config: AdmissionConfig,
        classes: tuple[PriorityClass, ...],
        now_seconds: float,
        templates: Iterable[ResourceClaimTemplate] = (),
    ) -> None:
        self._config: Final = config
        self._templates: Final = tuple(templates)
        self._classes: Final = classes
        self._created: Final = dt.datetime.fromtimestamp(now_seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def submit(self, manifests: list[Manifest]) -> Submission:
        """What these become.

        Raises:
            Refused: admission, or the API server, would refuse one of them.
            ConfigurationError: one of them is of a form that cannot be looked at here.
        """
        items: dict[tuple[str, str, str], Submitted] = {}
        beside: dict[str, list[Any]] = {kind: [] for kind in _BESIDE}
        ignored: dict[str, None] = {}
        for manifest in manifests:
            kind = manifest["kind"]
            if kind in _BESIDE:
                beside[kind].append(_typed(self._with_identity(manifest), _BESIDE[kind]))
            elif not self._takes(items, manifest):
                ignored[kind] = None
        made = ClaimMaker((*self._templates, *beside["ResourceClaimTemplate"]), self._created)
        for item in items.values():
            item.pods = [made.with_claims(pod) for pod in item.pods]
            item.note = "; ".join(filter(None, (item.note, made.note_on(item.pods))))
        return Submission(
            items=tuple(items.values()),
            claims=tuple(beside["PersistentVolumeClaim"]),
            ignored=tuple(ignored),
            device_classes=tuple(beside["DeviceClass"]),
            resource_claims=(*beside["ResourceClaim"], *made.claims),
        )

    def _takes(self, items: dict[tuple[str, str, str], Submitted], manifest: Manifest) -> bool:
        """Takes in what is placed on nodes; False when it is not."""
        match manifest["kind"]:
            case "Job":
                for item in self._job(manifest):
                    items[item.namespace, "job", item.name] = item
            case "LeaderWorkerSet":
                for item in self._set(manifest):
                    items[item.namespace, "set", item.name] = item
            case "PodGroup":
                self._named_group(items, manifest).group = self._group(manifest)
            case "Pod":
                self._pod_of_a_person(items, manifest)
            case _:
                return False
        return True

    # --- Jobs --------------------------------------------------------------------------------------------------------

    def _job(self, manifest: Manifest) -> Iterator[Submitted]:
        document, warnings = admitted(defaulted_job(manifest), lambda request: default_job(request, self._config))
        document = self._with_identity(document)
        job = _typed(document, Job)
        template, name, namespace = document["spec"]["template"], job.metadata.name, job.metadata.namespace
        intent = job_intent(job)
        is_gang = job.spec.template.metadata.label(MANAGED) is not None and isinstance(intent, GroupIntent)
        note = "; ".join(warnings)
        if not is_gang:
            note = note or f"it is no gang: {getattr(intent, 'reason', 'its group is described elsewhere')}"
        group = self._group_of_job(job, intent) if isinstance(intent, GroupIntent) and is_gang else None
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job.metadata.uid, "controller": True}
        pods = []
        for index in range(job.pods_at_once):
            labels = {_JOB_NAME: name, "job-name": name}
            if job.spec.completion_mode == "Indexed":
                labels[_INDEX] = str(index)
            pods.append(self._pod_of(template, f"{name}-{index}", namespace, owner, labels, group))
        if group is not None:
            yield Submitted(f"job/{name}", namespace, group, pods, note)
        else:
            for pod in pods:
                yield Submitted(f"job/{name} pod/{pod.metadata.name}", namespace, None, [pod], note)

    def _group_of_job(self, job: Job, intent: GroupIntent) -> PodGroup:
        workload = workload_for_job(job, intent, api_version=_API_VERSION)
        workload["metadata"]["uid"] = f"workload-of-{job.metadata.uid}"
        return self._group(pod_group_for_job(job, msgspec.convert(workload, Workload), api_version=_API_VERSION))

    # --- LeaderWorkerSets --------------------------------------------------------------------------------------------

    def _set(self, manifest: Manifest) -> Iterator[Submitted]:
        document, warnings = admitted(manifest, lambda request: default_leader_worker_set(request, self._config))
        document = self._with_identity(document)
        lws = _typed(document, LeaderWorkerSet)
        if lws.exclusive_topology is not None:
            raise ConfigurationError(
                f"LeaderWorkerSet {lws.metadata.name}: the annotation {LWS_EXCLUSIVE_TOPOLOGY} cannot be looked at here"
            )
        intent = replica_intent(lws)
        note = "; ".join(warnings)
        if not isinstance(intent, GroupIntent):
            note = note or f"its replicas are no gangs: {intent.reason}"
        for index in range(1 if lws.spec.replicas is None else lws.spec.replicas):
            yield from self._replica(document, lws, intent if isinstance(intent, GroupIntent) else None, index, note)

    def _replica(
        self, document: Manifest, lws: LeaderWorkerSet, intent: GroupIntent | None, index: int, note: str
    ) -> Iterator[Submitted]:
        namespace, leader_name = lws.metadata.namespace, f"{lws.metadata.name}-{index}"
        labels = {LWS_NAME: lws.metadata.name, LWS_GROUP_INDEX: str(index)}
        leader = Metadata(
            name=leader_name,
            namespace=namespace,
            uid=_uid("Pod", namespace, leader_name),
            labels={**labels, LWS_WORKER_INDEX: LEADER_INDEX},
            annotations={LWS_SIZE: str(lws.size)},
        )
        group = None
        if intent is not None:
            workload = msgspec.convert(workload_for_set(lws, intent, api_version=_API_VERSION), Workload)
            replica = Replica(leader, leader_name, intent.min_count, intent.priority_class_name)
            group = self._group(pod_group_for_replica(replica, workload, api_version=_API_VERSION))
        templates = document["spec"]["leaderWorkerTemplate"]
        owner = {"apiVersion": "v1", "kind": "Pod", "name": leader.name, "uid": leader.uid, "controller": True}
        pods = []
        for number in range(lws.size):
            own = {} if number == 0 else owner
            template = (templates.get("leaderTemplate") if number == 0 else None) or templates["workerTemplate"]
            name = leader_name if number == 0 else f"{leader_name}-{number}"
            pods.append(self._pod_of(template, name, namespace, own, {**labels, LWS_WORKER_INDEX: str(number)}, group))
        if group is not None:
            yield Submitted(f"lws/{lws.metadata.name} replica {index}", namespace, group, pods, note)
        else:
            for pod in pods:
                yield Submitted(f"lws/{lws.metadata.name} pod/{pod.metadata.name}", namespace, None, [pod], note)

    # --- groups and pods ---------------------------------------------------------------------------------------------

    def _group(self, manifest: Manifest) -> PodGroup:
        document, _ = admitted(
            self._with_identity({**manifest, "kind": "PodGroup"}),
            lambda request: default_pod_group(request, classes=self._classes),
        )
        return _typed(document, PodGroup)

    def _named_group(self, items: dict[tuple[str, str, str], Submitted], manifest: Manifest) -> Submitted:
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        return items.setdefault((namespace, "group", name), Submitted(f"podgroup/{name}", namespace))

    def _pod_of_a_person(self, items: dict[tuple[str, str, str], Submitted], manifest: Manifest) -> None:
        pod = self._pod(manifest)
        namespace, name = pod.metadata.namespace, pod.metadata.name
        field_named = pod.spec.scheduling_group.pod_group_name if pod.spec.scheduling_group is not None else None
        group = field_named or pod.metadata.annotation(POD_GROUP)
        if group:
            key, shown = (namespace, "group", group), f"podgroup/{group}"
        else:
            key, shown = (namespace, "pod", name), f"pod/{name}"
        items.setdefault(key, Submitted(shown, namespace)).pods.append(pod)

    def _pod_of(
        self,
        template: Manifest,
        name: str,
        namespace: str,
        owner: dict[str, Any],
        labels: dict[str, str],
        group: PodGroup | None,
    ) -> Pod:
        head = template.get("metadata") or {}
        metadata: dict[str, Any] = {
            "name": name,
            "namespace": namespace,
            "labels": {**(head.get("labels") or {}), **labels},
            "annotations": dict(head.get("annotations") or {}),
        }
        if owner:
            metadata["ownerReferences"] = [owner]
        if group is not None:
            metadata["annotations"][POD_GROUP] = group.metadata.name
        return self._pod({"kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}})

    def _pod(self, manifest: Manifest) -> Pod:
        document = self._with_identity(copy.deepcopy(manifest))
        spec = document.setdefault("spec", {})
        stated = spec.get("priorityClassName") or ""
        found = class_in_force(stated, self._classes)
        if found is None and stated and not stated.startswith("system-"):
            raise Refused(f"Pod {document['metadata']['name']}: no PriorityClass with name {stated} was found")
        spec["priority"] = found.value if found is not None else 0
        spec["preemptionPolicy"] = (found.preemption_policy if found is not None else None) or "PreemptLowerPriority"
        document["status"] = {"phase": "Pending"}
        return _typed(document, Pod)

    def _with_identity(self, manifest: Manifest) -> Manifest:
        metadata = dict(manifest["metadata"])
        metadata.setdefault("uid", _uid(manifest["kind"], metadata["namespace"], metadata["name"]))
        return {**manifest, "metadata": {**metadata, "creationTimestamp": self._created}}


def _uid(kind: str, namespace: str, name: str) -> str:
    return f"fit-{kind}-{namespace}-{name}"


def _typed(document: Manifest, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(msgspec.json.encode(document), type=kind)
    except msgspec.ValidationError as error:
        raise Refused(f"{document['kind']} {document['metadata']['name']}: {error}") from error
