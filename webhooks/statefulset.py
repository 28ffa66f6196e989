"""Defaulter for CREATE of the worker StatefulSet of a LeaderWorkerSet replica: its template learns the group that its leader names.

The LeaderWorkerSet controller creates this StatefulSet once and never applies it again, so what is stamped here reaches every
worker, those that are replaced while this server is down included. Only the leader knows its group: it is read once, and its UID
must be the one that the StatefulSet names as its controller. What cannot be read now is told to the pods by the controllers.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from api.constants import MANAGED, POD_GROUP
from api.job import PodTemplate
from api.meta import NO_METADATA, Metadata, controller_of
from api.replica import group_to_come
from kube.groups.group_api import GroupAPI
from providers.gang import WORKER
from providers.replicas import pod_metadata, replica_gang
from providers.selection import Providers
from webhooks.admission.patch import Patch, set_pod_metadata
from webhooks.admission.review import ALLOWED, Request, Response, decode_object

ReadPod = Callable[[str, str], Awaitable[Metadata | None]]
"""The metadata of the pod of that namespace and name as the server has it now, None when it cannot be told."""

TEMPLATE: Final = ("spec", "template", "metadata")


class _Spec(msgspec.Struct, frozen=True):
    template: PodTemplate = PodTemplate()


class StatefulSet(msgspec.Struct, frozen=True):
    """A StatefulSet, as far as it can be the workers of a replica."""

    metadata: Metadata = NO_METADATA
    spec: _Spec = _Spec()


async def default_stateful_set(
    request: Request, *, group_api: GroupAPI, providers: Providers, read_pod: ReadPod
) -> Response:
    """Ties the pods of a managed worker StatefulSet to the group of their leader; never refuses.

    Raises:
        Malformed: the request holds no StatefulSet.
    """
    document, workers = decode_object(request, StatefulSet)
    owner = controller_of(workers.metadata)
    provider = providers.named(workers.spec.template.metadata.label(MANAGED) or "")
    if owner is None or owner.kind != "Pod" or provider is None:
        return ALLOWED
    namespace = request.namespace or workers.metadata.namespace
    leader = await read_pod(namespace, owner.name)
    if leader is None or leader.uid != owner.uid or not (name := leader.annotation(POD_GROUP)):
        return ALLOWED
    template = workers.spec.template.metadata
    gang = replica_gang(leader, name, namespace, Metadata(labels=template.labels, annotations=template.annotations))
    told = pod_metadata(provider, gang, WORKER)
    patch = Patch(document)
    set_pod_metadata(patch, TEMPLATE, told.over(provider.association(group_to_come(name, namespace))))
    if group_api.keeps_pod_field and provider.capabilities.reads_pod_groups:
        patch.set(("spec", "template", "spec", "schedulingGroup", "podGroupName"), name)
    return Response(patch=patch.operations)
