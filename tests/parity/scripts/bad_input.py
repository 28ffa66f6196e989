"""What no server should take, and what it says."""

from tests.parity.scripts.objects import config_map, job
from tests.parity.steps import ANONYMOUS, NOBODY, Script, Step, delete, get, patch, post, put

MAPS = "/api/v1/namespaces/{ns}/configmaps"
ONE = f"{MAPS}/one"
MEGABYTE = 1024 * 1024

BAD_INPUT = Script(
    "bad-input",
    [
        post("malformed JSON", MAPS, b'{"kind": "ConfigMap", '),
        post("no JSON at all", MAPS, b"\x00\x01\x02"),
        post("an empty body", MAPS, b""),
        post("a list", MAPS, b"[]"),
        post("a number", MAPS, b"1"),
        post("null", MAPS, b"null"),
        post("an empty object", MAPS, {}),
        post("another kind", MAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}),
        post("another version", MAPS, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "x"}}),
        post("another namespace", MAPS, config_map("x", namespace="default")),
        post("no name", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
        post("a namespace that is not there", "/api/v1/namespaces/nowhere/configmaps", config_map("x")),
        post("metadata of another type", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": []}),
        post(
            "labels of another type",
            MAPS,
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"a": 1}}},
        ),
        post(
            "data of another type",
            MAPS,
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": 1}},
        ),
        post(
            "a field twice",
            MAPS,
            b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}',
            query={"fieldValidation": "Strict"},
        ),
        post(
            "a field in another case",
            MAPS,
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "Data": {}},
            query={"fieldValidation": "Strict"},
        ),
        post("a bad trial", MAPS, config_map("x"), query={"dryRun": "Some"}),
        post("a bad validation", MAPS, config_map("x"), query={"fieldValidation": "Much"}),
        post("a content type that nobody reads", MAPS, config_map("x"), content_type="text/plain"),
        post("too much data", MAPS, config_map("x", data={"a": "x" * (MEGABYTE + 1)})),
        post("far too much data", MAPS, config_map("x", data={"a": "x" * (4 * MEGABYTE)})),
        post("annotations that are too large", MAPS, config_map("x", annotations={"a": "x" * (300 * 1024)})),
        post("bad names of finalizers", MAPS, config_map("x", finalizers=["bad"])),
        post(
            "owners without a UID",
            MAPS,
            config_map("x", ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "p"}]),
        ),
        post(
            "yaml",
            MAPS,
            b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-yaml}\ndata: {a: b}\n",
            content_type="application/yaml",
        ),
        get("an unknown resource", "/api/v1/namespaces/{ns}/nothings"),
        get("an unknown object of it", "/api/v1/namespaces/{ns}/nothings/x"),
        get("an unknown group", "/apis/nothing.example.org/v1/things"),
        get("an unknown version", "/apis/batch/v9/namespaces/{ns}/jobs"),
        get("an unknown subresource", f"{MAPS}/one/nothing"),
        get("an unknown path", "/nothing"),
        post("a subresource that can only be read", "/api/v1/namespaces/{ns}/pods/x/log", {}),
        Step("a method that nobody knows", "BREW", MAPS),
        post("create on a name", f"{MAPS}/one", config_map("one")),
        put("replace a collection", MAPS, config_map("one")),
        patch("patch a collection", MAPS, {}),
        delete("options that are no JSON", f"{MAPS}/one", b"{"),
        delete("a bad grace", f"{MAPS}/one", {"gracePeriodSeconds": "x"}),
        delete(
            "a policy and orphans at once",
            f"{MAPS}/from-yaml",
            {"propagationPolicy": "Orphan", "orphanDependents": True},
        ),
        get("no token", MAPS, user=ANONYMOUS),
        get("a wrong token", MAPS, user="wrong-token"),
        get("nobody's right", MAPS, user=NOBODY),
        post("nobody's right to write", "/apis/batch/v1/namespaces/{ns}/jobs", job("x"), user=NOBODY),
        delete("nobody's right to delete", "/api/v1/nodes/x", user=NOBODY),
        get("nobody on an unknown path", "/nothing", user=NOBODY),
    ],
)

SCRIPTS = [BAD_INPUT]
