"""Which rights are asked for, and how missing ones are named."""

import pytest

from api.errors import ConfigurationError
from install.manifests import load
from install.rights import Right, granted_to, missing, needed_to_install, require
from kube.client.errors import NotFound
from tests.install.fake_cluster import FakeCluster


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Right("get", "", "pods"), "get pods"),
        (Right("create", "rbac.authorization.k8s.io", "roles", "a"), "create roles.rbac.authorization.k8s.io in a"),
        (Right("create", "", "serviceaccounts/token", "a"), "create serviceaccounts/token in a"),
        (Right("update", "coordination.k8s.io", "leases", "a", "b"), "update leases.coordination.k8s.io b in a"),
    ],
)
def test_a_right_reads_as_a_person_says_it(wanted: Right, text: str) -> None:
    assert str(wanted) == text


def test_installing_needs_to_create_every_kind_and_to_remove_the_webhooks() -> None:
    rights = {str(each) for each in needed_to_install(load("crd") + load("rbac") + load("webhook"), "tutti-system")}
    assert "create customresourcedefinitions.apiextensions.k8s.io" in rights
    assert "delete mutatingwebhookconfigurations.admissionregistration.k8s.io" in rights
    assert "create serviceaccounts/token in tutti-system" in rights
    assert not any(each.startswith("delete clusterroles") for each in rights)


def test_a_named_object_is_asked_for_by_its_name() -> None:
    granted = granted_to("tutti-webhooks", load("rbac"))
    assert Right("update", "", "secrets", "tutti-system", "tutti-webhooks-certificates") in granted
    assert Right("patch", "batch", "jobs") not in granted


async def test_missing_rights_are_counted_when_they_are_many() -> None:
    cluster = FakeCluster(denied={("get", str(number)) for number in range(9)})
    with pytest.raises(ConfigurationError, match=r"tutti run needs .*: get 0, get 1, .* get 5 and 3 more$"):
        await require(cluster, [Right("get", "", str(number)) for number in range(9)], purpose="tutti run")


async def test_a_server_without_access_reviews_guards_nothing() -> None:
    class Open(FakeCluster):
        async def request_json(self, *_: object, **__: object) -> dict[str, object]:
            raise NotFound(404, "NotFound", "no such path")

    assert await missing(Open(), [Right("get", "", "pods")]) == []
