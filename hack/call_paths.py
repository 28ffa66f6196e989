"""`python -m hack.call_paths [PATH...]`: through which of our functions a pod, a preemption or a Job goes, one by one.

A path is given by landmarks, one for each step that a reader knows from kube-scheduler or from a controller. What is printed, in
the order of the first call, is every function of the component that is on the call stack when a landmark is entered for the first
time: the way down to it, without what is called beside it. The work is done by the real code on the servers in memory of the tests.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

from controllers.gangs import writes
from controllers.jobs import desired_group, execute, observe, plan
from kube.client.resources import JOBS
from scheduler.algorithm import identical
from scheduler.apicalls.dispatcher import APIDispatcher
from scheduler.binding.binder import Binder
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.plugins import gang_scheduling, node_resources_fit, taint_toleration
from scheduler.preemption import node_candidates, reprieve
from scheduler.preemption.context import PotentialVictims
from scheduler.preemption.disruption_marks import DisruptionMarks
from scheduler.preemption.evaluator import Evaluator
from scheduler.preemption.executor import Executor
from scheduler.preemption.manager import PreemptionManager
from scheduler.queue.active import ActiveQueue
from tests.controllers.builders import job_manifest
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import pod
from tests.scheduler.shell.preemption import Arena

ROOT: Final = Path(__file__).parent.parent


class Recorder:
    """Notes, while it is entered, the functions below `folder` on the stack when each landmark is called for the first time.

    Attributes:
        found: landmark by (file, function), in the order of the first call.
        missing: the landmarks that were not called.
    """

    def __init__(self, folder: str, landmarks: dict[str, Callable[..., Any]]) -> None:
        self.found: dict[tuple[str, str], str] = {}
        self.missing = {function.__code__: step for step, function in landmarks.items()}
        self._folder = f"{ROOT / folder}/"

    def __enter__(self) -> "Recorder":
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or frame.f_code not in self.missing:
            return
        step = self.missing.pop(frame.f_code)
        stack: list[tuple[str, str]] = []
        each: FrameType | None = frame
        while each is not None:
            code = each.f_code
            if code.co_filename.startswith(self._folder) and not code.co_name.startswith("<"):
                stack.append((code.co_filename.removeprefix(f"{ROOT}/"), code.co_qualname))
            each = each.f_back
        for function in reversed(stack):
            self.found.setdefault(function, step)
        if not self.missing:
            sys.setprofile(None)


async def bind() -> Recorder:
    """A lone pod with another signature than the pods before, from its watch event until its bind is sent."""
    recorder = Recorder(
        "scheduler",
        {
            "in the cache": PodGroupState.put,
            "pre-enqueue": gang_scheduling.pre_enqueue,
            "active": ActiveQueue.put,
            "popped": ActiveQueue.take,
            "filter of a plugin": taint_toleration.filter_nodes,
            "filter by resources": node_resources_fit.pods_that_fit,
            "score of a plugin": node_resources_fit.least_allocated,
            "the best nodes": identical.spread_over,
            "assumed": ClusterState.assume,
            "bind handed over": APIDispatcher.add_urgent,
            "bind sent": Binder._send,
        },
    )
    cluster = Cluster()
    cluster.add_nodes(8)
    async with cluster.scheduler():
        cluster.api.put("pods", pod("first"))
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)
        second = pod("second")
        second["spec"]["tolerations"] = [{"key": "spot", "operator": "Exists"}]
        with recorder:
            cluster.api.put("pods", second)
            await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    return recorder


async def preemption() -> Recorder:
    """A gang of three for which pods on other nodes leave, from the end of its cycle to the write about the first victim."""
    recorder = Recorder(
        "scheduler/preemption",
        {
            "post filter": PreemptionManager.post_filter,
            "potential victims": PotentialVictims.__init__,
            "nodes selected": node_candidates.select_nodes,
            "reprieve": reprieve.reprieve,
            "cost of a candidate": reprieve._cost_of,
            "nominated": Evaluator._nominate,
            "nomination written": Executor._write_nomination,
            "victims asked": Executor._begin,
            "victim marked": DisruptionMarks.mark,
            "victim told": Executor._evicted,
        },
    )
    arena = Arena()
    for number in range(4):
        arena.node(f"n{number}", 2)
        arena.pod(f"low-{number}", 2, on=f"n{number}")
    async with arena.scheduler():
        arena.group("g", 3)
        with recorder:
            arena.members("g", 3, 2)
            await arena.api.until(lambda: len(arena.deleted) == 3)
    return recorder


async def job() -> Recorder:
    """A new gang Job, one pass of its reconciler, up to its PodGroup's creation."""
    recorder = Recorder(
        "controllers",
        {
            "observe": observe.JobObserver.observe,
            "plan": plan._plan_unassociated,
            "desired group": desired_group.desired_group,
            "PodGroup created": execute._create_pod_group,
            "written": writes.create,
            "gate opened": execute.job_patch,
        },
    )
    cluster = FakeCluster()
    cluster.put(JOBS, job_manifest())
    world = World(cluster)
    with recorder:
        await world.settle()
    return recorder


PATHS: Final[dict[str, Callable[[], Awaitable[Recorder]]]] = {"bind": bind, "preemption": preemption, "job": job}


def main() -> int:
    """Prints the paths; 1 when a landmark was not passed."""
    parser = argparse.ArgumentParser(prog="python -m hack.call_paths", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH", help=f"which: {', '.join(PATHS)} (default: all)")
    wanted = parser.parse_args().paths or list(PATHS)
    unknown = sorted(set(wanted) - set(PATHS))
    if unknown:
        parser.error(f"no path is called {', '.join(unknown)}; there are {', '.join(PATHS)}")
    status = 0
    for name in wanted:
        recorder = asyncio.run(_awaited(PATHS[name]))
        files = {file for file, _ in recorder.found}
        print(f"\n{name}: {len(recorder.found)} functions in {len(files)} files")
        step = ""
        for (file, function), landmark in recorder.found.items():
            print(f"  {landmark if landmark != step else '':22} {file:48} {function}")
            step = landmark
        if recorder.missing:
            print(f"  not passed: {', '.join(recorder.missing.values())}")
            status = 1
    return status


async def _awaited(path: Callable[[], Awaitable[Recorder]]) -> Recorder:
    return await path()


if __name__ == "__main__":
    sys.exit(main())
