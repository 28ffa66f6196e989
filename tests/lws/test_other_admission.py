"""Admission of LeaderWorkerSets whose gang scheduler is not ours: templates, leaders and workers are told what it reads."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from api.constants import LEADER_FIRST, LWS_SIZE, MANAGED, POD_GROUP, PROVIDER, SCHEDULING_TIMEOUT, TOPOLOGY
from api.meta import Metadata
from kube.groups.group_api import BUILT_IN, OWN
from providers.selection import standard_providers
from tests.lws.builders import Object, leader, lws, pod_template, worker_set
from tests.lws.test_admission import RULES, admit, marks, request, templates
from tests.webhooks.builders import apply
from webhooks.admission.config import AdmissionConfig
from webhooks.leaderworkerset import default_leader_worker_set
from webhooks.pod import default_leader_pod
from webhooks.statefulset import default_stateful_set

PROVIDERS = standard_providers(built_in_groups=True)
EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"


def stored_set(provider: str, *, size: int = 3, **more: Any) -> Object:
    """A set as it is stored, its workers asking for two cores."""
    new = lws(managed=None, size=size, **{"annotations": {PROVIDER: provider}, **more})
    new["spec"]["leaderWorkerTemplate"]["workerTemplate"] = pod_template(cpu=2)
    return admit(new)


def born(stored: Object, *, size: int = 3, said: dict[str, str] | None = None) -> tuple[Object, Object]:
    """The leader and the template of the workers of replica 0, as they come out of admission."""
    (template,) = templates(stored)
    told = template["metadata"]
    pod = leader(group=None, size=size, managed=None, annotations={**told.get("annotations", {}), **(said or {})})
    pod["metadata"]["labels"] |= told["labels"]
    response = default_leader_pod(request(pod), group_api=BUILT_IN, providers=PROVIDERS, new_token=lambda: "abc")
    pod = apply(pod, response.patch)
    workers = worker_set(group=None)
    workers["spec"]["template"]["metadata"] = msgspec.json.decode(msgspec.json.encode(told))

    async def read_pod(namespace: str, name: str) -> Metadata | None:
        assert (namespace, name) == (pod["metadata"]["namespace"], "serve-0")
        return msgspec.convert(pod["metadata"], Metadata)

    answer = asyncio.run(default_stateful_set(request(workers), group_api=OWN, providers=PROVIDERS, read_pod=read_pod))
    return pod, apply(workers, answer.patch)["spec"]["template"]


def told(found: Object) -> dict[str, str]:
    """Labels and annotations together."""
    metadata = found["metadata"]
    return {**metadata.get("labels", {}), **metadata.get("annotations", {})}


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        ("volcano", "scheduling.k8s.io/group-name"),
        ("coscheduling", "scheduling.x-k8s.io/pod-group"),
        ("kai", "pod-group-name"),
        ("koordinator", "pod-group.scheduling.sigs.k8s.io"),
        ("pfnet", "gang-scheduling.preferred.jp/gang-name"),
    ],
)
@pytest.mark.parametrize("startup", ["LeaderCreated", "LeaderReady"])
def test_leader_and_workers_name_the_group_as_their_scheduler_reads_it(provider: str, key: str, startup: str) -> None:
    stored = stored_set(provider, startup=startup)
    assert marks(stored) == {(provider, PROVIDERS.named(provider).scheduler_name or None)}  # type: ignore[union-attr]
    assert key not in told(templates(stored)[0])
    pod, workers = born(stored)
    group = told(pod)[POD_GROUP]
    assert told(workers)[POD_GROUP] == group
    assert "schedulingGroup" not in pod["spec"]
    assert told(workers)[key].startswith(group)
    if startup == "LeaderCreated" or provider in {"volcano", "coscheduling", "kai"}:
        assert told(pod)[key] == told(workers)[key] == group


def test_a_leader_that_starts_first_is_apart_where_the_scheduler_wants_it() -> None:
    pod, workers = born(stored_set("koordinator", startup="LeaderReady"))
    key = "pod-group.scheduling.sigs.k8s.io"
    assert (told(pod)[key], told(workers)[key]) == (f"{told(pod)[POD_GROUP]}-leader", f"{told(pod)[POD_GROUP]}-workers")
    pod, workers = born(stored_set("pfnet", startup="LeaderReady"))
    size = "gang-scheduling.preferred.jp/gang-size"
    assert size not in told(pod)
    assert told(workers)[size] == "2"


def test_an_exclusive_topology_makes_the_leader_go_first_as_well() -> None:
    stored = stored_set("koordinator", annotations={PROVIDER: "koordinator", EXCLUSIVE: "zone"})
    pod, _ = born(stored, said={EXCLUSIVE: "zone"})
    assert told(pod)["pod-group.scheduling.sigs.k8s.io"].endswith("-leader")


def test_the_size_is_that_of_the_leaders_revision() -> None:
    pod, _ = born(stored_set("pfnet", size=3), size=5)
    assert told(pod)[LWS_SIZE] == told(pod)["gang-scheduling.preferred.jp/gang-size"] == "5"


def test_what_all_pods_are_told_stands_in_the_templates_and_is_taken_from_the_set() -> None:
    stored = stored_set("kai", labels={"kai.scheduler/queue": "research"})
    (template,) = templates(stored)
    assert template["metadata"]["labels"]["kai.scheduler/queue"] == "research"
    pod, workers = born(stored)
    assert told(pod)["kai.scheduler/queue"] == told(workers)["kai.scheduler/queue"] == "research"
    assert told(pod)["kai.scheduler/skip-podgrouper"] == "true"


def test_yunikorn_is_told_by_the_template_what_every_role_asks_for() -> None:
    pod, workers = born(stored_set("yunikorn", annotations={PROVIDER: "yunikorn", SCHEDULING_TIMEOUT: "2m"}))
    prefix = "yunikorn.apache.org/"
    groups = json.loads(told(pod)[f"{prefix}task-groups"])
    assert [(each["name"], each["minMember"], each["minResource"]) for each in groups] == [
        ("leader", 1, {"cpu": "2"}),
        ("worker", 2, {"cpu": "2"}),
    ]
    assert told(workers)[f"{prefix}task-groups"] == told(pod)[f"{prefix}task-groups"]
    assert [told(each)[f"{prefix}task-group-name"] for each in (pod, workers)] == ["leader", "worker"]
    assert told(pod)[f"{prefix}app-id"] == told(workers)[f"{prefix}app-id"] == f"default-{told(pod)[POD_GROUP]}"
    assert told(pod)[f"{prefix}schedulingPolicyParameters"] == "placeholderTimeoutInSeconds=120"


def test_a_manifest_that_is_applied_again_does_not_roll_the_set_out() -> None:
    for provider in ("volcano", "kai", "yunikorn", "pfnet"):
        old = stored_set(provider, startup="LeaderReady")
        assert templates(old)[0]["metadata"]["annotations"][LEADER_FIRST] == "true"
        new = lws(managed=None, startup="LeaderReady", annotations={PROVIDER: provider})
        new["spec"]["leaderWorkerTemplate"]["workerTemplate"] = pod_template(cpu=2)
        assert admit(new, old)["spec"] == old["spec"]


def test_a_set_that_is_to_be_plain_from_now_on_loses_all_of_it() -> None:
    old = stored_set("yunikorn", startup="LeaderReady")
    new = {**old, "metadata": {**old["metadata"], "annotations": {"tutti.scheduler/policy": "none"}}}
    (template,) = templates(admit(new, old))
    assert template["metadata"] == {"labels": {"app": "x"}, "annotations": {}}


def test_a_template_that_names_a_group_of_that_scheduler_is_left_alone() -> None:
    new = lws(managed=None, annotations={PROVIDER: "volcano"})
    metadata = new["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]
    metadata["annotations"] = {"scheduling.k8s.io/group-name": "mine"}
    response = default_leader_worker_set(request(new), RULES)
    assert response.patch == ()
    assert "names a group of its own (scheduling.k8s.io/group-name)" in response.warnings[0]


@pytest.mark.parametrize("more", [{"startup": "LeaderReady"}, {EXCLUSIVE: "zone"}])
def test_the_stock_scheduler_cannot_hold_workers_that_come_after_their_leader(more: dict[str, str]) -> None:
    startup = more.get("startup", "LeaderCreated")
    said = {key: value for key, value in more.items() if key != "startup"}
    new = lws(managed=None, startup=startup, annotations={PROVIDER: "kube-scheduler", **said})
    response = default_leader_worker_set(request(new), AdmissionConfig(PROVIDERS))
    assert response.patch == ()
    assert "provider kube-scheduler cannot hold the workers" in response.warnings[0]


def test_a_wish_that_is_not_carried_out_is_a_warning() -> None:
    new = lws(managed=None, annotations={PROVIDER: "volcano", TOPOLOGY: "zone", SCHEDULING_TIMEOUT: "1m"})
    warnings = default_leader_worker_set(request(new), RULES).warnings
    assert warnings == (
        f"{TOPOLOGY}: provider volcano does not observe it",
        f"{SCHEDULING_TIMEOUT}: provider volcano does not observe it",
    )


def test_requests_that_are_none_are_refused() -> None:
    new = lws(managed=None, annotations={PROVIDER: "yunikorn"})
    new["spec"]["leaderWorkerTemplate"]["workerTemplate"] = pod_template(cpu="much")
    response = default_leader_worker_set(request(new), RULES)
    assert not response.allowed
    assert "much" in response.message
    assert MANAGED not in str(response.patch)
