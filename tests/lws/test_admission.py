"""Admission of LeaderWorkerSets, their leaders and their worker StatefulSets."""

import asyncio
from typing import Any

import msgspec
import pytest

from api.constants import (
    ELASTIC,
    INCARNATION,
    LWS_WORKER_INDEX,
    MANAGED,
    MIN_COUNT,
    ON_SCHEDULING_TIMEOUT,
    POD_GROUP,
    POD_GROUP_UID,
    POLICY,
    PROVIDER,
    SCHEDULING_TIMEOUT,
)
from api.meta import Metadata
from kube.groups.group_api import BUILT_IN, OWN
from providers.selection import standard_providers
from tests.lws.builders import NAMESPACE, Object, leader, lws, owner, worker_set
from tests.webhooks.builders import apply
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import ALLOWED, GroupResource, Request, Response
from webhooks.leaderworkerset import default_leader_worker_set
from webhooks.pod import default_leader_pod
from webhooks.statefulset import default_stateful_set

PROVIDERS = standard_providers()
RULES = AdmissionConfig(PROVIDERS)


def request(new: Object, old: Object | None = None) -> Request:
    return Request(
        uid="u",
        operation="CREATE" if old is None else "UPDATE",
        resource=GroupResource(),
        namespace=NAMESPACE,
        object=msgspec.Raw(msgspec.json.encode(new)),
        old_object=msgspec.Raw(msgspec.json.encode(old)),
    )


def admit(new: Object, old: Object | None = None, rules: AdmissionConfig = RULES) -> Object:
    response = default_leader_worker_set(request(new, old), rules)
    assert response.allowed, response.message
    stored = apply(new, response.patch)
    assert default_leader_worker_set(request(stored, old), rules).patch == ()
    return stored


def templates(document: Object) -> list[Object]:
    found = document["spec"]["leaderWorkerTemplate"]
    return [found[key] for key in ("leaderTemplate", "workerTemplate") if key in found]


def marks(document: Object) -> set[tuple[str | None, str | None]]:
    return {
        (each["metadata"].get("labels", {}).get(MANAGED), each["spec"].get("schedulerName"))
        for each in templates(document)
    }


def test_a_set_that_names_a_profile_of_the_embedded_scheduler_keeps_the_name() -> None:
    rules = AdmissionConfig(standard_providers(profile_names=("tutti-packed",)))
    assert marks(admit(lws(managed=None, worker={"schedulerName": "tutti-packed"}), rules=rules)) == {
        ("embedded", "tutti-packed")
    }


def test_a_new_set_of_gangs_is_marked_in_all_its_templates() -> None:
    assert marks(admit(lws(managed=None))) == {("embedded", "tutti")}
    assert marks(admit(lws(managed=None, leader={}))) == {("embedded", "tutti")}
    assert marks(admit(lws(managed=None, worker={"schedulerName": "default-scheduler"}))) == {("embedded", "tutti")}


def test_a_scheduler_that_one_template_names_is_that_of_both() -> None:
    assert marks(admit(lws(managed=None, leader={"schedulerName": "tutti"}))) == {("embedded", "tutti")}


@pytest.mark.parametrize(
    ("more", "warning"),
    [
        ({"size": 1}, ""),
        ({"annotations": {POLICY: "none"}}, ""),
        ({"worker": {"schedulerName": "mine"}}, "names the scheduler mine"),
        ({"leader": {"priorityClassName": "high"}}, "differ in priorityClassName"),
        ({"annotations": {PROVIDER: "kueue"}}, "provider kueue takes LeaderWorkerSets in by itself"),
        ({"annotations": {PROVIDER: "volcano", POLICY: "basic"}}, "provider volcano has no use"),
        ({"leader": {}, "worker": {"schedulerName": "mine"}}, "names the scheduler mine"),
    ],
)
def test_what_is_no_gang_stays_as_it_is_with_a_reason(more: dict[str, Any], warning: str) -> None:
    new = lws(managed=None, **more)
    response = default_leader_worker_set(request(new), RULES)
    assert response.patch == ()
    assert bool(response.warnings) == bool(warning)
    assert all("placed one by one" in text for text in response.warnings)


def test_settings_that_cannot_be_used_are_refused() -> None:
    for annotations in ({POLICY: "gangs"}, {PROVIDER: "nobody"}):
        response = default_leader_worker_set(request(lws(managed=None, annotations=annotations)), RULES)
        assert not response.allowed
        assert "is not one of" in response.message


def test_settings_without_effect_and_names_too_long_are_warned_about() -> None:
    asked = {MIN_COUNT: "2", ELASTIC: "true", SCHEDULING_TIMEOUT: "5m", ON_SCHEDULING_TIMEOUT: "suspend"}
    warnings = default_leader_worker_set(request(lws(managed=None, annotations=asked, name="n" * 60)), RULES).warnings
    named = (MIN_COUNT, ELASTIC, ON_SCHEDULING_TIMEOUT, "60 characters")
    assert [text in warning for text, warning in zip(named, warnings, strict=True)] == [True] * 4


def test_switched_off_new_sets_are_plain_and_old_ones_stay_gangs() -> None:
    off = AdmissionConfig(PROVIDERS, gang_sets=False)
    assert marks(admit(lws(managed=None), rules=off)) == {(None, None)}
    old = admit(lws(managed=None))
    assert marks(admit(lws(managed=None, replicas=5), old, off)) == {("embedded", "tutti")}


