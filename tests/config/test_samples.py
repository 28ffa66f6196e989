"""The samples are what they say they are."""

from typing import Any

import msgspec
import pytest
import yaml

from api.constants import BUILT_IN_GROUP, GROUP
from api.gang import GroupIntent, job_intent
from api.job import Job
from api.lws import LeaderWorkerSet
from api.membership import group_name
from api.pod import Pod
from api.replica import replica_intent
from install.manifests import CONFIG_FOLDER


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((CONFIG_FOLDER / "samples" / name).read_text()))


@pytest.mark.parametrize(("name", "size"), [("gang-job.yaml", 4), ("waiting-job.yaml", 2)])
def test_the_sample_jobs_are_gangs_without_naming_tutti(name: str, size: int) -> None:
    (document,) = documents(name)
    assert job_intent(msgspec.convert(document, Job)) == GroupIntent(
        policy="gang", min_count=size, disruption_mode="all"
    )
    assert "tutti" not in yaml.safe_dump(document)


def test_the_sample_pods_join_the_group_beside_them() -> None:
    group, *pods = documents("pod-group.yaml")
    assert len(pods) == group["spec"]["schedulingPolicy"]["gang"]["minCount"]
    for pod in pods:
        assert pod["spec"]["schedulerName"] == "tutti"
        claimed = msgspec.json.decode(msgspec.json.encode(pod), type=Pod)
        assert group_name(claimed) == group["metadata"]["name"]


def test_the_sample_replicas_are_gangs_without_naming_tutti() -> None:
    (document,) = documents("leaderworkerset/leader-worker-set.yaml")
    assert replica_intent(msgspec.convert(document, LeaderWorkerSet)) == GroupIntent(
        policy="gang", min_count=3, disruption_mode="all"
    )
    assert "tutti" not in yaml.safe_dump(document)


def test_all_samples_together_need_no_kind_that_only_some_clusters_have() -> None:
    listed = yaml.safe_load((CONFIG_FOLDER / "samples" / "kustomization.yaml").read_text())["resources"]
    kinds = {(each["apiVersion"], each["kind"]) for name in listed for each in documents(name)}
    assert kinds == {("batch/v1", "Job"), ("v1", "Pod"), ("tutti.scheduler/v1beta1", "PodGroup")}


def test_the_sample_of_a_tenant_has_one_share_that_borrows_nothing_and_everything_his_accounts_ask_for() -> None:
    level, schema = documents("flow-control/tenant.yaml")
    limited = level["spec"]["limited"]
    assert (limited["nominalConcurrencyShares"], limited["borrowingLimitPercent"]) == (1, 0)
    assert schema["spec"]["priorityLevelConfiguration"]["name"] == level["metadata"]["name"]
    (rule,) = schema["spec"]["rules"]
    assert rule["subjects"] == [{"kind": "Group", "group": {"name": "system:serviceaccounts:team-a"}}]
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    assert rule["resourceRules"] == [everything]


def test_the_quota_of_a_tenant_counts_whatever_a_gang_is_made_of_in_both_group_apis() -> None:
    (body,) = documents("flow-control/quota.yaml")
    assert body["metadata"]["namespace"] == "team-a"
    groups = {f"count/{each}.{group}" for each in ("podgroups", "workloads") for group in (GROUP, BUILT_IN_GROUP)}
    assert set(body["spec"]["hard"]) == {"pods", "count/jobs.batch", *groups}
