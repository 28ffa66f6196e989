"""Kueue's Topologies: the group of a Job that asks Kueue's way gets the levels around the one it names."""

from typing import Any

import pytest

from api.constants import TOPOLOGY
from kube.client.resources import JOBS, KUEUE_TOPOLOGIES
from kube.groups.group_api import OWN
from tests.controllers.builders import GROUP_NAME, job_manifest
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World

LEVELS = ("block", "rack", "host")


def topology(name: str, *levels: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "uid": f"uid-of-{name}"},
        "spec": {"levels": [{"nodeLabel": level} for level in levels]},
    }


def asking(**kueue: str) -> dict[str, Any]:
    job = job_manifest()
    said = {f"kueue.x-k8s.io/podset-{key.replace('_', '-')}": value for key, value in kueue.items()}
    job["spec"]["template"].setdefault("metadata", {})["annotations"] = said
    return job


async def levels_of_the_group(cluster: FakeCluster, job: dict[str, Any]) -> str | None:
    cluster.put(JOBS, job)
    await World(cluster).settle()
    annotations: dict[str, str] = cluster.one(OWN.pod_groups, GROUP_NAME)["metadata"]["annotations"]
    return annotations.get(TOPOLOGY)


@pytest.mark.parametrize("resource", KUEUE_TOPOLOGIES, ids=lambda each: each.version)
async def test_they_stand_around_it_whichever_version_the_server_has(resource: Any) -> None:
    cluster = FakeCluster()
    cluster.kueue_versions = {resource.version}
    cluster.put(resource, topology("default", *LEVELS))
    cluster.put(resource, topology("other", "zone", "row"))
    found = await levels_of_the_group(cluster, asking(preferred_topology="rack"))
    assert found == "preferred:block, preferred:rack, preferred:host"


async def test_without_kueue_the_level_stands_alone() -> None:
    assert await levels_of_the_group(FakeCluster(), asking(preferred_topology="rack")) == "preferred:rack"


async def test_who_names_no_level_has_nothing_listed() -> None:
    cluster = FakeCluster()
    assert await levels_of_the_group(cluster, asking(unconstrained_topology="true")) is None
    assert ("list", "topologies", "") not in [
        (verb, kind.partition(".")[0], name) for verb, kind, name in cluster.calls
    ]
