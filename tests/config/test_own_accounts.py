"""The policies on our own accounts let through what the processes write; on a server it is tested in tests/conformance."""

import re
from typing import Any

import pytest

from api.constants import CONTROLLERS_NAME, SCHEDULER_NAME, SYSTEM_NAMESPACE, WEBHOOKS_NAME
from api.meta import Metadata
from api.podgroup import PodGroup
from install.manifests import load
from kube.client.resources import VALIDATING_POLICIES
from providers.base import Provider
from providers.selection import standard_providers

POLICIES: dict[str, dict[str, Any]] = {
    each.name: each.body["spec"] for each in load("policy") if each.resource == VALIDATING_POLICIES
}
GROUP = PodGroup(metadata=Metadata(name="g", uid="u", annotations={"tutti.scheduler/managed-by": "tutti"}))


@pytest.mark.parametrize(
    ("policy", "account"),
    [
        ("tutti-controllers-pods", CONTROLLERS_NAME),
        ("tutti-controllers-kueue", CONTROLLERS_NAME),
        ("tutti-controllers-groups", CONTROLLERS_NAME),
        ("tutti-scheduler-pod-status", SCHEDULER_NAME),
        ("tutti-scheduler-claims", SCHEDULER_NAME),
        ("tutti-webhooks-authorities", WEBHOOKS_NAME),
    ],
)
def test_each_policy_is_for_one_account(policy: str, account: str) -> None:
    (condition,) = POLICIES[policy]["matchConditions"]
    wanted = f"request.userInfo.username == 'system:serviceaccount:{SYSTEM_NAMESPACE}:{account}'"
    assert condition["expression"] == wanted


@pytest.mark.parametrize("provider", standard_providers().all, ids=lambda each: each.name)
def test_what_the_controllers_tell_a_pod_is_what_they_may_change(provider: Provider) -> None:
    expression = POLICIES["tutti-controllers-pods"]["validations"][1]["expression"]
    named = set(re.findall(r"'(tutti\.scheduler/[a-z-]+)'", expression))
    told = provider.association(GROUP)
    assert {*told.labels, *told.annotations} <= named
