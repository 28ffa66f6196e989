"""Why a group is refused as a whole before any node is looked at (upstream's `SchedulerError`).

Members must agree with each other and with their group, and every member must be something this scheduler can place at all.
"""

from collections.abc import Mapping

from scheduler.state.members import Members
from scheduler.state.records import Profile


def objection(members: Members, most_members: Mapping[str, int]) -> str:
    """What is wrong with the item, empty when nothing is; `most_members` is by scheduler name."""
    return members.problem or _disagreement(members) or _too_many(members, most_members) or _unplaceable(members)


def _too_many(members: Members, most_members: Mapping[str, int]) -> str:
    profile = next(iter(members.profiles), None)
    most = most_members.get(profile.scheduler_name) if profile is not None else None
    count = sum(members.profiles.values())
    if most is None or profile is None or members.is_lone or count <= most:
        return ""
    return f"the group has {count} members, and the profile {profile.scheduler_name} allows {most}"


def _disagreement(members: Members) -> str:
    group = members.group
    for profile in members.profiles:
        if group and group.priority is not None and profile.priority != group.priority:
            return (
                "all pods in a single pod group should have the same priority as the pod group's priority, "
                f"got {profile.priority} and {group.priority}"
            )
        if group and group.preemption_policy is not None and profile.preemption_policy != group.preemption_policy:
            return _differ("preemption policy", profile.preemption_policy, group.preemption_policy)
    if len(members.profiles) < 2:
        return ""
    one, other = sorted(members.profiles, key=_order)[:2]
    if one.scheduler_name != other.scheduler_name:
        return (
            "all pods in a single pod group should have the same .spec.schedulerName set, "
            f'got: "{one.scheduler_name}" and "{other.scheduler_name}"'
        )
    if one.priority != other.priority:
        return _differ("priority", one.priority, other.priority)
    return _differ("preemption policy", one.preemption_policy, other.preemption_policy)


def _differ(what: str, one: object, other: object) -> str:
    return f"all pods in a single pod group should have the same {what}, got {one} and {other}"


def _order(profile: Profile) -> tuple[str, int, str]:
    return (profile.scheduler_name, profile.priority, profile.preemption_policy)


def _unplaceable(members: Members) -> str:
    for shape, waiting in members.pending.items():
        if shape.problem:
            name = waiting.names[0]
            return shape.problem if members.is_lone else f"pod {name}: {shape.problem}"
    return ""
