"""Discovery in both forms, and over HTTP."""

from typing import Any

import orjson
import pytest

from localcluster.apiserver.discovery.accept import AGGREGATED, JSON, discovery_type
from localcluster.apiserver.discovery.groups import arrange
from localcluster.apiserver.discovery.handlers import Discovery
from localcluster.apiserver.http import HttpRequest, Reply
from localcluster.apiserver.kinds.kind import KindInfo, User
from localcluster.apiserver.kinds.registry import Registry
from localcluster.apiserver.status import StatusError
from tests.localcluster.discovery.kinds import Object, kind, toy

KINDS = [
    kind(
        "",
        "v1",
        "Pod",
        "pods",
        short_names=("po",),
        categories=("all",),
        subresources=frozenset({"status", "binding", "eviction", "log"}),
    ),
    kind("", "v1", "Namespace", "namespaces", namespaced=False),
    kind("batch", "v1", "Job", "jobs", subresources=frozenset({"status"})),
    kind("apps", "v1", "Deployment", "deployments", subresources=frozenset({"scale"})),
    toy(),
]


class Asked:
    """A discovery endpoint over some kinds."""

    def __init__(self, *kinds: KindInfo) -> None:
        self.registry = Registry()
        for each in kinds or KINDS:
            self.registry.add(each)
        self.discovery = Discovery(self.registry, lambda: "127.0.0.1:1")

    async def __call__(
        self, path: str, accept: str = "", *, method: str = "GET", query: dict[str, str] | None = None, tag: str = ""
    ) -> Reply:
        headers = {"Accept": accept} | ({"If-None-Match": tag} if tag else {})
        request = HttpRequest(method, path, query or {}, headers, b"", User("admin"))
        handler = self.discovery.openapi if path.startswith("/openapi") else self.discovery.discover
        return await handler(request)

    async def json(self, path: str, accept: str = "") -> Any:
        """The document at a path."""
        return orjson.loads((await self(path, accept)).body)


def named(entries: list[Object], key: str = "name") -> list[str]:
    """The names of these entries."""
    return [each[key] for each in entries]


async def test_legacy_discovery_lists_groups_versions_and_resources() -> None:
    asked = Asked()
    assert (await asked.json("/api"))["versions"] == ["v1"]
    assert named((await asked.json("/apis"))["groups"]) == ["apps", "batch", "example.org"]
    assert (await asked.json("/apis/batch"))["preferredVersion"] == {"groupVersion": "batch/v1", "version": "v1"}
    core = await asked.json("/api/v1")
    assert core["groupVersion"] == "v1"
    assert named(core["resources"]) == [
        "namespaces",
        "pods",
        "pods/binding",
        "pods/eviction",
        "pods/log",
        "pods/status",
    ]


async def test_resources_say_what_can_be_done_with_them() -> None:
    resources = {each["name"]: each for each in (await Asked().json("/api/v1"))["resources"]}
    assert resources["pods"]["verbs"] == [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ]
    assert (resources["pods"]["shortNames"], resources["pods"]["categories"]) == (["po"], ["all"])
    assert resources["namespaces"]["namespaced"] is False
    eviction = resources["pods/eviction"]
    assert (eviction["group"], eviction["version"], eviction["kind"], eviction["verbs"]) == (
        "policy",
        "v1",
        "Eviction",
        ["create"],
    )
    scale = (await Asked().json("/apis/apps/v1"))["resources"][1]
    assert (scale["name"], scale["group"], scale["kind"]) == ("deployments/scale", "autoscaling", "Scale")


