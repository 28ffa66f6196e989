"""How a pod names its group, and when that claim counts."""

import json
from typing import Any

import msgspec
import pytest

from api.membership import group_name, is_managed, may_join
from api.meta import Metadata, OwnerReference
from api.pod import Pod

OURS = {"tutti.scheduler/managed-by": "tutti"}


def pod(*, field: str | None = None, annotation: str | None = None, labels: dict[str, str] | None = None) -> Pod:
    document: dict[str, Any] = {"metadata": {"name": "p", "labels": labels or {}}, "spec": {}}
    if field is not None:
        document["spec"]["schedulingGroup"] = {"podGroupName": field}
    if annotation is not None:
        document["metadata"]["annotations"] = {"tutti.scheduler/pod-group": annotation}
    return msgspec.json.decode(json.dumps(document).encode(), type=Pod)


def owned(uid: str | None, *, controller: bool = True, annotations: dict[str, str] | None = None) -> Metadata:
    owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": uid, "controller": controller}]
    return msgspec.convert(
        {"name": "x", "annotations": annotations, "ownerReferences": owners if uid else None}, Metadata
    )


@pytest.mark.parametrize(
    ("field", "annotation", "name"),
    [
        (None, None, None),
        ("f", None, "f"),
        (None, "a", "a"),
        ("f", "a", "f"),
        ("", "a", "a"),
        (None, "", None),
    ],
    ids=["neither", "field", "annotation", "field before annotation", "empty field", "empty annotation"],
)
def test_a_pod_names_its_group_by_field_or_annotation(
    field: str | None, annotation: str | None, name: str | None
) -> None:
    assert group_name(pod(field=field, annotation=annotation)) == name


def test_a_null_field_names_no_group() -> None:
    document = b'{"metadata":{"annotations":null},"spec":{"schedulingGroup":{"podGroupName":null}}}'
    assert group_name(msgspec.json.decode(document, type=Pod)) is None


def test_a_pod_is_managed_by_its_label_alone() -> None:
    assert is_managed(pod(labels={"tutti.scheduler/managed": "embedded"}))
    assert not is_managed(pod(annotation="a", labels={"app": "x"}))


@pytest.mark.parametrize(
    ("member", "group", "joins"),
    [
        (owned("job"), owned("job", annotations=OURS), True),
        (owned("other"), owned("job", annotations=OURS), False),
        (owned(None), owned("job", annotations=OURS), False),
        (owned("job", controller=False), owned("job", annotations=OURS), False),
        (owned("other"), owned(None, annotations=OURS), True),
        (owned("other"), owned("job"), True),
        (owned(None), owned(None), True),
        (owned("other"), owned("job", annotations={"tutti.scheduler/managed-by": "me"}), True),
    ],
    ids=[
        "pod of the same owner",
        "pod of another owner",
        "bare pod",
        "pod that only lists the owner",
        "our group without owner",
        "group of somebody else",
        "hand-made group",
        "group managed by somebody else",
    ],
)
def test_a_group_of_ours_takes_only_pods_of_its_owner(member: Metadata, group: Metadata, joins: bool) -> None:
    assert may_join(member, group) == joins


def test_a_leader_pod_and_the_pods_below_it_join_the_group_that_it_owns() -> None:
    leader = OwnerReference(api_version="v1", kind="Pod", name="serve-0", uid="leader", controller=True)
    workers = OwnerReference(api_version="apps/v1", kind="StatefulSet", name="serve-0", uid="workers", controller=True)
    group = Metadata(annotations=OURS, owner_references=(leader,))
    worker = Metadata(uid="worker", owner_references=(workers,))
    assert may_join(Metadata(uid="leader"), group)
    assert may_join(worker, group, above_uid="leader")
    assert not may_join(worker, group, above_uid="another")
    assert not may_join(worker, group)
