"""What makes pods a gang: what must be there before any is tried, how many start together, why a group is refused as a whole.

The rules of upstream's plugin GangScheduling (KEP-4671) and of its validation of pod groups (`PodGroupError`): members must agree
with each other and with their group, every member must be something this scheduler can place at all, and deciding must not take
longer than one decision may. Upstream shows nothing of the former to its users; here every held item says what it waits for.
"""

from collections.abc import Mapping

from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import AgreedFields
from scheduler.plugins.composite_gang_scheduling import tree_disagreement, tree_gate
from scheduler.plugins.status import Code, Status

_GANG_SCHEDULING = "GangScheduling"
_SCHEDULING_GATES = "SchedulingGates"


def missing_count(members: PodGroupState) -> int:
    """Members that must get a place together now: what is missing to `need`, at least one."""
    return max(members.min_count - members.scheduled_count, 1)


def pre_enqueue(members: PodGroupState) -> Status | None:
    """Why the item must not be tried yet, None when it may (upstream: PreEnqueue).

    It needs its PodGroup, pods without scheduling gates, and minCount members.
    """
    if isinstance(members, TreeState):
        return tree_gate(members)
    if members.is_lone:
        pod = next(members.pods(), None)
        if pod is not None and pod.managed:
            return Status(Code.WAITING_FOR_POD_GROUP, "waiting for its pod group annotation", plugin=_GANG_SCHEDULING)
        if members.counts().gated:
            text = "waiting for its scheduling gates to be removed"
            return Status(Code.SCHEDULING_GATED, text, plugin=_SCHEDULING_GATES)
        return None
    if members.group is None:
        text = 'waiting for PodGroup "{}"'
        return Status(Code.WAITING_FOR_POD_GROUP, text, (members.key.name,), plugin=_GANG_SCHEDULING)
    counts = members.counts()
    if counts.gated:
        text = f"{{}} {'pod has' if counts.gated == 1 else 'pods have'} scheduling gates, which hold the whole group"
        return Status(Code.SCHEDULING_GATED, text, (counts.gated,), plugin=_SCHEDULING_GATES)
    if members.group.is_gang and counts.known < counts.min_count:
        return _missing(counts.min_count, counts.known, counts.barred)
    return None


def _missing(need: int, known: int, barred: int) -> Status:
    text, args = "waiting for minCount ({}) pods: {} of them exist", [need, known]
    if barred:
        text += "; {} more name this group but belong to another owner"
        args.append(barred)
    return Status(Code.WAITING_FOR_MEMBERS, text, tuple(args), plugin=_GANG_SCHEDULING)


_TOO_MANY = "the group has {} members, and the profile {} allows {}"
_SAME_PRIORITY = (
    "all pods in a single pod group should have the same priority as the pod group's priority, got {} and {}"
)
_SAME_SCHEDULER = 'all pods in a single pod group should have the same .spec.schedulerName set, got: "{}" and "{}"'
_SAME = "all pods in a single pod group should have the same {}, got {} and {}"
_DEVICES_UNSERVED = "it has resource claims, and the API server does not serve resource.k8s.io/v1"
_DEVICES_UNKNOWN = (
    "it has resource claims, and nothing is known of devices: "
    "the recording is of an older version, or whoever took it may not list them"
)
_OVER_BUDGET = (
    "finding a place would take longer than one decision may, so it is tried only every few minutes: "
    "{} of {} with {} and {}; fewer pods, fewer kinds of pods or fewer terms would help"
)


def validate_pod_group(
    members: PodGroupState,
    most_members: Mapping[str, int],
    *,
    devices_are_followed: bool = False,
    devices_are_unknown: bool = False,
) -> Status | None:
    """What is wrong with the item before any node is looked at, None when nothing is.

    Args:
        members: the item.
        most_members: how many a group may have, by scheduler name.
        devices_are_followed: whether pods with resource claims can be placed at all.
        devices_are_unknown: they cannot because nobody knows which devices there are.
    """
    if members.problem:
        return _group_error(members.problem)
    if isinstance(members, TreeState) and (of_tree := tree_disagreement(members)) is not None:
        return of_tree
    problem = _disagreement(members) or _too_many(members, most_members)
    no_devices = _DEVICES_UNKNOWN if devices_are_unknown else _DEVICES_UNSERVED
    return problem or _unplaceable(members, no_devices="" if devices_are_followed else no_devices)


def over_budget(members: PodGroupState) -> Status:
    """That finding a place would take longer than one decision may.

    Who reads it wrote the pods, so it says what makes a decision long and how much of that there is.
    """
    signatures = list(members.pending)
    rules = {signature.rules: None for signature in signatures}
    terms = sum(len(one.affinity_terms.terms) if one.affinity_terms else 0 for one in rules) + sum(
        len(one.spread_constraints) for one in rules
    )
    requirements = sum(one.requirements for one in rules)
    what_is_long = (
        _count(members.pending_count, "pod"),
        _count(len(signatures), "kind"),
        _count(terms, "pod affinity or spread term"),
        _count(requirements, "node requirement"),
    )
    return Status(Code.ERROR, _OVER_BUDGET, what_is_long)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _too_many(members: PodGroupState, most_members: Mapping[str, int]) -> Status | None:
    profile = next(iter(members.profiles), None)
    most = most_members.get(profile.scheduler_name) if profile is not None else None
    count = sum(members.profiles.values())
    if most is None or profile is None or members.is_lone or count <= most:
        return None
    return _group_error(_TOO_MANY, (count, profile.scheduler_name, most))


def _disagreement(members: PodGroupState) -> Status | None:
    group = members.group
    for profile in members.profiles:
        if group and group.priority is not None and profile.priority != group.priority:
            return _group_error(_SAME_PRIORITY, (profile.priority, group.priority))
        if group and group.preemption_policy is not None and profile.preemption_policy != group.preemption_policy:
            return _differ("preemption policy", profile.preemption_policy, group.preemption_policy)
    if len(members.profiles) < 2:
        return None
    one, other = sorted(members.profiles, key=_order)[:2]
    if one.scheduler_name != other.scheduler_name:
        return _group_error(_SAME_SCHEDULER, (one.scheduler_name, other.scheduler_name))
    if one.priority != other.priority:
        return _differ("priority", one.priority, other.priority)
    return _differ("preemption policy", one.preemption_policy, other.preemption_policy)


def _differ(what: str, one: int | str, other: int | str) -> Status:
    return _group_error(_SAME, (what, one, other))


def _group_error(text: str, args: tuple[int | str, ...] = ()) -> Status:
    return Status(Code.ERROR, text, args, is_group_error=True)


def _order(profile: AgreedFields) -> tuple[str, int, str]:
    return (profile.scheduler_name, profile.priority, profile.preemption_policy)


def _unplaceable(members: PodGroupState, *, no_devices: str) -> Status | None:
    """`no_devices` says why pods with resource claims cannot be placed; empty when they can."""
    for signature, waiting in members.pending.items():
        problem = signature.problem
        if signature.rules.asks_devices:
            problem = problem or no_devices
        if problem:
            name = waiting.first_name
            return Status(Code.ERROR, problem if members.is_lone else f"pod {name}: {problem}")
    return None
