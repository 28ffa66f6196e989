"""A Job that the API server's own policy has held (config/components/hold-gangs): the webhooks decide as if it had not."""

from typing import Any

import pytest

from api.constants import (
    GATE,
    GATE_POD_GROUP,
    HELD,
    HELD_AND_GATED,
    HELD_MARKED,
    KUEUE_QUEUE,
    MANAGED,
    POLICY,
    PROVIDER,
)
from install.manifests import load
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, patched, request
from webhooks.admission.config import AdmissionConfig
from webhooks.job.defaulter import default_job


def held(**settings: Any) -> Object:
    """The Job after the policy."""
    found = job(**settings)
    found["metadata"].setdefault("annotations", {}).update({GATE: GATE_POD_GROUP, HELD: HELD_AND_GATED})
    found["spec"]["suspend"] = True
    return marked(found)


def marked(found: Object) -> Object:
    """The Job with what the policy writes into every template."""
    found["metadata"].setdefault("annotations", {}).setdefault(HELD, HELD_MARKED)
    template = found["spec"]["template"]
    template.setdefault("metadata", {}).setdefault("labels", {})[MANAGED] = "embedded"
    template["spec"]["schedulerName"] = "tutti"
    return found


def stored(new: Object, **settings: Any) -> Object:
    """The Job as stored, without maps that have become empty."""
    config = AdmissionConfig(
        standard_providers(default_provider=settings.pop("default_provider", "embedded")), **settings
    )
    once = patched(new, default_job(request(new), config))
    assert default_job(request(once), config).patch == ()
    return dict(without_empties(once))


def without_empties(value: Any) -> Any:
    """The same without empty maps, and without `suspend: false`."""
    if not isinstance(value, dict):
        return value
    kept = {key: without_empties(each) for key, each in value.items() if key != "suspend" or each}
    return {key: each for key, each in kept.items() if each != {}}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"default_provider": "volcano"},
        {"gang_jobs": False},
        {"defaults": {POLICY: "none"}},
        {"namespace": lambda _: {PROVIDER: "volcano"}},
        {"add_pod_failure_policy": False},
    ],
    ids=["standard", "another provider", "switched off", "none by default", "another in the namespace", "bare"],
)
def test_whatever_is_decided_is_what_would_have_been_decided_without_the_policy(settings: dict[str, Any]) -> None:
    assert stored(held(), **settings) == stored(job(), **settings)
    for others in (
        {"suspend": True},
        {"labels": {KUEUE_QUEUE: "team"}},
        {"labels": {KUEUE_QUEUE: "team"}, "suspend": True},
    ):
        assert stored(marked(job(**others)), **settings) == stored(job(**others), **settings)


def test_a_job_that_kueue_has_queued_meanwhile_stays_suspended_for_kueue_alone() -> None:
    """Kueue's webhook gives a Job its default queue behind the policy and before ours; it finds the Job suspended already."""
    queued = held()
    queued["metadata"]["labels"] = {KUEUE_QUEUE: "default"}
    found = stored(queued)
    assert found["spec"]["suspend"] is True
    assert GATE not in found["metadata"].get("annotations", {})
    assert found["spec"]["template"]["metadata"]["labels"][MANAGED] == "embedded"


def test_no_trace_of_the_policy_stays() -> None:
    assert HELD not in stored(held())["metadata"]["annotations"]


def test_a_copy_of_a_held_job_that_has_started_since_keeps_what_its_user_says() -> None:
    copied = held(suspend=True)
    del copied["metadata"]["annotations"][GATE]
    found = stored(copied)
    assert found["spec"]["suspend"] is True
    assert HELD not in found["metadata"].get("annotations", {})


def test_the_policy_writes_just_what_the_webhooks_take_off() -> None:
    policy, _ = load("components/hold-gangs")
    (mutation,) = policy.body["spec"]["mutations"]
    written = mutation["applyConfiguration"]["expression"]
    values = {GATE: GATE_POD_GROUP, MANAGED: "embedded"}
    parts = [f'"{key}": "{value}"' for key, value in values.items()]
    for part in (*parts, f'"{HELD}": "{HELD_AND_GATED}"', f'"{HELD}": "{HELD_MARKED}"', "suspend: true"):
        assert part in written
    assert 'schedulerName: "tutti"' in written


def test_the_policy_holds_no_job_in_a_namespace_that_the_webhooks_leave_alone() -> None:
    policy, _ = load("components/hold-gangs")
    (webhooks,) = [each.body for each in load("webhook") if each.resource.kind == "MutatingWebhookConfiguration"]
    entry = next(each for each in webhooks["webhooks"] if each["name"] == "create.jobs.tutti.scheduler")
    constraints = policy.body["spec"]["matchConstraints"]
    assert constraints["namespaceSelector"] == entry["namespaceSelector"]
    assert [rule["resources"] for rule in constraints["resourceRules"]] == [["jobs"]]
    assert policy.body["spec"]["failurePolicy"] == "Ignore"
