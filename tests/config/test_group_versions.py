"""What guards groups guards them in every version in which a server may serve them."""

import pytest

from install.manifests import load
from kube.groups.group_api import GROUP_APIS

GROUPS = {api.pod_groups.group for api in GROUP_APIS}
VERSIONS = {api.pod_groups.version for api in GROUP_APIS}


def webhooks() -> list[object]:
    found: list[object] = [
        pytest.param(entry["matchPolicy"], rule["apiVersions"], id=entry["name"])
        for manifest in load("webhook")
        for entry in manifest.body["webhooks"]
        for rule in entry["rules"]
        if GROUPS & set(rule["apiGroups"])
    ]
    assert found
    return found


def policies() -> list[object]:
    found: list[object] = [
        pytest.param(rule["apiVersions"], id=manifest.name)
        for manifest in load("policy")
        for rule in manifest.body["spec"].get("matchConstraints", {}).get("resourceRules", [])
        if GROUPS & set(rule["apiGroups"])
    ]
    assert found
    return found


@pytest.mark.parametrize(("match_policy", "versions"), webhooks())
def test_a_webhook_about_groups_names_every_version_and_meets_those_it_does_not_know(
    match_policy: str, versions: list[str]
) -> None:
    assert set(versions) == VERSIONS
    assert match_policy == "Equivalent"


@pytest.mark.parametrize("versions", policies())
def test_a_policy_about_groups_holds_in_all_versions(versions: list[str]) -> None:
    assert versions == ["*"]
