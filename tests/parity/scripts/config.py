"""ConfigMaps and Secrets: what they may hold, and that some never change."""

from typing import Any

from tests.parity.scripts.objects import Object, of
from tests.parity.steps import Script, delete, get, patch, post, put, quiet

CORE = "/api/v1/namespaces/{ns}"
SECRETS = f"{CORE}/secrets"
MAPS = f"{CORE}/configmaps"
ONE = f"{SECRETS}/one"
LARGE = "x" * (1024 * 1024)


def secret(name: str, **fields: Any) -> Object:
    """A Secret."""
    return of("v1", "Secret", name, **fields)


def config_map(name: str, **fields: Any) -> Object:
    """A ConfigMap."""
    return of("v1", "ConfigMap", name, **fields)


CONFIG = Script(
    "config",
    [
        post("create", SECRETS, secret("one", data={"tls.crt": "YQ==", "tls.key": "Yg=="}), keep_as="one"),
        get("read", ONE),
        put("renew", ONE, {"data": {"tls.crt": "Yw=="}}, onto="one", keep_as="two", keep={"uid": "metadata.uid"}),
        put("renew what was read before", ONE, {"data": {"tls.crt": "ZA=="}}, onto="one"),
        put("renew as it is", ONE, {}, onto="two"),
        put("renew whatever there is", ONE, secret("one", data={"a": "YQ=="})),
        put("renew what is not there", f"{SECRETS}/nothing", secret("nothing", data={"a": "YQ=="})),
        put("another type", ONE, secret("one", type="other")),
        put("another kind", ONE, config_map("one")),
        post("text and data", SECRETS, secret("both", stringData={"a": "text", "b": "é"}, data={"a": "YQ=="})),
        post("nothing", SECRETS, secret("empty")),
        post("an empty value", SECRETS, secret("blank", data={"a": "", "b": None})),
        post("what is no base64", SECRETS, secret("bad", data={"a": "?"})),
        post("what is cut short", SECRETS, secret("bad", data={"a": "YQ"})),
        post("a bad key", SECRETS, secret("bad", data={"a b": "YQ=="})),
        post("a key that goes up", SECRETS, secret("bad", data={"..": "YQ=="})),
        post("a value that is a number", SECRETS, secret("bad", stringData={"a": 1})),
        post("a bad name", SECRETS, secret("Not_A_Name")),
        post("a certificate without a key", SECRETS, secret("bad", type="kubernetes.io/tls", data={"tls.crt": "YQ=="})),
        post("a certificate", SECRETS, secret("tls", type="kubernetes.io/tls", data={"tls.crt": "", "tls.key": ""})),
        post("a login without a user", SECRETS, secret("bad", type="kubernetes.io/basic-auth")),
        post("a docker login without one", SECRETS, secret("bad", type="kubernetes.io/dockerconfigjson")),
        post("a key without one", SECRETS, secret("bad", type="kubernetes.io/ssh-auth")),
        post("a token of nobody", SECRETS, secret("bad", type="kubernetes.io/service-account-token")),
        post("too much", SECRETS, secret("bad", stringData={"a": LARGE, "b": "c"})),
        post("just enough", SECRETS, secret("full", stringData={"a": LARGE}), query={"dryRun": "All"}),
        post("one that never changes", SECRETS, secret("fixed", data={"a": "YQ=="}, immutable=True)),
        patch("change it", f"{SECRETS}/fixed", {"data": {"a": "Yg=="}}),
        patch("add to it", f"{SECRETS}/fixed", {"stringData": {"b": "b"}}),
        patch("let it change", f"{SECRETS}/fixed", {"immutable": False}),
        patch("label it", f"{SECRETS}/fixed", {"metadata": {"labels": {"a": "b"}}}),
        patch("it is not said to be fixed", ONE, {"immutable": False}),
        patch("fix it", ONE, {"immutable": True}),
        get("by type", SECRETS, query={"fieldSelector": "type=kubernetes.io/tls"}),
        delete("delete", ONE, {"preconditions": {"uid": "${uid}"}, "propagationPolicy": "Background"}),
        post("a map", MAPS, config_map("one", data={"a": "b"}, binaryData={"c": "YQ=="})),
        post("a map of a bad key", MAPS, config_map("bad", data={"a/b": "c"})),
        post("a map that says a key twice", MAPS, config_map("bad", data={"a": "b"}, binaryData={"a": "YQ=="})),
        post("a map of what is no base64", MAPS, config_map("bad", binaryData={"a": "?"})),
        post("a map of a number", MAPS, config_map("bad", data={"a": 1})),
        post("a map of too much", MAPS, config_map("bad", data={"a": LARGE, "b": "c"})),
        post(
            "a map with a bad annotation",
            MAPS,
            {**config_map("bad"), "metadata": {"name": "bad", "annotations": {"a/b/c": "d", "/e": "f", "g/": "h"}}},
        ),
        quiet(post("a fixed map", MAPS, config_map("fixed", data={"a": "b"}, immutable=True), keep_as="fixed")),
        put("change the fixed map", f"{MAPS}/fixed", {"data": {"a": "c"}}, onto="fixed"),
        put("change what it has beside", f"{MAPS}/fixed", {"binaryData": {"b": "YQ=="}}, onto="fixed"),
        put("relabel the fixed map", f"{MAPS}/fixed", {"metadata": {"labels": {"a": "b"}}}, onto="fixed"),
    ],
)

SCRIPTS = [CONFIG]
