"""CREATE of a managed pod: ties it to its group by what its template's annotations say. A pure function of the pod.

With the built-in group API that is the field `spec.schedulingGroup`. With our own CRDs it is an owner reference to the
PodGroup, so that `kubectl` shows where a pod belongs and a deleted group takes its leftovers along; it is no controller
reference and does not block deletion. The annotation stays: the scheduler works from it alone when this server is down.
"""

from api.constants import POD_GROUP_UID
from api.membership import group_name, is_managed
from api.meta import OwnerReference, controller_of
from api.pod import Pod
from kube.groups.group_api import GroupAPI
from webhooks.patch import Patch
from webhooks.review import AS_IT_IS, Request, Verdict, new_object


def associate_new_pod(request: Request, *, group_api: GroupAPI) -> Verdict:
    """Adds the group's field or owner reference to a managed pod that names its group; never refuses.

    Raises:
        Malformed: the request holds no pod.
    """
    document, pod = new_object(request, Pod)
    name = group_name(pod)
    if not is_managed(pod) or name is None:
        return AS_IT_IS
    patch = Patch(document)
    if group_api.keeps_pod_field and pod.spec.scheduling_group is None:
        patch.set(("spec", "schedulingGroup", "podGroupName"), name)
    if group_api.pods_own_group_reference:
        _refer_to_group(patch, pod, name, group_api)
    return Verdict(patch=patch.operations)


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