async def test_aggregated_discovery_has_exactly_the_type_that_kubectl_wants() -> None:
    reply = await Asked()("/apis", f"{AGGREGATED},application/json")
    assert reply.content_type == AGGREGATED
    document = orjson.loads(reply.body)
    assert (document["kind"], document["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    assert [each["metadata"].get("name") for each in document["items"]] == ["apps", "batch", "example.org"]
    custom = document["items"][2]["versions"][0]["resources"][0]
    assert custom["responseKind"] == {"group": "example.org", "version": "v1", "kind": "Toy"}
    assert (custom["scope"], custom["singularResource"]) == ("Namespaced", "toy")


async def test_the_core_group_is_aggregated_by_itself() -> None:
    items = (await Asked().json("/api", AGGREGATED))["items"]
    assert [each["metadata"] for each in items] == [{}]
    pods = items[0]["versions"][0]["resources"][1]
    assert named(pods["subresources"], "subresource") == ["binding", "eviction", "log", "status"]


async def test_the_tag_of_the_present_document_is_answered_without_a_body() -> None:
    asked = Asked()
    tag = (await asked("/apis", AGGREGATED)).headers["ETag"]
    again = await asked("/apis", AGGREGATED, tag=tag)
    assert (again.status, again.body) == (304, b"")
    asked.registry.add(kind("new.org", "v1", "New", "news"))
    assert (await asked("/apis", AGGREGATED, tag=tag)).status == 200


async def test_custom_kinds_come_and_go() -> None:
    asked = Asked()
    assert "example.org" in named((await asked.json("/apis"))["groups"])
    asked.registry.remove(KINDS[-1])
    assert "example.org" not in named((await asked.json("/apis"))["groups"])
    assert (await asked("/apis/example.org/v1")).status == 404


async def test_an_unknown_group_is_an_unknown_page() -> None:
    reply = await Asked()("/apis/nope/v1")
    assert (reply.status, reply.body, reply.content_type) == (404, b"404 page not found\n", "text/plain; charset=utf-8")


@pytest.mark.parametrize("path", ["/apis/batch/v9", "/api/v2", "/apis/batch/v1/jobs/too/deep"])
async def test_other_paths_do_not_exist(path: str) -> None:
    with pytest.raises(StatusError, match="the server could not find the requested resource") as refused:
        await Asked()(path)
    assert refused.value.code == 404


async def test_discovery_can_only_be_read() -> None:
    with pytest.raises(StatusError) as refused:
        await Asked()("/apis", method="POST")
    assert (refused.value.code, refused.value.reason) == (405, "MethodNotAllowed")


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("application/json", JSON),
        ("application/vnd.kubernetes.protobuf,application/json", JSON),
        (f"{AGGREGATED},application/json", AGGREGATED),
        (f"application/json,{AGGREGATED}", JSON),
        ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer", AGGREGATED),
        ("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json", JSON),
        ("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", None),
        ("text/html", None),
    ],
)
def test_the_accept_header_chooses_the_form(accept: str, wanted: str | None) -> None:
    assert discovery_type(accept, aggregated=True) == wanted


async def test_where_there_is_no_aggregated_form_the_next_one_is_taken() -> None:
    assert (await Asked()("/api/v1", f"{AGGREGATED},application/json")).content_type == JSON
    with pytest.raises(StatusError) as refused:
        await Asked()("/api/v1", AGGREGATED)
    assert refused.value.code == 406


def test_versions_are_in_the_order_of_their_maturity() -> None:
    made = [kind("g.org", version, "K", "ks") for version in ("v1alpha1", "v2", "v1beta2", "v10", "v1beta10", "other")]
    (group,) = arrange(made)
    assert [each.version for each in group.versions] == ["v10", "v2", "v1beta10", "v1beta2", "v1alpha1", "other"]


def test_the_preferred_version_comes_first() -> None:
    made = [kind("g.org", "v1", "K", "ks", preferred=False), kind("g.org", "v1beta1", "K", "ks")]
    assert arrange(made)[0].versions[0].version == "v1beta1"


async def test_openapi_documents_are_found_by_their_hash() -> None:
    asked = Asked()
    paths = (await asked.json("/openapi/v3"))["paths"]
    assert sorted(paths) == ["api/v1", "apis/apps/v1", "apis/batch/v1", "apis/example.org/v1"]
    path, _, given = paths["apis/batch/v1"]["serverRelativeURL"].partition("?hash=")
    found = await asked(path, query={"hash": given})
    assert (found.status, found.content_type) == (200, JSON)
    assert "immutable" in found.headers["Cache-Control"]
    assert (await asked(path, query={"hash": given}, tag=found.headers["ETag"])).status == 304


async def test_an_old_hash_is_sent_to_the_present_one() -> None:
    reply = await Asked()("/openapi/v3/apis/batch/v1", query={"hash": "OLD"})
    assert reply.status == 301
    assert reply.headers["Location"].startswith("/openapi/v3/apis/batch/v1?hash=")


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/apis/nope/v1", "/openapi/v3/api"])
async def test_other_openapi_documents_do_not_exist(path: str) -> None:
    assert (await Asked()(path)).status == 404


async def test_a_new_kind_changes_the_hash_of_its_own_document_only() -> None:
    asked = Asked()
    before = (await asked.json("/openapi/v3"))["paths"]
    asked.registry.add(kind("batch", "v1", "CronJob", "cronjobs"))
    after = (await asked.json("/openapi/v3"))["paths"]
    assert {key for key in after if after[key] != before[key]} == {"apis/batch/v1"}
