"""How a pod names its group."""

import json
from typing import Any

import msgspec
import pytest

from api.membership import group_name, is_managed
from api.pod import Pod


def pod(*, field: str | None = None, annotation: str | None = None, labels: dict[str, str] | None = None) -> Pod:
    document: dict[str, Any] = {"metadata": {"name": "p", "labels": labels or {}}, "spec": {}}
    if field is not None:
        document["spec"]["schedulingGroup"] = {"podGroupName": field}
    if annotation is not None:
        document["metadata"]["annotations"] = {"tutti.scheduler/pod-group": annotation}
    return msgspec.json.decode(json.dumps(document).encode(), type=Pod)


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
