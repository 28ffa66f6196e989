"""StatefulSets, their revisions and headless services, without anybody who runs them."""

import json
from typing import Any

from tests.parity.steps import Script, get, patch, post, table

SETS = "/apis/apps/v1/namespaces/{ns}/statefulsets"
ONE = f"{SETS}/one"
REVISIONS = "/apis/apps/v1/namespaces/{ns}/controllerrevisions"
SERVICES = "/api/v1/namespaces/{ns}/services"
LABELS = {"app": "one"}


def stateful_set(name: str, template: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    pods = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "x:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "serviceName": "one",
            "selector": {"matchLabels": LABELS},
            "template": {**pods, **(template or {})},
            **spec,
        },
    }


def pods(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "image": "x:1"}], **spec}}


OWNER = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "name": "one",
    "uid": "0c1e9cf1-1b5a-4b8e-9a53-2f1c8f3b7a10",
    "controller": True,
}


def compact(body: dict[str, Any]) -> bytes:
    """Without blanks: what a revision holds is kept byte for byte, and compared so."""
    return json.dumps(body, separators=(",", ":")).encode()


def revision(name: str, *, owner: bool = False, prefix: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "labels": LABELS,
            **({"ownerReferences": [OWNER]} if owner else {}),
            **({"generateName": prefix} if prefix else {}),
        },
        "data": {"spec": {"template": {"$patch": "replace"}}},
        "revision": 1,
        **fields,
    }


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
ROLLING = {"type": "RollingUpdate"}