def test_defaults_of_the_namespace_are_written_on_new_sets() -> None:
    rules = AdmissionConfig(PROVIDERS, namespace=lambda _: {POLICY: "basic", ELASTIC: "true"})
    assert admit(lws(managed=None), rules=rules)["metadata"]["annotations"] == {POLICY: "basic"}
    old = admit(lws(managed=None))
    assert admit(old, old, rules)["metadata"]["annotations"] == {}


def test_a_set_that_runs_plain_is_taken_in_only_by_an_update_that_starts_a_revision_anyway() -> None:
    old = lws(managed=None)
    assert default_leader_worker_set(request(lws(managed=None, replicas=9), old), RULES) == ALLOWED
    assert default_leader_worker_set(request(lws(managed=None, annotations={POLICY: "gang"}), old), RULES) == ALLOWED
    assert marks(admit(lws(managed=None, size=9), old)) == {("embedded", "tutti")}


def test_a_manifest_that_is_applied_again_does_not_roll_the_set_out() -> None:
    old = admit(lws(managed=None, leader={}))
    assert admit(lws(managed=None, leader={}), old)["spec"] == old["spec"]


def test_a_provider_that_was_chosen_stays() -> None:
    rules = AdmissionConfig(standard_providers(built_in_groups=True))
    old = admit(lws(managed=None, annotations={PROVIDER: "kube-scheduler"}), rules=rules)
    again = admit(lws(managed=None), old, rules)
    assert {label for label, _ in marks(again)} == {"kube-scheduler"}


def test_a_set_that_is_to_be_plain_from_now_on_loses_the_label() -> None:
    old = admit(lws(managed=None))
    new = {**old, "metadata": {**old["metadata"], "annotations": {POLICY: "none"}}}
    assert {label for label, _ in marks(admit(new, old))} == {None}


# --- leaders -----------------------------------------------------------------------------------------------------------------


def name_group(pod: Object, *, built_in: bool = False, token: str = "abc") -> Object:
    group_api = BUILT_IN if built_in else OWN
    response = default_leader_pod(request(pod), group_api=group_api, providers=PROVIDERS, new_token=lambda: token)
    assert response.allowed
    return apply(pod, response.patch)


def test_a_leader_gets_a_token_and_names_its_group() -> None:
    said = name_group(leader(group=None))["metadata"]["annotations"]
    assert said[INCARNATION] == "abc"
    assert said[POD_GROUP].startswith("serve-0-")
    assert POD_GROUP_UID not in said
    assert name_group(leader(group=None), token="other")["metadata"]["annotations"][POD_GROUP] != said[POD_GROUP]


def test_a_token_from_the_template_is_replaced() -> None:
    copied = leader(group="copied")
    said = name_group(copied)["metadata"]["annotations"]
    assert said[INCARNATION] == "abc"
    assert said[POD_GROUP] != "copied"


def test_with_the_built_in_api_the_leader_names_its_group_in_its_spec_too() -> None:
    stored = name_group(leader(group=None), built_in=True)
    assert stored["spec"]["schedulingGroup"] == {"podGroupName": stored["metadata"]["annotations"][POD_GROUP]}
    assert "schedulingGroup" not in name_group(leader(group=None))["spec"]


def test_pods_that_are_no_leaders_of_ours_are_left_alone() -> None:
    for pod in (
        leader(group=None, managed=None),
        leader(group=None, managed="nobody"),
        leader(group=None, ownerReferences=[]),
        leader(group=None, labels={MANAGED: "embedded", LWS_WORKER_INDEX: "1"}),
    ):
        assert name_group(pod) == pod


# --- worker StatefulSets -----------------------------------------------------------------------------------------------------


def stamp(workers: Object, found: Object | None, *, built_in: bool = False) -> Object:
    async def read_pod(namespace: str, name: str) -> Metadata | None:
        assert (namespace, name) == (NAMESPACE, "serve-0")
        return msgspec.convert(found["metadata"], Metadata) if found else None

    group_api = BUILT_IN if built_in else OWN
    response: Response = asyncio.run(
        default_stateful_set(request(workers), group_api=group_api, providers=PROVIDERS, read_pod=read_pod)
    )
    return apply(workers, response.patch)


def test_workers_are_born_with_the_group_of_their_leader() -> None:
    stored = stamp(worker_set(group=None), leader())
    template = stored["spec"]["template"]
    assert template["metadata"]["annotations"] == {POD_GROUP: "group-0"}
    assert "schedulingGroup" not in template["spec"]
    template = stamp(worker_set(group=None), leader(), built_in=True)["spec"]["template"]
    assert template["spec"]["schedulingGroup"] == {"podGroupName": "group-0"}


def test_a_leader_of_the_same_name_but_another_uid_says_nothing() -> None:
    workers = worker_set(group=None)
    assert stamp(workers, leader(uid="another")) == workers
    assert stamp(workers, leader(group=None)) == workers
    assert stamp(workers, None) == workers


def test_a_stateful_set_that_no_pod_controls_is_not_looked_at() -> None:
    workers = worker_set(group=None)
    workers["metadata"]["ownerReferences"] = [owner("LeaderWorkerSet", "serve", "u")]
    assert stamp(workers, leader()) == workers
