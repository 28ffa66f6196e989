"""`tutti run` as a user starts it, its three child processes, and how a test hurts them.

Black box: children are found by what the operating system shows (parent process and command line).
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from verify.auditor.audit_log import seconds
from verify.auditor.identities import INSTALLER, UNINSTALLER
from verify.clusters import profiles
from verify.clusters.client import ApiError
from verify.clusters.controlplane import ControlPlane, Ran
from verify.clusters.eventually import eventually
from verify.clusters.jobs import indexed_job
from verify.clusters.ports import free_ports
from verify.clusters.server import Server

COMMAND = os.environ.get("TUTTI_COMMAND") or str(Path(sys.executable).with_name("tutti"))
CHILDREN = ("controllers", "webhooks", "scheduler")
OWN_KINDS = ("podgroups.tutti.scheduler", "workloads.tutti.scheduler")
LEASES = ("tutti-controllers", "tutti-scheduler")
SYSTEM_NAMESPACE = "tutti-system"
RECORDED = 1000
"""Decisions of its scheduler that are kept."""
READY_SECONDS = 60
STOP_SECONDS = 30


def run_tutti(*arguments: str, folder: Path, within_seconds: float = 60) -> Ran:
    """Runs a `tutti` command to its end."""
    done = subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=within_seconds,
        check=False,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def environment(home: Path) -> dict[str, str]:
    """A user's environment that points to no cluster."""
    left_out = {"KUBECONFIG", "XDG_CACHE_HOME"}
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in left_out and not key.endswith(("_proxy", "_PROXY"))
    }
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1"}