SETS_SCRIPT = Script(
    "stateful-sets",
    [
        post("create", SETS, stateful_set("one")),
        post("create a second time", SETS, stateful_set("one")),
        post(
            "create as leaders are",
            SETS,
            stateful_set(
                "leaders",
                podManagementPolicy="Parallel",
                replicas=3,
                ordinals={"start": 1},
                updateStrategy={**ROLLING, "rollingUpdate": {"partition": 1, "maxUnavailable": 2}},
            ),
        ),
        post(
            "create with claims",
            SETS,
            stateful_set(
                "claims",
                pods(
                    containers=[
                        {"name": "main", "image": "x:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
                    ]
                ),
                volumeClaimTemplates=[CLAIM],
            ),
        ),
        post("create on delete", SETS, stateful_set("on-delete", updateStrategy={"type": "OnDelete"})),
        post(
            "create with images of all kinds",
            SETS,
            stateful_set(
                "images",
                pods(
                    containers=[
                        {"name": "a", "image": "x"},
                        {"name": "b", "image": "x:latest"},
                        {"name": "c", "image": "IMAGE_NAME"},
                        {"name": "d", "image": "<image>"},
                        {"name": "e", "image": "x@sha256:" + 64 * "0"},
                    ]
                ),
            ),
        ),
        post("create without a selector", SETS, stateful_set("bad", selector=None)),
        post("create with an empty selector", SETS, stateful_set("bad", selector={})),
        post("create with another selector", SETS, stateful_set("bad", selector={"matchLabels": {"app": "two"}})),
        post("create without a service", SETS, stateful_set("unserved", serviceName="")),
        post("create with negative replicas", SETS, stateful_set("bad", replicas=-1)),
        post("create with a negative start", SETS, stateful_set("bad", ordinals={"start": -1})),
        post("create with an unknown order", SETS, stateful_set("bad", podManagementPolicy="Random")),
        post("create with an unknown strategy", SETS, stateful_set("bad", updateStrategy={"type": "Recreate"})),
        post(
            "create with a negative partition",
            SETS,
            stateful_set("bad", updateStrategy={**ROLLING, "rollingUpdate": {"partition": -1}}),
        ),
        post(
            "create with nothing unavailable",
            SETS,
            stateful_set("bad", updateStrategy={**ROLLING, "rollingUpdate": {"maxUnavailable": 0}}),
        ),
        post(
            "create with too much unavailable",
            SETS,
            stateful_set("bad", updateStrategy={**ROLLING, "rollingUpdate": {"maxUnavailable": "101%"}}),
        ),
        post(
            "create with a bad amount unavailable",
            SETS,
            stateful_set("bad", updateStrategy={**ROLLING, "rollingUpdate": {"maxUnavailable": "many"}}),
        ),
        post(
            "create on delete with a partition",
            SETS,
            stateful_set("bad", updateStrategy={"type": "OnDelete", "rollingUpdate": {"partition": 1}}),
        ),
        post("create with a bad restart policy", SETS, stateful_set("bad", pods(restartPolicy="Never"))),
        post("create with a deadline", SETS, stateful_set("bad", pods(activeDeadlineSeconds=5))),
        post("create with a negative wait", SETS, stateful_set("bad", minReadySeconds=-1)),
        post("create without containers", SETS, stateful_set("hollow", {"spec": {}}), query={"dryRun": "All"}),
        post("create with a long name", SETS, stateful_set("n" * 64)),
        post("create with a dotted name", SETS, stateful_set("a.b"), query={"dryRun": "All"}),
        post(
            "create with a bad retention",
            SETS,
            stateful_set("bad", persistentVolumeClaimRetentionPolicy={"whenDeleted": "Keep", "whenScaled": "Delete"}),
        ),
        get("get", ONE),
        table("list as a table", SETS),
        patch("scale", ONE, {"spec": {"replicas": 5}}),
        patch("change the template", ONE, {"spec": {"template": {"metadata": {"labels": {"b": "c"}}}}}),
        patch("change the partition", ONE, {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 2}}}}),
        patch("change the selector", ONE, {"spec": {"selector": {"matchLabels": {"app": "two"}}}}),
        patch("change the service", ONE, {"spec": {"serviceName": "two"}}),
        patch("change the order", ONE, {"spec": {"podManagementPolicy": "Parallel"}}),
        patch("change the claims", f"{SETS}/claims", {"spec": {"volumeClaimTemplates": []}}),
        patch("change the first ordinal", ONE, {"spec": {"ordinals": {"start": 3}}}),
        patch(
            "change the retention", ONE, {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}}
        ),
        get("get the scale", f"{ONE}/scale"),
        patch("scale by the subresource", f"{ONE}/scale", {"spec": {"replicas": 2}}),
        patch(
            "write the status",
            f"{ONE}/status",
            {"spec": {"replicas": 9}, "status": {"replicas": 2, "readyReplicas": 1, "currentReplicas": 2}},
        ),
        patch("write a bad status", f"{ONE}/status", {"status": {"replicas": -1}}),
        patch("write a status with too many ready", f"{ONE}/status", {"status": {"readyReplicas": 7}}),
        table("get as a table", ONE),
        post("create a revision", REVISIONS, compact(revision("one-abc", owner=True))),
        post("create a revision with a name and a prefix", REVISIONS, compact(revision("two-abc", prefix="two-"))),
        post("create it a second time", REVISIONS, compact(revision("two-abc", prefix="two-"))),
        post("create a revision without data", REVISIONS, revision("bad", data=None)),
        post("create a revision with a negative number", REVISIONS, revision("bad", revision=-1)),
        patch("renumber a revision", f"{REVISIONS}/one-abc", {"revision": 2}),
        patch("change a revision", f"{REVISIONS}/one-abc", {"data": {"spec": {"template": {"x": "y"}}}}),
        table("list revisions as a table", REVISIONS),
        post("create a headless service", SERVICES, service("headless", clusterIP="None", selector=LABELS)),
        post(
            "create a headless service of pods that are not ready",
            SERVICES,
            service("early", clusterIP="None", publishNotReadyAddresses=True, selector=LABELS),
        ),
        table("list services as a table", SERVICES, query={"fieldSelector": "metadata.name=headless"}),
        patch("select others", f"{SERVICES}/headless", {"spec": {"selector": {"app": "two"}}}),
    ],
)

SCRIPTS = [SETS_SCRIPT]
