"""What JobSet's webhooks make of JobSets and their pods, and what they refuse."""

import base64
import copy
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from api.constants import JOB_COMPLETION_INDEX, JOBSET_EXCLUSIVE_TOPOLOGY, JOBSET_NAME, JOBSET_NODE_SELECTOR
from kube.client.client import Client
from kube.client.resources import NODES, PODS
from localcluster.controllers.jobsets.admission.pods import JOB_KEY, PRIORITY, admitted, complaint
from localcluster.controllers.jobsets.admission.review import (
    DEFAULTING_PATH,
    POD_DEFAULTING_PATH,
    POD_VALIDATING_PATH,
    VALIDATING_PATH,
    Reviewer,
)
from localcluster.controllers.jobsets.admission.sets import complaints, complaints_of_change, defaulted
from tests.localcluster.leaderworkersets.conftest import Cluster

Object = dict[str, Any]

RACK, NAMESPACE = "example.com/rack", "default"
EXCLUSIVE = {JOBSET_EXCLUSIVE_TOPOLOGY: RACK}


def new_pod(index: int, *, job: str = "job-uid", spec: Object | None = None, **annotations: str) -> Object:
    """A pod of a JobSet as the Job controller sends it."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "js-workers-0", "uid": job, "controller": True}
    return {
        "metadata": {
            "generateName": f"js-workers-0-{index}-",
            "labels": {JOBSET_NAME: "js", JOB_KEY: "key", JOB_COMPLETION_INDEX: str(index)},
            "annotations": {JOB_COMPLETION_INDEX: str(index), **annotations},
            "ownerReferences": [owner],
        },
        "spec": {"containers": [{"name": "main", "image": "x"}], **(spec or {})},
    }


def exclusive(index: int, **more: Any) -> Object:
    pod = new_pod(index, **more)
    pod["metadata"]["annotations"] |= EXCLUSIVE
    return pod


def jobset(*, suspend: bool = False, action: str = "RestartJobSet") -> Object:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    part = {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 2, "template": template}}}
    return {
        "metadata": {"name": "js"},
        "spec": {"suspend": suspend, "replicatedJobs": [part], "failurePolicy": {"rules": [{"action": action}]}},
    }


def pods_of(made: Object) -> Object:
    template: Object = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    return template


# --- pods ------------------------------------------------------------------------------------------------------------


def test_a_pod_of_no_jobset_is_left_alone() -> None:
    pod = exclusive(0)
    del pod["metadata"]["labels"][JOBSET_NAME]
    assert admitted(pod, None) == pod


def test_a_pod_of_a_jobset_gets_its_priority_as_a_label_and_nothing_else() -> None:
    made = admitted(new_pod(1, spec={"priority": 7}), None)
    assert made["metadata"]["labels"].pop(PRIORITY) == "7"
    assert made == new_pod(1, spec={"priority": 7})


@pytest.mark.parametrize("index", [0, 1])
def test_with_the_strategy_of_node_selectors_no_pod_is_changed_or_refused(index: int) -> None:
    pod = exclusive(index, **{JOBSET_NODE_SELECTOR: "true"})
    assert admitted(pod, None) == pod
    assert complaint(pod, None) is None


def test_the_first_pod_of_a_job_keeps_jobs_of_its_priority_out_of_its_domain_and_is_never_refused() -> None:
    pod = exclusive(0, spec={"priority": 7})
    affinity = admitted(pod, None)["spec"]["affinity"]
    (near,) = affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (far,) = affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    same = [{"key": JOB_KEY, "operator": "In", "values": ["key"]}]
    others = [
        {"key": JOB_KEY, "operator": "Exists"},
        {"key": JOB_KEY, "operator": "NotIn", "values": ["key"]},
        {"key": PRIORITY, "operator": "In", "values": ["7"]},
    ]
    everywhere = {"topologyKey": RACK, "namespaceSelector": {}}
    assert near == {"labelSelector": {"matchExpressions": same}, **everywhere}
    assert far == {"labelSelector": {"matchExpressions": others}, **everywhere}
    assert complaint(pod, None) is None


def test_a_follower_is_refused_until_its_leader_has_a_node_and_goes_into_its_domain_then() -> None:
    waiting = admitted(exclusive(1), None)
    assert "nodeSelector" not in waiting["spec"]
    assert complaint(waiting, None) == "follower pod node selector not set"
    following = admitted(exclusive(1, spec={"nodeSelector": {"disk": "ssd"}}), "a")
    assert following["spec"]["nodeSelector"] == {"disk": "ssd", RACK: "a"}
    assert "affinity" not in following["spec"]
    assert complaint(following, "a") is None


@pytest.mark.parametrize("domain", [None, "b"])
def test_a_follower_that_selects_a_domain_by_itself_waits_for_a_leader_there(domain: str | None) -> None:
    pod = exclusive(1, spec={"nodeSelector": {RACK: "a"}})
    assert complaint(pod, domain) == f"follower pod selects {RACK}=a, where its leader is not"


# --- JobSets ---------------------------------------------------------------------------------------------------------


def test_what_templates_leave_out_is_filled_in_and_what_they_say_stays() -> None:
    made = defaulted(jobset())
    assert made["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"
    assert pods_of(made)["spec"]["restartPolicy"] == "OnFailure"
    stated = jobset()
    stated["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] = "NonIndexed"
    pods_of(stated)["spec"]["restartPolicy"] = "Never"
    assert defaulted(stated) == stated


@pytest.mark.parametrize("action", ["RestartJob", "RestartJobAndIgnoreMaxRestarts"])
def test_actions_behind_a_gate_that_is_off_are_refused(action: str) -> None:
    (error,) = complaints(jobset(action=action))
    assert "when RestartJob feature gate is disabled" in str(error)
    assert not complaints(jobset())


@pytest.mark.parametrize("suspended", [False, True])
def test_where_pods_may_go_changes_only_while_a_jobset_is_suspended(suspended: bool) -> None:
    old, new = jobset(suspend=suspended), jobset()
    pods_of(new)["metadata"] = {"annotations": {"c": "d"}}
    pods_of(new)["spec"] |= {"nodeSelector": {"a": "b"}, "tolerations": [{}], "schedulingGates": [{"name": "g"}]}
    assert bool(complaints_of_change(new, old)) is not suspended


@pytest.mark.parametrize("suspended", [False, True])
@pytest.mark.parametrize("field", ["schedulerName", "priorityClassName"])
def test_nothing_else_of_a_template_ever_changes(suspended: bool, field: str) -> None:
    old = jobset(suspend=suspended)
    new = copy.deepcopy(old)
    assert not complaints_of_change(new, old)
    pods_of(new)["spec"][field] = "another"
    (error,) = complaints_of_change(new, old)
    assert str(error).startswith("spec.replicatedJobs: Invalid value: [")


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """A server on which nobody runs JobSets, with two racks."""
    async with cluster("serviceaccount") as opened:
        for name in ("a", "b"):
            await opened.create(NODES, {"metadata": {"name": name, "labels": {RACK: f"rack-{name}"}}})
        await opened.create(NODES, {"metadata": {"name": "nowhere"}})
        yield opened


async def asked(client: Client, path: str, new: Object, old: Object | None = None) -> Object:
    """The response to a review."""
    request = {"uid": "1", "namespace": NAMESPACE, "object": new, "oldObject": old}
    answered = await Reviewer(client)(path, {"request": request})
    response: Object = answered["response"]
    assert response["uid"] == "1"
    return response


async def selected(client: Client, pod: Object) -> str | None:
    """The rack that a new follower is given."""
    patch = orjson.loads(base64.b64decode((await asked(client, POD_DEFAULTING_PATH, pod))["patch"]))
    spec: Object = next((each["value"] for each in patch if each["path"] == "/spec"), {})
    rack: str | None = spec.get("nodeSelector", {}).get(RACK)
    return rack


async def run_leader(client: Client, node: str, *, job: str = "job-uid") -> None:
    leader = exclusive(0, job=job, spec={"nodeName": node})
    await client.create(PODS, leader, NAMESPACE)


async def test_a_follower_is_given_the_rack_of_its_leader_once_it_has_a_node(client: Client) -> None:
    assert await selected(client, exclusive(1)) is None
    await run_leader(client, "b")
    assert await selected(client, exclusive(1)) == "rack-b"
    following = exclusive(1, spec={"nodeSelector": {RACK: "rack-b"}})
    assert (await asked(client, POD_VALIDATING_PATH, following))["allowed"]


async def test_the_leader_of_a_former_job_of_the_same_name_leads_nobody(client: Client) -> None:
    await run_leader(client, "a", job="former")
    assert await selected(client, exclusive(1)) is None


@pytest.mark.parametrize("node", ["nowhere", "gone"])
async def test_a_leader_on_a_node_without_a_rack_leads_nobody(client: Client, node: str) -> None:
    await run_leader(client, node)
    refused = await asked(client, POD_VALIDATING_PATH, exclusive(1))
    assert (refused["allowed"], refused["status"]["code"]) == (False, 403)
    assert refused["status"]["message"] == "follower pod node selector not set"


async def test_jobsets_are_defaulted_and_told_all_that_is_wrong_with_them(client: Client) -> None:
    assert "patch" in await asked(client, DEFAULTING_PATH, jobset())
    assert (await asked(client, VALIDATING_PATH, jobset()))["allowed"]
    wrong = jobset(action="RestartJob")
    wrong["spec"]["replicatedJobs"][0]["replicas"] = 3
    refused = await asked(client, VALIDATING_PATH, wrong, jobset())
    assert (refused["allowed"], refused["status"]["code"]) == (False, 422)
    said = 'JobSet.jobset.x-k8s.io "js" is invalid: [<nil>: Internal error: RestartJob'
    assert refused["status"]["message"].startswith(said)
    assert ", spec.replicatedJobs: Invalid value: " in refused["status"]["message"]
