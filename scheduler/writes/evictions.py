"""Carries out a plan: nominations, every victim in the way but one, the last one, then the others (KEP-5710, delayed preemption).

Before the first delete the plan is checked again, so a preemptor that was deleted, or lost its room to a more important one,
evicts nobody. A unit of which one pod was deleted is finished whatever happens, for half a gang is of no use to anybody; that
somebody (admission, or the lack of a right) forbids one of its deletes is no reason to stop asking. Each
victim is marked `DisruptionTarget` before its delete, so that its Job does not count a failure; the mark is tried, the delete is
the act. Deletes name the UID: a same-named successor is never touched. The last delete comes after all others were answered, so
whoever looks again when it is seen finds the whole room. Victims elsewhere, which leave because their group leaves whole, are
deleted a moment later: the preemptor starts before them.
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
from scheduler.writes.nominations import FORBIDDEN, Nominations
from scheduler.writes.retry import Later, Retries

_log = logging.getLogger(__name__)

_MARK_ATTEMPTS: Final = 3
_FINAL: Final = (Forbidden, BadRequest, Invalid)
_START_SECONDS: Final = 1.0
"""How long what only tells waits for the binds of a preemptor after the last of its victims was deleted."""

_HUSH_SECONDS: Final = 5.0
"""How long it waits for a plan in all."""

_OTHERS_AFTER_SECONDS: Final = 0.25
"""How long victims that are in nobody's way stay longer than the others."""


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
    speak: Callable[[], None]
    """Lets go out what only tells."""

    is_refused: bool = False
    has_others: bool = False
    open_deletes: int = 0
    last: tuple[int, PodRecord] | None = None
    others: list[tuple[int, PodRecord]] = field(default_factory=list)
    begun: dict[int, set[str]] = field(default_factory=dict)
    """Pods whose delete was sent and not refused, by the number of their unit."""

    is_refusal_said: bool = False
    marks: dict[str, int] = field(default_factory=dict)


class Evictor:
    """Hands the writes of plans to the lanes, in their order."""

    def __init__(
        self,
        client: Client,
        lanes: WriteLanes,
        *,
        retries: Retries,
        later: Later,
        wall_clock: WallClock = utc_now,
    ) -> None:
        self._client = client
        self._lanes = lanes
        self._nominations = Nominations(client, lanes, retries)
        self._retries = retries
        self._later = later
        self._wall_clock = wall_clock

    def submit(self, eviction: Eviction) -> None:
        """Queue a plan; everything that is not written comes to nothing if the plan is overtaken meanwhile."""
        run = _Run(eviction, len(eviction.nominations), self._lanes.expect(_HUSH_SECONDS))
        for pod, node in eviction.nominations:
            self._nominations.put(pod, node, eviction.is_current, partial(self._nominated, run))
        if not eviction.nominations:
            self._begin(run)

    def withdraw(self, pod: PodRecord) -> None:
        """The pod is nominated no longer: take its node name off again when there is nothing better to do."""
        self._nominations.withdraw(pod)

    # --- deletes -----------------------------------------------------------------------------------------------------

    def _nominated(self, run: _Run, outcome: str) -> None:
        run.is_refused |= outcome == FORBIDDEN
        run.to_nominate -= 1
        if not run.to_nominate:
            self._begin(run)

    def _begin(self, run: _Run) -> None:
        obstacle = "nominations are forbidden" if run.is_refused else run.eviction.obstacle()
        if obstacle is not None:
            _log.info("nobody is evicted: %s", obstacle)
            run.speak()
            run.eviction.cancelled()
            return
        run.has_others = run.eviction.begun()
        victims, run.others = _by_need(run.eviction)
        if not victims:
            run.speak()
            return
        run.last = victims.pop()
        self._delete(run, victims)
        self._go_on(run)

    def _delete(self, run: _Run, victims: list[tuple[int, PodRecord]]) -> None:
        run.open_deletes += len(victims)
        for number, pod in victims:
            self._lanes.evict(partial(self._evict, run, number, pod))

    def _go_on(self, run: _Run) -> None:
        if run.open_deletes:
            return
        if run.last is not None:
            last, run.last = run.last, None
            self._delete(run, [last])
            return
        self._later(_START_SECONDS, run.speak)
        if not any(run.begun.values()) and not run.has_others:
            run.eviction.cancelled()
        elif run.others:
            others, run.others = run.others, []
            self._later(_OTHERS_AFTER_SECONDS, partial(self._delete, run, others))

    async def _evict(self, run: _Run, number: int, pod: PodRecord) -> str:
        outcome = "overtaken"
        if run.eviction.is_leaving(pod):
            outcome = "gone"
        elif run.begun.get(number) or run.eviction.is_current():
            run.begun.setdefault(number, set()).add(pod.uid)
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
        except KubeError as error:
            if isinstance(error, _FINAL):
                run.begun[number].discard(pod.uid)
                self._say_refused(run, error)
            again = partial(self._lanes.evict, partial(self._evict, run, number, pod))
            self._retries.again(("evict", pod.uid), again, error)
            return "retry"
        run.eviction.evicted(pod)
        return "evicted"

    def _say_refused(self, run: _Run, error: KubeError) -> None:
        if not run.is_refusal_said:
            run.is_refusal_said = True
            _log.error("the scheduler may not evict pods: %s", error)

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


def _by_need(eviction: Eviction) -> tuple[list[tuple[int, PodRecord]], list[tuple[int, PodRecord]]]:
    """All victims with the numbers of their units: those in the way, and the others.

    In the way is who is on a node that is cleared, and a unit that has nobody there: it leaves for what else it stands against.
    """
    cleared = {node for _, node in eviction.nominations}
    in_the_way: list[tuple[int, PodRecord]] = []
    others: list[tuple[int, PodRecord]] = []
    for number, unit in enumerate(eviction.units):
        is_on_cleared = any(pod.node_name in cleared for pod in unit)
        for pod in unit:
            is_other = is_on_cleared and pod.node_name not in cleared
            (others if is_other else in_the_way).append((number, pod))
    return in_the_way, others
