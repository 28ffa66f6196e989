"""Carries out a candidate: nominations, all victims in the way but one, that one, then the others (KEP-5710, delayed preemption).

Nominations are written first: they tell people, and whichever scheduler comes after this one, whom the room is for. Before the
first delete the candidate is checked again, so a preemptor that was deleted, or lost its room to a more important one, evicts
nobody. A unit of which one pod was deleted is finished whatever happens, for half a gang is of no use to anybody; that somebody
(admission, or the lack of a right) forbids one of its deletes is no reason to stop asking. Each victim is marked
`DisruptionTarget` before its delete, so that its Job does not count a failure; the mark is tried, the delete is the act. Who was
marked, and stays because the preemptor has found room elsewhere meanwhile, keeps the mark until the disruption controller takes a
mark without a delete off, two minutes later. Deletes name the UID: a same-named successor is never touched. The last delete comes
after all others were answered, so whoever looks again when it is seen finds the whole room. Victims elsewhere, which leave because
their group leaves whole, are deleted a moment later: the preemptor starts before them.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from api.constants import REASON_PREEMPTION_BY_SCHEDULER
from kube.client.client import Client
from kube.client.errors import Conflict, Forbidden, KubeError, NotFound
from kube.client.resources import PODS
from kube.outside import utc_now
from scheduler.apicalls.conditions import WallClock
from scheduler.apicalls.dispatcher import APIDispatcher, Later, Retries
from scheduler.cache.cluster import ClusterState
from scheduler.cache.nominator import Nomination
from scheduler.cache.records import GroupRecord, PodRecord
from scheduler.preemption.disruption_marks import REFUSALS, DisruptionMarks
from scheduler.preemption.evaluator import Evaluator
from scheduler.preemption.suspensions import Suspensions
from scheduler.preemption.victims import KIND_NAMES, Candidate, found_message
from scheduler.reporting.events import EventWriter
from scheduler.reporting.metrics import PreemptionMetrics

_log = logging.getLogger(__name__)

_START_SECONDS: Final = 1.0
"""How long status writes wait for the binds of a preemptor after the last of its victims was deleted."""

_EXPECT_SECONDS: Final = 5.0
"""How long they wait for a preemption in all."""

_ELSEWHERE_AFTER_SECONDS: Final = 0.25
"""How long victims that are in nobody's way stay longer than the others."""

_FORBIDDEN: Final = "forbidden"
_GONE: Final = "gone"
_OVERTAKEN: Final = "overtaken"
_RETRY: Final = "retry"

_Numbered = tuple[int, PodRecord]
"""(number of a victim in the candidate, one of its pods)."""


@dataclass(slots=True)
class _Run:
    """A candidate that is being carried out.

    Attributes:
        group: of the preemptor.
        message: of the `DisruptionTarget` condition.
        marks: the conditions of its victims.
        cancelled: told when nobody was asked to leave.
        expect_no_more: lets status writes go out.
        cleared: nodes that pods of the preemptor are nominated to.
        to_nominate: nominations that are not written yet.
        gone: UIDs of pods of the preemptor that the server does not have any more.
        is_forbidden: the server refuses our nominations.
        has_suspended: somebody leaves otherwise than by our deletes.
        open_deletes: deletes that were not answered yet.
        waves: pods that are to be deleted together, once the wave before is answered.
        elsewhere: those that are deleted a moment after the last wave.
        begun: number of a victim -> UIDs of its pods whose delete was sent and not refused.
    """

    candidate: Candidate
    nomination: Nomination
    group: GroupRecord | None
    message: str
    marks: DisruptionMarks
    cancelled: Callable[[Nomination], None]
    expect_no_more: Callable[[], None]
    cleared: frozenset[str]
    to_nominate: int
    gone: set[str] = field(default_factory=set)
    is_forbidden: bool = False
    has_suspended: bool = False
    open_deletes: int = 0
    waves: deque[list[_Numbered]] = field(default_factory=deque)
    elsewhere: list[_Numbered] = field(default_factory=list)
    begun: dict[int, set[str]] = field(default_factory=dict)
    is_refusal_logged: bool = False


