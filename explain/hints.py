"""The one hint that is told: the first that is enough, from what costs its owner least to what others must do."""

from collections.abc import Iterator

from explain.blocking import Blocking
from explain.cluster_changes import ungated, with_pods
from explain.cluster_hints import ending_hints, holder_hints, leaving_hint, node_hints, restore_hints
from explain.device_hints import fewer_devices_hints, holder_of_devices_hints
from explain.hint import Hint, HintKind
from explain.item_hints import min_count_hints, request_hints, rule_hints
from explain.preempting import priority_hints
from explain.reasons import Reason
from explain.trials import Trials
from scheduler.algorithm.decision import Decision
from scheduler.cache.pod_group_state import MemberState
from scheduler.plugins.status import PodGroupDiagnosis


def hints(trials: Trials, decision: Decision, blocking: Blocking) -> Iterator[Hint]:
    """All that are enough for an item that was refused, the best first; each has been tried when it is given."""
    alone = blocking.reasons if not blocking.together else ()
    reasons = frozenset(one.reason for one in alone)
    yield from leaving_hint(trials)
    yield from rule_hints(trials, reasons)
    if Reason.CORDONED in reasons or Reason.TAINTS in reasons or not reasons:
        yield from restore_hints(trials)
    yield from request_hints(trials, alone)
    if Reason.DEVICES in reasons:
        yield from fewer_devices_hints(trials)
    yield from min_count_hints(trials, decision)
    if Reason.DEVICES in reasons:
        yield from holder_of_devices_hints(trials)
    yield from ending_hints(trials, blocking.reasons)
    yield from holder_hints(trials)
    yield from node_hints(trials, _placed(decision))
    yield from priority_hints(trials)
    yield from min_count_hints(trials, decision, least_share=0.0)


def _placed(decision: Decision) -> int:
    found = decision.status.diagnosis
    return found.placed if isinstance(found, PodGroupDiagnosis) else 0


def gate_hints(trials: Trials) -> Iterator[Hint]:
    """For an item whose pods have scheduling gates."""
    members = trials.members
    gated = list(members.pods(MemberState.GATED)) if members is not None else []
    with with_pods(trials.state, ungated(gated)):
        is_enough = bool(gated) and trials.starts()
    if is_enough:
        yield Hint(HintKind.REMOVE_GATES, "remove the scheduling gates of its pods: there is room", count=len(gated))


def timeout_hints(trials: Trials) -> Iterator[Hint]:
    """For an item that has given up."""
    if trials.starts():
        yield Hint(HintKind.REMOVE_TIMEOUT, "remove its scheduling-timeout: there is room now")
