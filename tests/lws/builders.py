"""LeaderWorkerSets, leaders, worker StatefulSets and groups as the API server would have them."""

import json
from typing import Any

import msgspec

from api.constants import (
    INCARNATION,
    LWS_GROUP_INDEX,
    LWS_GROUP_KEY,
    LWS_NAME,
    LWS_REVISION,
    LWS_SIZE,
    LWS_WORKER_INDEX,
    MANAGED,
    POD_GROUP,
)
from api.lws import LeaderWorkerSet
from api.revision import Revision

Object = dict[str, Any]

NAMESPACE = "default"


def lws(
    *,
    size: int | None = 3,
    replicas: int | None = 2,
    annotations: dict[str, str] | None = None,
    managed: str | None = "embedded",
    startup: str = "LeaderCreated",
    leader: Object | None = None,
    worker: Object | None = None,
    uid: str = "set-uid",
    **metadata: Any,
) -> Object:
    """A LeaderWorkerSet; `leader` and `worker` are the fields of the two templates' specs."""

    def template(spec: Object | None) -> Object:
        labels = {MANAGED: managed} if managed else {}
        return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main"}], **(spec or {})}}

    templates: Object = {"workerTemplate": template(worker)}
    if size is not None:
        templates["size"] = size
    if leader is not None:
        templates["leaderTemplate"] = template(leader)
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {
            "name": "serve",
            "namespace": NAMESPACE,
            "uid": uid,
            "resourceVersion": "1",
            "annotations": dict(annotations or {}),
            **metadata,
        },
        "spec": {"replicas": replicas, "startupPolicy": startup, "leaderWorkerTemplate": templates},
    }


def typed(document: Object) -> LeaderWorkerSet:
    return msgspec.convert(document, LeaderWorkerSet)


def owner(kind: str, name: str, uid: str) -> Object:
    versions = {"Pod": "v1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}
    return {
        "apiVersion": versions.get(kind, "apps/v1"),
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
    }


def leader(
    index: int = 0,
    *,
    group: str | None = "group",
    uid: str | None = None,
    size: int = 3,
    revision: str = "rev1",
    managed: str | None = "embedded",
    node: str = "",
    set_uid: str = "leaders-uid",
    annotations: dict[str, str] | None = None,
    **metadata: Any,
) -> Object:
    """The leader pod of a replica."""
    labels = {
        LWS_NAME: "serve",
        LWS_WORKER_INDEX: "0",
        LWS_GROUP_INDEX: str(index),
        LWS_GROUP_KEY: f"key-{index}",
        LWS_REVISION: revision,
    }
    said = {LWS_SIZE: str(size), **(annotations or {})}
    if group is not None:
        said |= {POD_GROUP: f"{group}-{index}" if group == "group" else group, INCARNATION: "token"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"serve-{index}",
            "namespace": NAMESPACE,
            "uid": uid or f"leader-{index}-uid",
            "resourceVersion": "1",
            "labels": labels | ({MANAGED: managed} if managed else {}),
            "annotations": said,
            "ownerReferences": [owner("StatefulSet", "serve", set_uid)],
            **metadata,
        },
        "spec": {"nodeName": node, "containers": []},
        "status": {"phase": "Pending"},
    }


def stateful_set(
    name: str = "serve", *, uid: str = "leaders-uid", controller: Object | None = None, group: str | None = None
) -> Object:
    """The leader StatefulSet, or a worker StatefulSet."""
    annotations = {POD_GROUP: group} if group else {}
    labels = {LWS_NAME: "serve"} | ({} if name == "serve" else {LWS_GROUP_INDEX: name.rpartition("-")[2]})
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": uid,
            "resourceVersion": "1",
            "labels": labels,
            "ownerReferences": [controller or owner("LeaderWorkerSet", "serve", "set-uid")],
        },
        "spec": {"template": {"metadata": {"labels": {MANAGED: "embedded"}, "annotations": annotations}, "spec": {}}},
    }


def worker_set(index: int = 0, *, group: str | None = "group") -> Object:
    """The worker StatefulSet of a replica."""
    named = f"{group}-{index}" if group == "group" else group
    controller = owner("Pod", f"serve-{index}", f"leader-{index}-uid")
    return stateful_set(f"serve-{index}", uid=f"workers-{index}-uid", controller=controller, group=named)


def revision(
    *, name: str = "rev1", leader: Object | None = None, worker: Object | None = None, size: int = 3
) -> Object:
    """A ControllerRevision with the templates of a revision."""
    templates: Object = {"size": size, "$patch": "replace", "workerTemplate": worker or pod_template()}
    if leader is not None:
        templates["leaderTemplate"] = leader
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"serve-{name}-1",
            "namespace": NAMESPACE,
            "uid": f"{name}-uid",
            "resourceVersion": "1",
            "labels": {LWS_NAME: "serve", LWS_REVISION: name},
            "ownerReferences": [owner("LeaderWorkerSet", "serve", "set-uid")],
        },
        "data": {"spec": {"leaderWorkerTemplate": templates}},
        "revision": 1,
    }


def typed_revision(document: Object) -> Revision:
    return msgspec.json.decode(json.dumps(document), type=Revision)


def pod_template(*, cpu: object = "100m", **spec: Any) -> Object:
    """A pod template whose container asks for some CPU."""
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [container], **spec}}