class Executor:
    """Hands the writes of candidates to the dispatcher, in their order (upstream: Executor)."""

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        client: Client,
        dispatcher: APIDispatcher,
        *,
        retries: Retries,
        later: Later,
        state: ClusterState,
        evaluator: Evaluator,
        suspensions: Suspensions,
        event_writer: EventWriter,
        metrics: PreemptionMetrics,
        scheduler_name: str,
        wall_clock: WallClock = utc_now,
    ) -> None:
        self._client = client
        self._dispatcher = dispatcher
        self._retries = retries
        self._later = later
        self._state = state
        self._evaluator = evaluator
        self._suspensions = suspensions
        self._event_writer = event_writer
        self._metrics = metrics
        self._scheduler_name = scheduler_name
        self._wall_clock = wall_clock

    def execute(self, candidate: Candidate, nomination: Nomination, cancelled: Callable[[Nomination], None]) -> None:
        """Queue the writes of a candidate; what is not written comes to nothing if its nomination is overtaken meanwhile.

        Args:
            candidate: who leaves, and who comes.
            nomination: the room it makes.
            cancelled: told when nobody was asked to leave.
        """
        self._metrics.candidate_found(len(candidate.pods), candidate.cost.violations)
        group = self._state.group(candidate.key)
        name = self._state.entities.scheduler_name(candidate.key) or self._scheduler_name
        message = f"{name}: preempting to accommodate a higher priority {KIND_NAMES[candidate.key.kind]}"
        nominees = ((self._state.pod(uid), node) for uid, node in candidate.places)
        known = [(pod, node) for pod, node in nominees if pod is not None]
        run = _Run(
            candidate,
            nomination,
            group,
            message,
            DisruptionMarks(
                self._client, reason=REASON_PREEMPTION_BY_SCHEDULER, message=message, wall_clock=self._wall_clock
            ),
            cancelled,
            expect_no_more=self._dispatcher.expect_urgent(_EXPECT_SECONDS),
            cleared=frozenset(node for _, node in known),
            to_nominate=len(known),
        )
        for pod, node in known:
            self._dispatcher.add_urgent(partial(self._nominate, run, pod, node))
        if not known:
            self._begin(run)

    # --- nominations -------------------------------------------------------------------------------------------------

    def withdraw(self, pod: PodRecord) -> None:
        """The pod is nominated no longer: take its node name off again when there is nothing better to do."""
        write = partial(self._write_nomination, pod, None, partial(self.withdraw, pod))
        self._dispatcher.add_status(_nomination_key(pod), write)

    async def _nominate(self, run: _Run, pod: PodRecord, node: str) -> str:
        self._dispatcher.drop(_nomination_key(pod))
        outcome = _OVERTAKEN
        if self._evaluator.is_current(run.nomination):
            again = partial(self._dispatcher.add_urgent, partial(self._nominate, run, pod, node))
            outcome = await self._write_nomination(pod, node, again)
            if outcome == _RETRY:
                return outcome
        self._retries.forget(_nomination_key(pod))
        run.is_forbidden |= outcome == _FORBIDDEN
        if outcome == _GONE:
            run.gone.add(pod.uid)
        run.to_nominate -= 1
        if not run.to_nominate:
            self._begin(run)
        return outcome

    async def _write_nomination(self, pod: PodRecord, node: str | None, again: Callable[[], None]) -> str:
        body = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node}}
        outcome = "nominated" if node else "written"
        try:
            await self._client.patch(PODS, body, pod.name, pod.namespace, subresource="status", parse=False)
        except (NotFound, Conflict):
            # Its pod is gone, which the watch may show later; the check before the first delete counts without it.
            outcome = _GONE
        except Forbidden as error:
            _log.error("cannot nominate nodes for pods: %s", error)
            outcome = _FORBIDDEN
        except KubeError as error:
            self._retries.add(_nomination_key(pod), again, error)
            return _RETRY
        self._retries.forget(_nomination_key(pod))
        return outcome

    # --- victims -----------------------------------------------------------------------------------------------------

    def _begin(self, run: _Run) -> None:
        """All nominations are written: asks the first victims to leave, if that still makes sense."""
        refused = "nominations are forbidden" if run.is_forbidden else None
        obstacle = refused or self._evaluator.obstacle(run.nomination, gone=run.gone)
        if obstacle is not None:
            _log.info("nobody is evicted: %s", obstacle)
            run.expect_no_more()
            run.cancelled(run.nomination)
            return
        candidate = run.candidate
        self._event_writer.preempts(candidate.key, run.group, found_message(len(candidate.pods), candidate.key.kind))
        for victim in candidate.victims:
            if victim.leaves_by_suspension:
                run.has_suspended = True
                self._suspensions.ask(victim, candidate.key, run.message)
                for pod in victim.pods:
                    self._evicted(run, pod)
        in_the_way, run.elsewhere = _by_need(run)
        if not in_the_way:
            run.expect_no_more()
            return
        run.waves.extend(wave for wave in (in_the_way[:-1], in_the_way[-1:]) if wave)
        self._go_on(run)

    def _go_on(self, run: _Run) -> None:
        """The next wave follows once all deletes of the one before are answered."""
        if run.open_deletes:
            return
        if run.waves:
            wave = run.waves.popleft()
            run.open_deletes = len(wave)
            for number, pod in wave:
                self._dispatcher.add_eviction(partial(self._preempt_pod, run, number, pod))
            return
        self._later(_START_SECONDS, run.expect_no_more)
        if not any(run.begun.values()) and not run.has_suspended:
            run.cancelled(run.nomination)
        elif run.elsewhere:
            run.waves.append(run.elsewhere)
            run.elsewhere = []
            self._later(_ELSEWHERE_AFTER_SECONDS, partial(self._go_on, run))

    async def _preempt_pod(self, run: _Run, number: int, pod: PodRecord) -> str:
        """Marks and deletes one pod, unless it is leaving already or the candidate was overtaken before its victim began to."""
        outcome = _OVERTAKEN
        now = self._state.pod(pod.uid)
        if now is None or now.terminating or now.is_terminal:
            outcome = _GONE
        elif self._goes_on(run, number):
            try:
                await run.marks.mark(pod)
                # The preemptor may have found room elsewhere while the mark was written.
                if self._goes_on(run, number):
                    run.begun.setdefault(number, set()).add(pod.uid)
                    await self._client.delete(PODS, pod.name, pod.namespace, uid=pod.uid)
                    self._evicted(run, pod)
                    outcome = "evicted"
            except (NotFound, Conflict):
                run.begun.setdefault(number, set()).add(pod.uid)
                outcome = _GONE
            except KubeError as error:
                if isinstance(error, REFUSALS):
                    run.begun.get(number, set()).discard(pod.uid)
                    self._log_refusal(run, error)
                again = partial(self._dispatcher.add_eviction, partial(self._preempt_pod, run, number, pod))
                self._retries.add(("evict", pod.uid), again, error)
                return _RETRY
        self._retries.forget(("evict", pod.uid))
        run.open_deletes -= 1
        self._go_on(run)
        return outcome

    def _goes_on(self, run: _Run, number: int) -> bool:
        """Whether pods of this victim are still to leave: one of them was asked to, or the candidate stands."""
        return bool(run.begun.get(number)) or self._evaluator.is_current(run.nomination)

    def _evicted(self, run: _Run, pod: PodRecord) -> None:
        run.nomination.evicted += 1
        self._metrics.evicted()
        self._event_writer.pod_preempted(pod, run.candidate.key, run.group)

    def _log_refusal(self, run: _Run, error: KubeError) -> None:
        if not run.is_refusal_logged:
            run.is_refusal_logged = True
            _log.error("the scheduler may not evict pods: %s", error)


def _by_need(run: _Run) -> tuple[list[_Numbered], list[_Numbered]]:
    """All pods to be deleted with the numbers of their victims: those in the way, and those elsewhere.

    In the way is who is on a node that is cleared, and a victim that has nobody there: it leaves for what else it stands against.
    """
    in_the_way: list[_Numbered] = []
    elsewhere: list[_Numbered] = []
    for number, victim in enumerate(run.candidate.victims):
        if victim.leaves_by_suspension:
            continue
        is_on_cleared = any(pod.node_name in run.cleared for pod in victim.pods)
        for pod in victim.pods:
            is_elsewhere = is_on_cleared and pod.node_name not in run.cleared
            (elsewhere if is_elsewhere else in_the_way).append((number, pod))
    return in_the_way, elsewhere


def _nomination_key(pod: PodRecord) -> tuple[str, str]:
    return ("nomination", pod.uid)
