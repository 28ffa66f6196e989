"""StatefulSets and their pods, small."""

from typing import Any

import msgspec

from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.statefulsets.model import REVISION_LABEL, StatefulSet

NEW, OLD = "web-new", "web-old"
READY = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def stateful_set(*, parallel: bool = False, status: dict[str, Any] | None = None, **spec: Any) -> StatefulSet:
    """A StatefulSet called `web`."""
    policy = "Parallel" if parallel else "OrderedReady"
    document = {
        "metadata": {"name": "web", "namespace": "ns", "uid": "u", "generation": 3},
        "spec": {"podManagementPolicy": policy, **spec},
        "status": status or {},
    }
    return msgspec.convert(document, StatefulSet)


def pod(
    ordinal: int,
    revision: str = NEW,
    *,
    ready: bool = True,
    phase: str = "",
    going: bool = False,
) -> Pod:
    """The pod of an ordinal; ready unless told otherwise."""
    metadata: dict[str, Any] = {
        "name": f"web-{ordinal}",
        "namespace": "ns",
        "uid": f"uid-{ordinal}",
        "labels": {REVISION_LABEL: revision},
    }
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    status = {"phase": phase or ("Running" if ready else "Pending"), "conditions": [READY] if ready else []}
    return msgspec.convert({"metadata": metadata, "status": status}, Pod)


def document(**spec: Any) -> dict[str, Any]:
    """A StatefulSet as the server sends it."""
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "ns", "uid": "u", "annotations": {"a": "b"}},
        "spec": {
            "serviceName": "svc",
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": {"n": "1"}},
                "spec": {"containers": [{"name": "main", "image": "x"}], "volumes": [{"name": "tmp", "emptyDir": {}}]},
            },
            **spec,
        },
    }
