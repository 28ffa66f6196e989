"""A server of its own for each test, with the stand-ins that a JobSet needs and none that places or runs pods."""

from tests.localcluster.leaderworkersets.conftest import cluster, files

__all__ = ["cluster", "files"]
