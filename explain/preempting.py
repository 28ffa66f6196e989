"""Whom an item would ask to leave, why it does not, and what more importance would change."""

from collections.abc import Iterator

from api.constants import HIGHEST_USER_PRIORITY
from explain.cluster_changes import without_pods
from explain.hint import Hint, HintKind
from explain.item_change import Change
from explain.names import item_name, pod_name
from explain.trials import Trials
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import POLICY_NEVER
from scheduler.cache.records import PodRecord
from scheduler.preemption.context import Violators
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode, Victim


def preempt(trials: Trials, *changes: Change) -> Candidate | Refusal:
    """Who would have to leave with these changes, or why nobody is asked to; nothing is nominated."""
    view = trials.view(changes)
    members = view.item(trials.key)
    if members is None:
        return Refusal(RefusalCode.ITEM_GONE)
    return dry_run_preemption(view, members, _violators(trials.state))


def _violators(state: ClusterState) -> Violators | None:
    budgets = state.budgets
    if not len(budgets):
        return None
    victims = (state.pod(uid) for uid in state.nominator.victims())
    asked: list[PodRecord] = [pod for pod in victims if pod is not None and pod.is_bound and not pod.terminating]
    return lambda units: budgets.violators(units, asked)


def victim_name(victim: Victim) -> str:
    """A victim as it is told to people: the owner of a group that leaves whole, or a pod."""
    group = victim.unit.group
    return item_name(group.item, group) if group is not None else pod_name(victim.pods[0])


def victim_names(candidate: Candidate) -> tuple[str, ...]:
    """Of all that leave."""
    return tuple(dict.fromkeys(victim_name(victim) for victim in candidate.victims))


def priority_hints(trials: Trials) -> Iterator[Hint]:
    """The lowest PriorityClass with which it would start, possibly in the place of others."""
    members, state = trials.members, trials.state
    if members is None:
        return
    higher = (one for one in state.classes if members.priority < one.value <= HIGHEST_USER_PRIORITY)
    for found in sorted(higher, key=lambda one: (one.value, one.metadata.name)):
        change = Change(priority=found.value)
        name = found.metadata.name
        if trials.starts(change):
            yield Hint(HintKind.RAISE_PRIORITY, f"priority class {name} ({found.value}) would do", key=name)
            return
        if found.preemption_policy == POLICY_NEVER:
            continue
        candidate = preempt(trials, change)
        if isinstance(candidate, Candidate):
            with without_pods(state, candidate.pods):
                is_enough = trials.starts(change)
            if is_enough:
                message = (
                    f"priority class {name} ({found.value}) would do: {', '.join(victim_names(candidate))} would leave"
                )
                pods = tuple(pod.uid for pod in candidate.pods)
                yield Hint(HintKind.RAISE_PRIORITY, message, key=name, pods=pods)
                return
