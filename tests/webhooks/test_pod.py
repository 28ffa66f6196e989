"""CREATE of a managed pod."""

from api.constants import MANAGED, POD_GROUP, POD_GROUP_UID
from kube.groups.group_api import BUILT_IN, OWN
from providers.selection import standard_providers
from tests.webhooks.builders import Object, owner, patched, pod, request
from webhooks.pod import default_pod

LABELS = {MANAGED: "embedded"}
GROUP = {POD_GROUP: "g", POD_GROUP_UID: "group-uid"}
JOB = owner("Job")
REFERENCE = {"apiVersion": "tutti.scheduler/v1beta1", "kind": "PodGroup", "name": "g", "uid": "group-uid"}


def own(new: Object) -> Object:
    stored = patched(new, default_pod(request(new), group_api=OWN, providers=standard_providers()))
    assert default_pod(request(stored), group_api=OWN, providers=standard_providers()).patch == ()
    return stored


def built_in(new: Object) -> Object:
    stored = patched(new, default_pod(request(new), group_api=BUILT_IN, providers=standard_providers()))
    assert default_pod(request(stored), group_api=BUILT_IN, providers=standard_providers()).patch == ()
    return stored


def test_with_our_crds_the_pod_refers_to_its_group_without_being_controlled_by_it() -> None:
    stored = own(pod(labels=LABELS, annotations=GROUP, ownerReferences=[JOB]))
    assert stored["metadata"]["ownerReferences"] == [JOB, REFERENCE]
    assert "schedulingGroup" not in stored["spec"]


def test_with_the_built_in_api_the_pod_names_its_group_in_its_spec() -> None:
    stored = built_in(pod(labels=LABELS, annotations=GROUP, ownerReferences=[JOB]))
    assert stored["spec"]["schedulingGroup"] == {"podGroupName": "g"}
    assert stored["metadata"]["ownerReferences"] == [JOB]


def test_a_pod_without_a_controller_is_not_tied_to_a_group_it_may_have_been_copied_from() -> None:
    stored = own(pod(labels=LABELS, annotations=GROUP))
    assert "ownerReferences" not in stored["metadata"]


def test_a_reference_needs_the_uid() -> None:
    for annotations in ({POD_GROUP: "g"}, {POD_GROUP: "g", POD_GROUP_UID: ""}):
        new = pod(labels=LABELS, annotations=annotations, ownerReferences=[JOB])
        assert own(new) == new


def test_a_pod_that_names_its_group_in_its_spec_keeps_it() -> None:
    new = pod(labels=LABELS, annotations=GROUP)
    new["spec"]["schedulingGroup"] = {"podGroupName": "other"}
    assert built_in(new) == new


def test_pods_that_are_not_managed_or_name_no_group_are_left_alone() -> None:
    for new in (
        pod(annotations=GROUP, ownerReferences=[JOB]),
        pod(labels=LABELS, ownerReferences=[JOB]),
        pod(labels=LABELS, annotations={POD_GROUP: ""}, ownerReferences=[JOB]),
        pod(),
    ):
        assert own(new) == new
        assert built_in(new) == new
