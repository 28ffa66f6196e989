"""What is named at the end because nobody will place its pods any more."""

from pathlib import Path
from typing import Any

import pytest

from install.stranded import (
    is_stranded_job,
    is_stranded_pod,
    is_stranded_set,
    names_in_settings,
    scheduler_names,
    stranded,
)
from kube.client.resources import CONFIG_MAPS, JOBS, LEADER_WORKER_SETS, PODS
from tests.install.fake_cluster import FakeCluster
from tests.install.test_release import job

NAMES = {"tutti", "tutti-packed"}
PROFILES = Path(__file__).resolve().parents[2] / "config" / "profiles"
LABELS = {"app.kubernetes.io/part-of": "tutti"}


def template(scheduler: str, managed: str = "embedded") -> dict[str, Any]:
    return {"metadata": {"labels": {"tutti.scheduler/managed": managed}}, "spec": {"schedulerName": scheduler}}


def lws(scheduler: str) -> dict[str, Any]:
    return {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template(scheduler)}}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (job(), True),
        (job(scheduler="tutti-packed"), True),
        (job(scheduler="default-scheduler"), False),
        (job(conditions=[{"type": "Complete", "status": "True"}]), False),
        (job(conditions=[{"type": "Failed", "status": "True"}]), False),
        (job(conditions=[{"type": "Suspended", "status": "True"}]), True),
    ],
)
def test_unfinished_jobs_of_our_scheduler_are_named(found: dict[str, Any], expected: bool) -> None:
    assert is_stranded_job(found, NAMES) is expected


@pytest.mark.parametrize(
    ("spec", "phase", "expected"),
    [
        ({"schedulerName": "tutti"}, "Pending", True),
        ({"schedulerName": "tutti", "nodeName": "n"}, "Pending", False),
        ({"schedulerName": "tutti", "nodeName": "n"}, "Running", False),
        ({"schedulerName": "default-scheduler"}, "Pending", False),
        ({"schedulerName": "tutti"}, "Failed", False),
    ],
)
def test_waiting_pods_of_our_scheduler_are_named(spec: dict[str, str], phase: str, expected: bool) -> None:
    assert is_stranded_pod({"spec": spec, "status": {"phase": phase}}, NAMES) is expected


@pytest.mark.parametrize(("scheduler", "expected"), [("tutti-packed", True), ("default-scheduler", False), ("", False)])
def test_sets_of_our_scheduler_are_named(scheduler: str, expected: bool) -> None:
    assert is_stranded_set({"spec": lws(scheduler)}, NAMES) is expected


@pytest.mark.parametrize("file", ["names.yaml", "scheduler.yaml"])
def test_the_shipped_settings_tell_the_names_of_their_profiles(file: str) -> None:
    assert names_in_settings((PROFILES / file).read_text()) == {"tutti-packed", "tutti-headroom"}


def test_settings_of_tutti_run_tell_them_too_and_anything_else_tells_none() -> None:
    assert names_in_settings("scheduler: {scheduler_name: mine, profiles: [{scheduler_name: fast}]}") == {
        "mine",
        "fast",
    }
    for text in ("", "[1, 2]", "a: [", "scheduler: []"):
        assert names_in_settings(text) == set()


async def test_the_names_are_those_of_the_settings_and_of_what_admission_took_in() -> None:
    cluster = FakeCluster(served={"tutti.scheduler"})
    text = (PROFILES / "names.yaml").read_text()
    cluster.put(CONFIG_MAPS, "settings-x", "tutti-system", metadata={"labels": LABELS}, data={"names.yaml": text})
    cluster.put(JOBS, "theirs", "team", spec={"template": template("volcano", "volcano")})
    cluster.put(JOBS, "fast", "team", spec={"template": template("fast")})
    cluster.put(LEADER_WORKER_SETS, "set", "team", spec=lws("of-sets"))
    names = await scheduler_names(cluster)
    assert names == {"tutti", "tutti-packed", "tutti-headroom", "fast", "of-sets"}
    cluster.put(PODS, "lone", "team", spec={"schedulerName": "tutti-headroom"}, status={"phase": "Pending"})
    assert await stranded(cluster, names) == ["Job team/fast", "LeaderWorkerSet team/set", "pod team/lone"]
