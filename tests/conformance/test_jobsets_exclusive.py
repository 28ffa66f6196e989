"""JobSets that ask for a topology domain of their own for each Job, in both ways that JobSet has for it."""

import pytest

from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import pod_group
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP
from verify.clusters.jobsets import SCOPE, SETTLE_SECONDS, JobSets, Object, job_set, part

PREFIX = "alpha.jobset.sigs.k8s.io"
TOPOLOGY, BY_NODE_SELECTOR = f"{PREFIX}/exclusive-topology", f"{PREFIX}/node-selector"
OF_JOB = f"{PREFIX}/namespaced-job"
POOL = "example.com/pool"
SCOPES = ("job", "replicated-job", "set")
CHILDREN = ("own-left-0", "own-left-1", "own-right-0")


def own_domains(scope: str | None = None, **annotations: str) -> Object:
    """A JobSet of three Jobs of two pods, each Job alone in a pool."""
    made = job_set("own", part("left", replicas=2, pods=2), part("right", pods=2), scope=scope)
    made["metadata"]["annotations"] |= {TOPOLOGY: POOL, **annotations}
    return made


def with_scheduler(made: Object, name: str) -> Object:
    for each in made["spec"]["replicatedJobs"]:
        each["template"]["spec"]["template"]["spec"]["schedulerName"] = name
    return made


def pools_of(jobsets: JobSets) -> dict[str, set[str]]:
    """Where the pods of each Job run."""
    found: dict[str, set[str]] = {}
    for pod in jobsets.pods("own"):
        node = jobsets.api.get("nodes", pod["spec"]["nodeName"])
        found.setdefault(pod["metadata"]["labels"]["job-name"], set()).add(node["metadata"]["labels"][POOL])
    return found


def each_has_a_pool_of_its_own(jobsets: JobSets) -> bool:
    found = pools_of(jobsets)
    pools = [pool for pools in found.values() for pool in pools]
    return set(found) == set(CHILDREN) and len(pools) == len(set(pools)) == len(CHILDREN)


@pytest.mark.parametrize("scope", SCOPES)
def test_what_would_wait_for_pods_that_its_webhook_refuses_is_refused_and_told_what_would_do(
    jobsets: JobSets, scope: str
) -> None:
    said = "only the first pod of each Job exists until it has a node, so the others could not start with it"
    with pytest.raises(ApiError, match=f"{said}: use {BY_NODE_SELECTOR} beside it"):
        jobsets.create(own_domains(scope))
    assert not jobsets.api.list("jobsets", jobsets.namespace)


@pytest.mark.parametrize("scope", [None, *SCOPES])
def test_with_a_scope_of_its_namespace_or_none_it_starts_leaders_first_each_job_in_a_pool_of_its_own(
    jobsets: JobSets, nodes: HollowNodes, scope: str | None
) -> None:
    if scope is not None:
        annotations = {"metadata": {"annotations": {SCOPE: scope}}}
        jobsets.api.patch("namespaces", jobsets.namespace, annotations)
    for pool in ("a", "b"):
        nodes.add(2, cpu="1", labels={POOL: pool})
    made = jobsets.create(with_scheduler(own_domains(), "tutti"))
    assert SCOPE not in made["metadata"]["annotations"]
    # Two Jobs have a pool; of the third only the leader is there, and it keeps nobody from anything.
    eventually(lambda: (len(jobsets.pods("own")), jobsets.bound("own")) == (5, 4), within_seconds=SETTLE_SECONDS)
    throughout(lambda: (len(jobsets.pods("own")), jobsets.bound("own")) == (5, 4), seconds=1, poll_seconds=0.2)
    nodes.add(2, cpu="1", labels={POOL: "c"})
    eventually(lambda: jobsets.bound("own") == 6, within_seconds=SETTLE_SECONDS)
    assert each_has_a_pool_of_its_own(jobsets)
    assert not jobsets.groups("own")
    jobsets.remove("own")


def test_a_group_of_ones_own_with_a_minimum_of_the_leaders_starts_them_together_and_the_others_follow(
    jobsets: JobSets, nodes: HollowNodes
) -> None:
    jobsets.api.create("podgroups", pod_group(jobsets.api, "leaders", len(CHILDREN)), jobsets.namespace)
    made = with_scheduler(own_domains(), "tutti")
    for each in made["spec"]["replicatedJobs"]:
        each["template"]["spec"]["template"]["metadata"]["annotations"][POD_GROUP] = "leaders"
    jobsets.create(made)
    for pool in ("a", "b"):
        nodes.add(2, cpu="1", labels={POOL: pool})
    eventually(lambda: jobsets.waits("own", len(CHILDREN)), within_seconds=SETTLE_SECONDS)
    throughout(lambda: jobsets.waits("own", len(CHILDREN)), seconds=1, poll_seconds=0.2)
    nodes.add(2, cpu="1", labels={POOL: "c"})
    eventually(lambda: jobsets.bound("own") == 6, within_seconds=SETTLE_SECONDS)
    assert each_has_a_pool_of_its_own(jobsets)
    jobsets.remove("own")


def add_pool(jobsets: JobSets, nodes: HollowNodes, job: str) -> None:
    """A pool that an administrator has set apart for this Job."""
    nodes.add(2, cpu="1", labels={POOL: job, OF_JOB: f"{jobsets.namespace}_{job}"})


@pytest.mark.parametrize("scope", SCOPES)
def test_with_pools_set_apart_beforehand_each_scope_starts_whole_each_job_in_its_pool(
    jobsets: JobSets, nodes: HollowNodes, scope: str
) -> None:
    jobsets.create(own_domains(scope, **{BY_NODE_SELECTOR: "true"}))
    eventually(lambda: jobsets.waits("own", 6), within_seconds=SETTLE_SECONDS)
    for job in CHILDREN[1:]:
        add_pool(jobsets, nodes, job)
    # left-0 has no pool: what starts together with it waits, the rest does not.
    waiting = {"job": 4, "replicated-job": 2, "set": 0}[scope]
    eventually(lambda: jobsets.bound("own") == waiting, within_seconds=SETTLE_SECONDS)
    throughout(lambda: jobsets.bound("own") == waiting, seconds=1, poll_seconds=0.2)
    add_pool(jobsets, nodes, CHILDREN[0])
    eventually(lambda: jobsets.bound("own") == 6, within_seconds=SETTLE_SECONDS)
    assert pools_of(jobsets) == {job: {job} for job in CHILDREN}
    assert jobsets.are_grouped("own")
    jobsets.remove("own")
