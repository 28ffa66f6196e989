"""A hint for the condition of a group, looked for by the scheduler itself while it has nothing else to do.

Only what the group asks for is changed, in views: the cluster that the scheduler works on stays as it is. One step makes one
decision, and no decision may take long. The search is repeated from its beginning at each step with the decisions it has made so
far; when the cluster changes between two steps these are worth nothing, and it begins anew.
"""

from typing import Final

from explain.device_hints import fewer_devices_hints
from explain.item_change import Change
from explain.item_hints import min_count_hints, request_hints, rule_hints
from explain.reasons import Reason
from explain.relaxations import relaxations
from explain.trials import NoMoreTrials, Trials
from scheduler.algorithm.decision import Decision
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.cache.steps import Computation

MOST_STEPS_OF_A_DECISION: Final = 10_000_000
"""Some ten milliseconds, at most a few more of one large look."""
MOST_DECISIONS: Final = 60
MOST_STARTS: Final = 5
"""A search that the cluster's changes interrupt again and again is given up."""


class _Pause(Exception):
    """One decision has been made in this step."""


class _Repeated(Trials):
    """Makes one new decision, after those that were made before."""

    def __init__(self, state: ClusterState, key: EntityKey, known: list[Decision]) -> None:
        super().__init__(state, key, MOST_DECISIONS)
        self._known: Final = known
        self._has_decided = False

    def decide(self, *changes: Change) -> Decision:
        """The next decision.

        Raises:
            NoMoreTrials: there were too many decisions already.
            _Pause: it has to wait for the next step.
        """
        if self.made < len(self._known):
            self.made += 1
            return self._known[self.made - 1]
        if self._has_decided:
            raise _Pause
        self._has_decided = True
        steps = self.state.nodes.steps
        most, exceeded = steps.most, steps.exceeded
        steps.most, steps.exceeded = min(most, MOST_STEPS_OF_A_DECISION), _nobody
        try:
            self._known.append(super().decide(*changes))
        finally:
            steps.most, steps.exceeded = most, exceeded
        return self._known[-1]


def _nobody(_: Computation) -> None:
    pass


class Advice:
    """The search for one group; implements `scheduler.reporting.hints.HintSearch`."""

    def __init__(self, state: ClusterState, key: EntityKey) -> None:
        self._state: Final = state
        self._key: Final = key
        self._known: Final[list[Decision]] = []
        self._version: tuple[int, ...] = ()
        self._starts = 0

    def step(self) -> str | None:
        """One decision more; the hint once it is found, empty when there is none, None while nobody knows."""
        version = _version(self._state)
        if version != self._version:
            self._version = version
            self._known.clear()
            self._starts += 1
            if self._starts > MOST_STARTS:
                return ""
        try:
            return _search(_Repeated(self._state, self._key, self._known))
        except _Pause:
            return None
        except NoMoreTrials:
            return ""


def _version(state: ClusterState) -> tuple[int, ...]:
    nodes = state.nodes
    return (
        nodes.room_changes.end,
        nodes.rule_changes.end,
        state.reservations.version,
        len(state.nominator),
        state.devices.log.end,
    )


def _search(trials: Trials) -> str:
    members = trials.members
    if members is None or not members.pending_count or trials.state.nominator.of(trials.key) is not None:
        return ""
    decision = trials.decide()
    if decision.result != "unschedulable":
        return ""
    alone = tuple(one for one in relaxations(trials.seen.view, members) if trials.starts(one.change))
    for found in (
        rule_hints(trials, frozenset(one.reason for one in alone)),
        request_hints(trials, alone),
        fewer_devices_hints(trials) if any(one.reason is Reason.DEVICES for one in alone) else iter(()),
        min_count_hints(trials, decision),
    ):
        hint = next(found, None)
        if hint is not None:
            return hint.message
    return ""
