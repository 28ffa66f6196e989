"""`tutti run` from its first word to its last: real child processes, a cluster in memory."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.errors import ConfigurationError
from install.run import operate
from install.settings import RunSettings
from kube.client.errors import Unreachable
from kube.client.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    MUTATING_WEBHOOKS,
    SERVICE_ACCOUNTS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from kube.groups.group_api import OWN
from kube.process.child import Child
from tests.install.fake_cluster import FakeCluster, Object
from tests.install.fake_time import PATIENCE_SECONDS, until

SCRIPT = str(Path(__file__).with_name("fake_process.py"))
NAMES = ("webhooks", "controllers", "scheduler")


class Running:
    """A `tutti run` in the background of a test."""

    def __init__(self, cluster: FakeCluster, log: Path, settings: RunSettings | None = None) -> None:
        self.cluster = cluster
        self.log = log
        self.stop = asyncio.Event()
        command = [sys.executable, SCRIPT]
        work = operate(cluster, settings or RunSettings(), self.stop, tutti_command=command, connect=lambda _: cluster)
        self.task = asyncio.ensure_future(work)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Waits for something to become true; fails when it does not, or when the run ends."""
        await until(lambda: self.task.done() or reached())
        assert not self.task.done(), self.task.result()

    async def until_registered(self) -> None:
        await self.until(lambda: bool(self.cluster.names(VALIDATING_WEBHOOKS)))

    async def end(self) -> int:
        self.stop.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.task

    def noted(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def pids(self, name: str) -> list[int]:
        """The process ids of all that ever ran under that name."""
        return [int(line.split()[1]) for line in self.noted() if line.startswith(name) and line.split()[1].isdigit()]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "log"
    monkeypatch.setenv("FAKE_LOG", str(path))
    return path


async def test_three_processes_run_each_with_its_own_account_and_end_cleanly(log: Path) -> None:
    running = Running(FakeCluster(), log)
    await running.until(lambda: all(running.pids(name) for name in NAMES))
    await running.until_registered()
    assert running.cluster.tokens == 3
    assert sorted(running.cluster.names(SERVICE_ACCOUNTS)) == ["tutti-controllers", "tutti-scheduler", "tutti-webhooks"]
    assert await running.end() == 0
    assert sorted(line for line in running.noted() if "stopped" in line) == sorted(f"{name} stopped" for name in NAMES)


async def test_webhooks_are_registered_by_url_once_their_server_answers_and_gone_before_it_stops(log: Path) -> None:
    class Watched(FakeCluster):
        async def delete(self, resource, name, *arguments, **more):  # type: ignore[no-untyped-def]
            if resource == MUTATING_WEBHOOKS:
                seen.extend(running.noted())
            await super().delete(resource, name, *arguments, **more)

    seen: list[str] = []
    running = Running(Watched(), log, RunSettings(webhook_url="https://example.com:8443", listen="127.0.0.1:0"))
    await running.until_registered()
    assert running.pids("webhooks")
    found = running.cluster.find(MUTATING_WEBHOOKS, "tutti-mutating")
    assert found is not None
    clients = [webhook["clientConfig"] for webhook in found["webhooks"]]
    assert {client["caBundle"] for client in clients} == {"dGhlIENB"}
    assert clients[0]["url"] == "https://example.com:8443/mutate/jobs"
    assert await running.end() == 0
    assert seen
    assert not [line for line in seen if "stopped" in line]
    assert running.cluster.names(MUTATING_WEBHOOKS) == running.cluster.names(VALIDATING_WEBHOOKS) == []


async def test_a_killed_process_is_started_again_and_said(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running = Running(FakeCluster(), log)
    await running.until_registered()
    await running.until(lambda: bool(running.pids("controllers")))
    os.kill(running.pids("controllers")[0], signal.SIGKILL)
    await running.until(lambda: len(running.pids("controllers")) == 2)
    assert await running.end() == 0
    assert "controllers was killed by SIGKILL; it is started again in 0.5 s" in capsys.readouterr().out


class SlowAtFirst(FakeCluster):
    """Once all is installed, a hundred questions find no connection."""

    refusing = 100

    async def request_json(self, method: str, path: str, *arguments: Any, **more: Any) -> Object:
        if path.endswith("selfsubjectaccessreviews") and self.tokens and self.refusing > 0:
            self.refusing -= 1
            raise Unreachable("no connection in time")
        return await super().request_json(method, path, *arguments, **more)


async def test_a_server_that_is_slow_for_a_moment_ends_nothing(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = SlowAtFirst()
    running = Running(cluster, log)
    await running.until_registered()
    assert cluster.refusing == 0
    assert await running.end() == 0
    assert "warning" not in capsys.readouterr().out


async def test_a_process_that_cannot_start_as_told_ends_the_run(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_EXIT", "scheduler:2")
    running = Running(FakeCluster(), log)
    with pytest.raises(ExceptionGroup) as caught:
        await running.task
    assert isinstance(caught.value.exceptions[0], ConfigurationError)
    assert str(caught.value.exceptions[0]) == "scheduler cannot start like this, it says why above"
    assert running.cluster.names(MUTATING_WEBHOOKS) == []


class SlowToRemove(FakeCluster):
    """The first request to remove a webhook configuration gets no answer for as long as somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.put(MUTATING_WEBHOOKS, "tutti-mutating")
        self.asked = 0

    async def delete(self, resource: Resource, *arguments: Any, **more: Any) -> None:
        if resource == MUTATING_WEBHOOKS:
            self.asked += 1
            if self.asked == 1:
                await asyncio.Event().wait()
        await super().delete(resource, *arguments, **more)


async def test_a_process_that_cannot_start_while_the_run_ends_leaves_no_configuration(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_EXIT", "scheduler:2")
    cluster = SlowToRemove()
    running = Running(cluster, log)
    with pytest.raises(ExceptionGroup, match="unhandled"):
        await running.end()
    assert (cluster.asked, cluster.names(MUTATING_WEBHOOKS)) == (2, [])
    assert sum("stopped" in line for line in running.noted()) == sum(len(running.pids(name)) for name in NAMES)


class RunsUntilCancelled(Child):
    """No process at all: one that nobody waits for would be left to whichever test comes next."""

    async def keep_running(self) -> None:
        await asyncio.Event().wait()


async def test_a_second_signal_waits_for_no_answer(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("install.processes.Child", RunsUntilCancelled)
    cluster = SlowToRemove()
    running = Running(cluster, log)
    running.stop.set()
    await running.until(lambda: cluster.asked == 1)
    running.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running.task
    assert cluster.asked == 1


async def test_configurations_that_cannot_be_removed_are_said(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running = Running(FakeCluster(), log)
    await running.until_registered()
    await running.until(lambda: all(running.pids(name) for name in NAMES))
    running.cluster.fail["delete"] = Unreachable("refused")
    assert await running.end() == 1
    assert "could not be removed, run `tutti uninstall`: cannot connect: refused" in capsys.readouterr().out
    assert sum("stopped" in line for line in running.noted()) == sum(len(running.pids(name)) for name in NAMES)


@pytest.mark.parametrize(
    ("served", "ours"),
    [
        (set(), {"workloads", "podgroups", "compositepodgroups"}),
        ({"scheduling.k8s.io"}, {"compositepodgroups"}),
        ({"scheduling.k8s.io", "compositepodgroups.scheduling.k8s.io"}, set()),
    ],
)
async def test_our_kinds_are_installed_only_where_the_server_has_none(
    log: Path, served: set[str], ours: set[str]
) -> None:
    running = Running(FakeCluster(served=served), log)
    await running.until_registered()
    assert set(running.cluster.names(CUSTOM_RESOURCE_DEFINITIONS)) == {
        f"{plural}.{OWN.pod_groups.group}" for plural in ours
    }
    assert await running.end() == 0


async def test_starting_again_finds_everything_in_order(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster()
    for _ in range(2):
        running = Running(cluster, log)
        await running.until_registered()
        assert await running.end() == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("cluster prepared")]
    first = re.fullmatch(
        r"cluster prepared for tutti.scheduler/v1beta1: (\d+) objects created, 0 changed, 0 found in order", lines[0]
    )
    assert first, lines[0]
    assert lines[1:] == [
        f"cluster prepared for tutti.scheduler/v1beta1: 0 objects created, 0 changed, {first[1]} found in order"
    ]


async def test_a_server_that_is_too_old_is_told_so_before_the_first_write(log: Path) -> None:
    cluster = FakeCluster()
    cluster.version = "v1.29.4"
    with pytest.raises(ConfigurationError, match=r"Kubernetes 1\.29; Tutti needs 1\.30"):
        await Running(cluster, log).task
    assert cluster.writes == []


async def test_missing_rights_are_named_before_the_first_write(log: Path) -> None:
    cluster = FakeCluster(denied={("create", "customresourcedefinitions")})
    with pytest.raises(ConfigurationError, match=r"create customresourcedefinitions\.apiextensions\.k8s\.io$"):
        await Running(cluster, log).task
    assert cluster.writes == []


async def test_each_process_gets_its_own_section_of_the_settings(log: Path) -> None:
    settings = RunSettings(scheduler={"scheduler_name": "mine"}, webhooks={"leave_seconds": 0})
    running = Running(FakeCluster(), log, settings)
    await running.until(lambda: all(running.pids(name) for name in NAMES))
    assert await running.end() == 0
    assert sorted(line for line in running.noted() if " was told " in line) == [
        "controllers was told group_api: own",
        "scheduler was told group_api: own scheduler_name: mine",
        "webhooks was told group_api: own leave_seconds: 0",
    ]
