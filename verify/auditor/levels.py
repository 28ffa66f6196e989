"""The levels of a tree of groups: what is above and below each, and whether it has had its start."""

from verify.auditor.history import History
from verify.auditor.model import Composite, Group


def above(group: Group, history: History) -> list[Composite]:
    """The levels above a group, the lowest first."""
    found: list[Composite] = []
    level = history.composites.get((group.key[0], group.parent))
    while level is not None and level not in found:
        found.append(level)
        level = history.composites.get((group.key[0], level.parent))
    return found


def children(composite: Composite, history: History) -> tuple[list[Composite], list[Group]]:
    """What names it as its parent at this moment."""
    namespace, name = composite.key
    branches = [each for each in history.composites.values() if (each.key[0], each.parent) == (namespace, name)]
    leaves = [each for each in history.groups.values() if (each.key[0], each.parent) == (namespace, name)]
    return branches, leaves


def groups_below(composite: Composite, history: History) -> list[Group]:
    """Every group below it."""
    found: list[Group] = []
    levels = [composite]
    for level in levels:
        branches, leaves = children(level, history)
        found += leaves
        levels += (each for each in branches if each not in levels)
    return found


def is_satisfied(composite: Composite, history: History, *, path: tuple[Composite, ...] = ()) -> bool:
    """Whether as many of its children had started once as it asks for; that is kept. In a circle (`path`) nothing starts."""
    if composite in path:
        return False
    if not composite.satisfied:
        branches, leaves = children(composite, history)
        below = sum(is_satisfied(each, history, path=(*path, composite)) for each in branches)
        composite.satisfied = below + sum(each.satisfied for each in leaves) >= composite.minimum
    return composite.satisfied


def runs(composite: Composite, history: History) -> bool:
    """Whether anything below is bound that some scheduler bound."""
    return any(not history.was_put(uid) for leaf in groups_below(composite, history) for uid in leaf.bound)