class Tutti:
    """One installation of Tutti, run from outside the cluster.

    Args:
        control_plane: its cluster.
        command: what to start instead of `tutti`.
        settings: of its scheduler, beside those of every test.
        variables: of its environment, beside those of a user.
        name: of its file of settings.
    """

    def __init__(
        self,
        control_plane: ControlPlane,
        *,
        command: Sequence[str] = (COMMAND,),
        settings: Mapping[str, object] = MappingProxyType({}),
        variables: Mapping[str, str] = MappingProxyType({}),
        name: str = "tutti",
    ) -> None:
        self._control_plane = control_plane
        self._disturbed = False
        self._leases_from = 0.0
        self._known_kinds: list[str] = []
        kubeconfig = str(control_plane.kubeconfig_of(INSTALLER))
        self._config = control_plane.folder / f"{name}.yaml"
        chosen = profiles.settings()
        (self.why_port,) = free_ports(1)
        """Where its scheduler answers people of one namespace."""
        chosen["scheduler"] |= {"record_decisions": RECORDED, "why_address": f":{self.why_port}", **settings}
        self._config.write_text(json.dumps(chosen))
        self.server = Server(
            "tutti run",
            [*command, "run", "--kubeconfig", kubeconfig, "--config", str(self._config)],
            log=control_plane.folder / "tutti.log",
            environment={**environment(control_plane.folder), "KUBECONFIG": "", **variables},
        )

    @contextmanager
    def deciding_with(self, **settings: object) -> Iterator[None]:
        """Runs anew with these settings of the scheduler beside those it has; ends afterwards, to begin with its own again."""
        usual = self._config.read_text()
        chosen = json.loads(usual)
        self._config.write_text(json.dumps({**chosen, "scheduler": {**chosen["scheduler"], **settings}}))
        try:
            self.stop()
            self.ensure_running()
            yield
        finally:
            self._config.write_text(usual)
            self.stop()

    def ensure_running(self) -> None:
        """Starts it unless it runs undisturbed, and waits until all of it answers."""
        if self._disturbed or not self.server.running:
            self._end()
            self._leases_from = time.time()
            self.server.start()
            self._disturbed = False
        eventually(self.ready, within_seconds=READY_SECONDS)
        self._teach_garbage_collector()

    def ready(self) -> bool:
        """Whether a Job would be admitted as a gang, and both leases are held."""
        self.server.require_running()
        api = self._control_plane.admin
        for name in LEASES:
            lease = api.find("leases", name, SYSTEM_NAMESPACE)
            assert lease, f"there is no lease {name}"
            # A lease of a process that was killed is no sign of life: it still names its holder.
            held = lease["spec"].get("holderIdentity") and seconds(lease["spec"]["renewTime"]) > self._leases_from
            assert held, f"lease {name} is not held: {lease['spec']}"
        return set(self.children()) == set(CHILDREN) and self.admits()

    def admits(self) -> bool:
        """Whether admission answers: a Job created with dry-run comes back marked."""
        try:
            job = self._control_plane.admin.create("jobs", indexed_job("probe", 2), "default", dry_run=True)
        except ApiError:
            return False
        return "tutti.scheduler/managed" in job["spec"]["template"]["metadata"].get("labels", {})

    def children(self) -> dict[str, int]:
        """The process ids of the three processes that run at this moment."""
        return {name: pid for name, (pid, _) in self._command_lines().items()}

    def metrics_ports(self) -> dict[str, int]:
        """Where each of its processes that run at this moment serves metrics on this machine."""
        found = {}
        for name, (_, words) in self._command_lines().items():
            (option,) = [word for word in words if word.startswith("--metrics=")]
            found[name] = int(option.rpartition(":")[2])
        return found

    def _command_lines(self) -> dict[str, tuple[int, list[str]]]:
        """Process id and words of each of the three, read once: one that has ended has no words any more."""
        found = {}
        for pid in _descendants(self.server.pid):
            words = _command_line(pid)
            found.update({name: (pid, words) for name in CHILDREN if name in words})
        return found

    def kill_child(self, name: str) -> None:
        """SIGKILL to one process; the supervisor will start it again, later after each death."""
        self._disturbed = True
        pid = self.children().get(name)
        if pid is not None:
            _signal(pid, signal.SIGKILL)
            self._leases_from = time.time()

    def expect_new_leases(self) -> None:
        """Whoever holds a lease may have died: it counts as held once it is renewed from now on."""
        self._leases_from = time.time()

    def lose_child(self, name: str, how: signal.Signals) -> None:
        """Kills or stops one process for good: the supervisor is stopped first, so that nobody starts it again."""
        self._disturbed = True
        pid = eventually(lambda: self.children().get(name, 0), within_seconds=READY_SECONDS)
        _signal(self.server.pid, signal.SIGSTOP)
        _signal(pid, how)

    def kill_everything(self) -> None:
        """SIGKILL to the supervisor and all its processes, as when a machine dies."""
        self._disturbed = True
        if self.server.running:
            pids = _descendants(self.server.pid)
            self.server.kill()
            for pid in pids:
                _signal(pid, signal.SIGKILL)

    def _end(self) -> None:
        """Ends what still runs, kindly where possible: leases that are given back need not run out."""
        if self.server.running:
            with suppress(AssertionError):
                self.stop()
        self.kill_everything()

    def stop(self) -> int:
        """SIGTERM to `tutti run`, which goes on first where a test has stopped it; its exit code."""
        self._disturbed = True
        if self.server.running:
            for pid in [self.server.pid, *_descendants(self.server.pid)]:
                _signal(pid, signal.SIGCONT)
        return self.server.terminate(within_seconds=STOP_SECONDS)

    def uninstall(self, *, code: int = 0) -> Ran:
        """`tutti uninstall`, which must succeed or end with that code."""
        self._disturbed = True
        kubeconfig = str(self._control_plane.kubeconfig_of(UNINSTALLER))
        done = run_tutti("uninstall", "--kubeconfig", kubeconfig, folder=self._control_plane.folder)
        assert done.code == code, f"tutti uninstall: exit code {done.code}\n{done.out}{done.err}"
        return done

    def _teach_garbage_collector(self) -> None:
        """Pods of a gang refer to its PodGroup: they are collected only once the collector knows our kinds."""
        kinds = [self._control_plane.admin.find("customresourcedefinitions", name) for name in OWN_KINDS]
        uids = [kind["metadata"]["uid"] for kind in kinds if kind]
        if uids != self._known_kinds:
            self._known_kinds = uids
            self._control_plane.restart_controller_manager()


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    pending = [pid]
    while pending:
        children = [
            int(child)
            for path in Path(f"/proc/{pending.pop()}/task").glob("*/children")
            for child in _read(path).split()
        ]
        found += children
        pending += children
    return found


def _command_line(pid: int) -> list[str]:
    return _read(Path(f"/proc/{pid}/cmdline")).split("\0")


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
