"""A cluster in memory and a process on top of it."""

import pytest

from kube.client.resources import JOBS
from tests.controllers.builders import job_manifest
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World


@pytest.fixture
def cluster() -> FakeCluster:
    """A cluster without anything."""
    return FakeCluster()


@pytest.fixture
def gang(cluster: FakeCluster) -> World:
    """A process on a cluster with one gated Job."""
    cluster.put(JOBS, job_manifest())
    return World(cluster)
