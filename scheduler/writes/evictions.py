"""Carries out a plan: nominations first, then every victim but one, then the last one (KEP-5710, delayed preemption).

Before the first delete the plan is checked again, so a preemptor that was deleted, or lost its room to a more important one,
evicts nobody. A unit of which one pod was deleted is finished whatever happens, for half a gang is of no use to anybody. Each
victim is marked `DisruptionTarget` before its delete, so that its Job does not count a failure; the mark is tried, the delete is
the act. Deletes name the UID: a same-named successor is never touched. The last delete comes after all others were answered, so
whoever looks again when it is seen finds the whole room.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from api.constants import CONDITION_DISRUPTION_TARGET, REASON_PREEMPTION_BY_SCHEDULER
from kube.client.client import Client, PatchKind
from kube.client.errors import BadRequest, Conflict, Forbidden, Invalid, KubeError, NotFound
from kube.client.resources import PODS
from scheduler.state.records import PodRecord
from scheduler.writes.condition_rules import as_json, condition
from scheduler.writes.group_conditions import WallClock, time_stamp, utc_now
from scheduler.writes.lanes import WriteLanes
from scheduler.writes.retry import Retries

_log = logging.getLogger(__name__)

_MARK_ATTEMPTS: Final = 3
_FINAL: Final = (Forbidden, BadRequest, Invalid)


@dataclass(frozen=True, slots=True)
class Eviction:
    """One plan to be carried out.

    Attributes:
        nominations: the preemptor's pods with the nodes that are cleared for them.
        units: what leaves, each with all its pods.
        message: of the `DisruptionTarget` condition.
        obstacle: why nobody may be evicted for it any more, None when they may; asked once, before the first delete.
        begun: called when it begins; true when somebody leaves otherwise than by our deletes.
        is_current: the same in short, asked before every unit is begun.
        is_leaving: whether a pod was deleted meanwhile, by whomever.
        evicted: told of every pod whose deletion the server accepted.
        cancelled: told when nobody was asked to leave.
    """

    nominations: tuple[tuple[PodRecord, str], ...]
    units: tuple[tuple[PodRecord, ...], ...]
    message: str
    obstacle: Callable[[], str | None]
    begun: Callable[[], bool]
    is_current: Callable[[], bool]
    is_leaving: Callable[[PodRecord], bool]
    evicted: Callable[[PodRecord], None]
    cancelled: Callable[[], None]


@dataclass(slots=True)
class _Run:
    """An eviction under way."""

    eviction: Eviction
    to_nominate: int
    is_refused: bool = False
    has_others: bool = False
    open_deletes: int = 0
    last: tuple[int, PodRecord] | None = None
    begun: set[int] = field(default_factory=set)
    marks: dict[str, int] = field(default_factory=dict)


class Evictor:
    """Hands the writes of plans to the lanes, in their order."""

    def __init__(
        self,
        client: Client,
        lanes: WriteLanes,
        *,
        retries: Retries,
        wall_clock: WallClock = utc_now,
    ) -> None:
        self._client = client
        self._lanes = lanes
        self._retries = retries
        self._wall_clock = wall_clock

    def submit(self, eviction: Eviction) -> None:
        """Queue a plan; everything that is not written comes to nothing if the plan is overtaken meanwhile."""
        run = _Run(eviction, len(eviction.nominations))
        for pod, node in eviction.nominations:
            self._lanes.bind(partial(self._nominate, run, pod, node))
        if not eviction.nominations:
            self._begin(run)

    def withdraw(self, pod: PodRecord) -> None:
        """The pod is nominated no longer: take its node name off again when there is nothing better to do."""
        self._lanes.status(("nomination", pod.uid), partial(self._clear, pod))

    # --- nominations -------------------------------------------------------------------------------------------------

    async def _nominate(self, run: _Run, pod: PodRecord, node: str) -> str:
        self._lanes.drop(("nomination", pod.uid))
        if run.eviction.is_current():
            try:
                await self._write_nomination(pod, node)
            except (NotFound, Conflict):
                pass  # Its pod is gone; the check before the first delete sees what that means.
            except Forbidden as error:
                _log.error("cannot nominate a node for a pod, so nobody is evicted for it: %s", error)
                run.is_refused = True
            except KubeError as error:
                again = partial(self._lanes.bind, partial(self._nominate, run, pod, node))
                self._retries.again(("nominate", pod.uid), again, error)
                return "retry"
        self._retries.succeeded(("nominate", pod.uid))
        run.to_nominate -= 1
        if not run.to_nominate:
            self._begin(run)
        return "nominated"

    async def _write_nomination(self, pod: PodRecord, node: str | None) -> None:
        body = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node}}
        await self._client.patch(PODS, body, pod.name, pod.namespace, subresource="status", parse=False)

    async def _clear(self, pod: PodRecord) -> str:
        try:
            await self._write_nomination(pod, None)
        except (NotFound, Conflict):
            return "gone"
        except Forbidden:
            return "forbidden"
        except KubeError as error:
            self._retries.again(("nomination", pod.uid), partial(self.withdraw, pod), error)
            return "retry"
        self._retries.succeeded(("nomination", pod.uid))
        return "written"

    # --- deletes -----------------------------------------------------------------------------------------------------

    def _begin(self, run: _Run) -> None:
        obstacle = "nominations are forbidden" if run.is_refused else run.eviction.obstacle()
        victims = [(number, pod) for number, unit in enumerate(run.eviction.units) for pod in unit]
        if obstacle is not None:
            _log.info("nobody is evicted: %s", obstacle)
            run.eviction.cancelled()
            return
        run.has_others = run.eviction.begun()
        if not victims:
            return
        run.last = victims.pop()
        run.open_deletes = len(victims)
        for number, pod in victims:
            self._lanes.evict(partial(self._evict, run, number, pod))
        if not victims:
            self._go_on(run)

    def _go_on(self, run: _Run) -> None:
        if run.open_deletes:
            return
        if run.last is None:
            if not run.begun and not run.has_others:
                run.eviction.cancelled()
            return
        number, pod = run.last
        run.last, run.open_deletes = None, 1
        self._lanes.evict(partial(self._evict, run, number, pod))

    async def _evict(self, run: _Run, number: int, pod: PodRecord) -> str:
        outcome = "overtaken"
        if run.eviction.is_leaving(pod):
            outcome = "gone"
        elif number in run.begun or run.eviction.is_current():
            run.begun.add(number)
            outcome = await self._mark_and_delete(run, number, pod)
            if outcome == "retry":
                return outcome
        self._retries.succeeded(("evict", pod.uid))
        run.open_deletes -= 1
        self._go_on(run)
        return outcome

    async def _mark_and_delete(self, run: _Run, number: int, pod: PodRecord) -> str:
        try:
            if run.marks.get(pod.uid, 0) < _MARK_ATTEMPTS:
                await self._mark(run, pod)
            await self._client.delete(PODS, pod.name, pod.namespace, uid=pod.uid)
        except (NotFound, Conflict):
            return "gone"
        except Forbidden as error:
            _log.error("the scheduler may not evict pods: %s", error)
            return "forbidden"
        except KubeError as error:
            again = partial(self._lanes.evict, partial(self._evict, run, number, pod))
            self._retries.again(("evict", pod.uid), again, error)
            return "retry"
        run.eviction.evicted(pod)
        return "evicted"

    async def _mark(self, run: _Run, pod: PodRecord) -> None:
        """Raises only what says that the pod is gone, or that is worth another attempt."""
        run.marks[pod.uid] = run.marks.get(pod.uid, 0) + 1
        wanted = condition(
            CONDITION_DISRUPTION_TARGET,
            is_true=True,
            reason=REASON_PREEMPTION_BY_SCHEDULER,
            message=run.eviction.message,
        )
        entry = as_json([wanted])[0] | {"lastProbeTime": None, "lastTransitionTime": time_stamp(self._wall_clock())}
        body = {"metadata": {"uid": pod.uid}, "status": {"conditions": [entry]}}
        try:
            await self._client.patch(
                PODS, body, pod.name, pod.namespace, subresource="status", kind=PatchKind.STRATEGIC, parse=False
            )
        except (NotFound, Conflict):
            raise
        except KubeError as error:
            if run.marks[pod.uid] < _MARK_ATTEMPTS and not isinstance(error, _FINAL):
                raise
            _log.warning(
                "pod %s/%s is evicted without a DisruptionTarget condition: %s", pod.namespace, pod.name, error
            )
            run.marks[pod.uid] = _MARK_ATTEMPTS
        else:
            run.marks[pod.uid] = _MARK_ATTEMPTS
