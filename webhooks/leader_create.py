"""CREATE of the leader pod of a LeaderWorkerSet replica: it names its group, which is its own for as long as it lives.

The name holds a token that is drawn here, so a leader that is created anew, be it of the same revision, never meets the group of
its predecessor (github.com/kubernetes-sigs/lws, issue 1054). A token that the template carries was copied from somewhere and
is replaced: all leaders of the set would share it. The controllers make the group when they see the leader.
"""

from collections.abc import Callable
from typing import Final

from api.constants import INCARNATION, MANAGED
from api.membership import is_managed
from api.pod import Pod
from api.replica import group_index, group_name_of, group_to_come
from kube.groups.group_api import GroupAPI
from providers.base import PodMetadata
from providers.gang import LEADER
from providers.replicas import pod_metadata, replica_gang
from providers.selection import Providers
from webhooks.patch import Patch, Path
from webhooks.pod_create import associate_new_pod
from webhooks.review import Request, Verdict, new_object

NewToken = Callable[[], str]
"""A token that no leader had before."""

METADATA: Final = ("metadata",)


def name_group_of_leader(
    request: Request, *, group_api: GroupAPI, providers: Providers, new_token: NewToken
) -> Verdict:
    """Gives a managed leader the name of its group. A pod that only looks like a leader is treated like any other.

    Raises:
        Malformed: the request holds no pod.
    """
    document, pod = new_object(request, Pod)
    provider = providers.named(pod.metadata.label(MANAGED) or "")
    if not is_managed(pod) or group_index(pod.metadata) is None or provider is None:
        return associate_new_pod(request, group_api=group_api, providers=providers)
    token = new_token()
    name = group_name_of(pod.metadata, token)
    patch = Patch(document)
    patch.set((*METADATA, "annotations", INCARNATION), token)
    namespace = pod.metadata.namespace or request.namespace
    told = pod_metadata(provider, replica_gang(pod.metadata, name, namespace), LEADER)
    tie_to_group(patch, METADATA, told.over(provider.association(group_to_come(name, namespace))))
    if group_api.keeps_pod_field and provider.capabilities.reads_pod_groups:
        patch.set(("spec", "schedulingGroup", "podGroupName"), name)
    return Verdict(patch=patch.operations)


def tie_to_group(patch: Patch, metadata: Path, association: PodMetadata) -> None:
    """Writes what ties a pod to its group into the metadata at that path."""
    for kind, values in (("labels", association.labels), ("annotations", association.annotations)):
        for key, value in values.items():
            patch.set((*metadata, kind, key), value)
