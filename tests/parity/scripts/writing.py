"""Patches, applying and conflicts, which are the same for all kinds, and the life of a namespace."""

import json

from tests.parity.scripts.objects import LAST_APPLIED, config_map, pod
from tests.parity.steps import (
    Script,
    delete,
    get,
    patch,
    post,
    put,
    table,
)

MAPS = "/api/v1/namespaces/{ns}/configmaps"
ONE = f"{MAPS}/one"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"

PATCHES = Script(
    "patches",
    [
        post("create", MAPS, config_map("one", annotations={"a": "b"})),
        patch("merge", ONE, {"data": {"x": "y", "key": None}}),
        patch("merge nothing", ONE, {}),
        patch("strategic", ONE, {"data": {"z": "z"}, "metadata": {"labels": {"l": "m"}}}, "strategic"),
        patch(
            "strategic delete", ONE, {"data": {"z": None}, "metadata": {"labels": {"$patch": "delete"}}}, "strategic"
        ),
        patch("strategic finalizers", ONE, {"metadata": {"finalizers": ["example.org/a"]}}, "strategic"),
        patch("strategic finalizers again", ONE, {"metadata": {"finalizers": ["example.org/b"]}}, "strategic"),
        patch(
            "strategic finalizer removed",
            ONE,
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.org/a"]}},
            "strategic",
        ),
        patch(
            "json",
            ONE,
            [{"op": "add", "path": "/data/j", "value": "1"}, {"op": "test", "path": "/data/j", "value": "1"}],
            "json",
        ),
        patch("json escaped", ONE, [{"op": "add", "path": "/metadata/annotations/a~1b", "value": "1"}], "json"),
        patch(
            "json move and copy",
            ONE,
            [
                {"op": "copy", "from": "/data/j", "path": "/data/k"},
                {"op": "move", "from": "/data/k", "path": "/data/m"},
            ],
            "json",
        ),
        patch("json test that fails", ONE, [{"op": "test", "path": "/data/j", "value": "2"}], "json"),
        patch("json path that is not there", ONE, [{"op": "remove", "path": "/data/nothing"}], "json"),
        patch("json that is an object", ONE, {"op": "add"}, "json"),
        patch("json unknown operation", ONE, [{"op": "put", "path": "/data/j", "value": "2"}], "json"),
        patch("merge that is a list", ONE, [], "merge"),
        patch("merge that is no JSON", ONE, b"{", "merge"),
        patch("unknown patch type", ONE, {}, "application/json"),
        patch("what is not there", f"{MAPS}/nothing", {"data": {}}),
        patch("change the name", ONE, {"metadata": {"name": "two"}}),
        patch("change the UID", ONE, {"metadata": {"uid": "two"}}),
        patch("wrong type", ONE, {"data": {"x": 1}}),
        patch("stale version", ONE, {"metadata": {"resourceVersion": "1"}, "data": {"x": "stale"}}),
        patch("trial", ONE, {"data": {"x": "trial"}}, query={"dryRun": "All"}),
        get("the trial left nothing", ONE),
        patch("unknown field, strict", ONE, {"dota": {}}, query={"fieldValidation": "Strict"}),
        patch("unknown field, warned", ONE, {"dota": {}}, query={"fieldValidation": "Warn"}),
        patch("let it go", ONE, {"metadata": {"finalizers": None}}),
    ],
)

APPLIED = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
                ]
            },
        },
    },
}
CHANGED = {
    "spec": {
        "template": {
            "spec": {
                "$setElementOrder/containers": [{"name": "c"}],
                "containers": [
                    {
                        "name": "c",
                        "$setElementOrder/env": [{"name": "B"}],
                        "env": [{"$patch": "delete", "name": "A"}, {"name": "B", "value": "3"}],
                    }
                ],
            }
        }
    }
}
APPLY = Script(
    "apply",
    [
        get("look first", f"{DEPLOYMENTS}/web"),
        post(
            "create",
            DEPLOYMENTS,
            {**APPLIED, "metadata": {"name": "web", "annotations": {LAST_APPLIED: json.dumps(APPLIED)}}},
            query={"fieldManager": "kubectl-client-side-apply", "fieldValidation": "Strict"},
        ),
        patch(
            "change",
            f"{DEPLOYMENTS}/web",
            CHANGED,
            "strategic",
            query={"fieldManager": "kubectl-client-side-apply", "fieldValidation": "Strict"},
        ),
        get("read", f"{DEPLOYMENTS}/web"),
        table("as a table", f"{DEPLOYMENTS}/web"),
        get("scale", f"{DEPLOYMENTS}/web/scale"),
        patch("set the scale", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 5}}),
        patch("set a bad scale", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": -5}}),
        patch("change the selector", f"{DEPLOYMENTS}/web", {"spec": {"selector": {"matchLabels": {"c": "d"}}}}),
        patch("apply on the server", f"{DEPLOYMENTS}/web", APPLIED, "apply", query={"fieldManager": "me"}),
        delete("delete", f"{DEPLOYMENTS}/web"),
    ],
)

CONFLICTS = Script(
    "conflicts",
    [
        post("create", MAPS, config_map("one"), keep={"old": "metadata.resourceVersion", "uid": "metadata.uid"}),
        put(
            "replace",
            ONE,
            config_map("one", data={"a": "b"}, resourceVersion="${old}"),
            keep={"now": "metadata.resourceVersion"},
        ),
        put("replace again with the old version", ONE, config_map("one", data={"a": "c"}, resourceVersion="${old}")),
        put("replace with no version", ONE, config_map("one", data={"a": "c"})),
        put("replace with the same", ONE, config_map("one", data={"a": "c"})),
        put("replace with another UID", ONE, config_map("one", uid="22222222-2222-2222-2222-222222222222")),
        put("replace under another name", ONE, config_map("two")),
        put("replace what is not there", f"{MAPS}/two", config_map("two")),
        put("replace with a version that is no number", ONE, config_map("one", resourceVersion="x")),
        patch("patch with the old version", ONE, {"metadata": {"resourceVersion": "${old}"}, "data": {"a": "d"}}),
        delete("delete with the old version", ONE, {"preconditions": {"resourceVersion": "${old}"}}),
        delete("delete with another UID", ONE, {"preconditions": {"uid": "33333333-3333-3333-3333-333333333333"}}),
        delete("delete for trial", ONE, query={"dryRun": "All"}),
        delete("delete", ONE, {"preconditions": {"uid": "${uid}"}}),
        post("create with a version", MAPS, config_map("three", resourceVersion="5")),
        post("create with a UID", MAPS, config_map("four", uid="44444444-4444-4444-4444-444444444444")),
    ],
)

NAMESPACES = Script(
    "namespaces",
    [
        post(
            "create",
            "/api/v1/namespaces",
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "parity-made"}},
        ),
        post(
            "create with a bad name",
            "/api/v1/namespaces",
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "Parity.Bad"}},
        ),
        table("as a table", "/api/v1/namespaces/parity-made"),
        post("create something in it", "/api/v1/namespaces/parity-made/configmaps", config_map("c")),
        delete("delete", "/api/v1/namespaces/parity-made"),
        get("it terminates", "/api/v1/namespaces/parity-made"),
        post("nothing new in it", "/api/v1/namespaces/parity-made/pods", pod("p")),
        table("terminating as a table", "/api/v1/namespaces/parity-made"),
        get("a namespace that is not there", "/api/v1/namespaces/nowhere"),
        get("a list in a namespace that is not there", "/api/v1/namespaces/nowhere/pods"),
    ],
)

SCRIPTS = [PATCHES, APPLY, CONFLICTS, NAMESPACES]
