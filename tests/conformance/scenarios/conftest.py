"""The scene of a scenario: cleared at its end, so that the next one has all nodes to itself at once."""

from collections.abc import Iterator

import pytest

from tests.conformance.scenarios.scene import Scene
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs
from verify.clusters.tutti_process import Tutti


@pytest.fixture
def scene(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> Iterator[Scene]:
    made = Scene(jobs, nodes, tutti)
    yield made
    made.clear()
