"""Alerts on running processes, by a real Prometheus: none fires while all is well, those that should when processes are gone."""

from pathlib import Path

import pytest

from tests.conformance.prometheus import Prometheus, prometheus
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.tutti_process import CHILDREN, Tutti

SOON_SECONDS = 60
CALM_SECONDS = 8
DOWN = {"TuttiWebhooksDown", "TuttiSchedulerDown", "TuttiControllersDown"}

pytestmark = pytest.mark.one_api


def test_nothing_fires_while_all_is_well_and_what_is_gone_is_told_until_it_is_back(
    control_plane: ControlPlane, tutti: Tutti, tmp_path: Path
) -> None:
    with prometheus(tmp_path) as watching:
        watching.read(tutti.metrics_ports())
        eventually(lambda: watching.up() == set(CHILDREN), within_seconds=SOON_SECONDS)
        eventually(lambda: not watching.firing(), within_seconds=SOON_SECONDS)
        throughout(lambda: not watching.firing(), seconds=CALM_SECONDS)
        assert watching.broken_rules() == set()

        tutti.kill_everything()
        eventually(lambda: watching.firing() == DOWN, within_seconds=SOON_SECONDS)

        tutti.ensure_running()
        come_back(watching, tutti)


def come_back(watching: Prometheus, tutti: Tutti) -> None:
    watching.read(tutti.metrics_ports())
    eventually(lambda: watching.up() == set(CHILDREN), within_seconds=SOON_SECONDS)
    eventually(lambda: not watching.firing(), within_seconds=SOON_SECONDS)
