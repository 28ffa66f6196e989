"""Defaulter for CREATE of a managed pod: it is tied to its group by what its template's annotations say. Pure.

With the built-in group API that is the field `spec.schedulingGroup`. With our own CRDs it is an owner reference to the
PodGroup, so that `kubectl` shows where a pod belongs and a deleted group takes its leftovers along; it is no controller
reference and does not block deletion. The annotation stays: the scheduler works from it alone when this server is down.

The leader of a LeaderWorkerSet replica names its group itself, which is its own for as long as it lives. The name holds a token
that is drawn here, so a leader that is created anew, be it of the same revision, never meets the group of its predecessor
(github.com/kubernetes-sigs/lws, issue 1054). A token that the template carries was copied from somewhere and is replaced: all
leaders of the set would share it. The controllers make the group when they see the leader.
"""

from collections.abc import Callable
from typing import Final

from api.compile import JOB_KIND
from api.constants import INCARNATION, MANAGED, POD_GROUP_UID
from api.membership import group_name, is_managed
from api.meta import OwnerReference, controller_of
from api.pod import Pod
from api.replica import group_index, group_name_of, group_to_come
from kube.groups.group_api import GroupAPI
from providers.base import Provider
from providers.gang import LEADER
from providers.replicas import pod_metadata, replica_gang
from providers.selection import Providers
from webhooks.admission.patch import Patch, set_pod_metadata
from webhooks.admission.review import ALLOWED, Request, Response, decode_object, denied

NewToken = Callable[[], str]
"""A token that no leader had before."""

_METADATA: Final = ("metadata",)


def default_pod(request: Request, *, group_api: GroupAPI, providers: Providers) -> Response:
    """Adds the group's field or owner reference to a managed pod that names its group.

    Refuses one thing: a Job's pod without a group that its scheduler would start alone and that could not be told later.

    Raises:
        Malformed: the request holds no pod.
    """
    document, pod = decode_object(request, Pod)
    provider = providers.named(pod.metadata.label(MANAGED) or "")
    name = group_name(pod)
    if is_managed(pod) and name is None and _would_start_alone(pod, provider):
        return denied("the pod waits for its group: Tutti holds its Job and creates it again", code=403)
    if not is_managed(pod) or name is None:
        return ALLOWED
    patch = Patch(document)
    is_read = provider is None or provider.capabilities.reads_pod_groups
    if group_api.keeps_pod_field and is_read and pod.spec.scheduling_group is None:
        patch.set(("spec", "schedulingGroup", "podGroupName"), name)
    if group_api.pods_own_group_reference:
        _refer_to_group(patch, pod, name, group_api)
    return Response(patch=patch.operations)


def default_leader_pod(request: Request, *, group_api: GroupAPI, providers: Providers, new_token: NewToken) -> Response:
    """Gives a managed leader the name of its group. A pod that only looks like a leader is treated like any other.

    Raises:
        Malformed: the request holds no pod.
    """
    document, pod = decode_object(request, Pod)
    provider = providers.named(pod.metadata.label(MANAGED) or "")
    if not is_managed(pod) or group_index(pod.metadata) is None or provider is None:
        return default_pod(request, group_api=group_api, providers=providers)
    token = new_token()
    name = group_name_of(pod.metadata, token)
    patch = Patch(document)
    patch.set((*_METADATA, "annotations", INCARNATION), token)
    namespace = pod.metadata.namespace or request.namespace
    told = pod_metadata(provider, replica_gang(pod.metadata, name, namespace), LEADER)
    set_pod_metadata(patch, _METADATA, told.over(provider.association(group_to_come(name, namespace))))
    if group_api.keeps_pod_field and provider.capabilities.reads_pod_groups:
        patch.set(("spec", "schedulingGroup", "podGroupName"), name)
    return Response(patch=patch.operations)


def _would_start_alone(pod: Pod, provider: Provider | None) -> bool:
    owner = controller_of(pod.metadata)
    if provider is None or owner is None or owner.kind != JOB_KIND:
        return False
    return provider.capabilities.needs_group and not provider.capabilities.late_association


def _refer_to_group(patch: Patch, pod: Pod, name: str, group_api: GroupAPI) -> None:
    uid = pod.metadata.annotation(POD_GROUP_UID)
    owners = pod.metadata.owner_references or ()
    # A pod that nobody controls would be collected for a group it never belonged to, when somebody copied its manifest.
    if not uid or controller_of(pod.metadata) is None or any(owner.uid == uid for owner in owners):
        return
    kind = group_api.pod_groups
    reference = OwnerReference(api_version=kind.api_version, kind=kind.kind, name=name, uid=uid)
    patch.append(("metadata", "ownerReferences"), _manifest(reference))


def _manifest(reference: OwnerReference) -> dict[str, str]:
    return {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
    }
