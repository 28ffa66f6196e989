"""Trees of groups: which CompositePodGroups there are, which PodGroups hang below them, and each tree as one item (KEP-6012).

A tree is told by its root: the topmost CompositePodGroup that its groups lead to, whether that exists or is only named. It is
scheduled as one item, and its groups are not: `PodGroupState.tree` says to which a group belongs. To whoever only counts pods a
tree is like one group whose minimum is the least number of pods with which it can start; which pods these are is known to
`scheduler.algorithm.schedule_tree` alone. Groups without a parent pay nothing for all this.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import Final

from api.compositepodgroup import MOST_LEVELS
from api.topology import ANYWHERE, TopologyLevel, TopologyRequest
from scheduler.cache.branch import Branch, age_of
from scheduler.cache.pod_group_state import MemberState, PendingPods, PodGroupState
from scheduler.cache.records import CompositeRecord, EntityKey, GroupRecord

Name = tuple[str, str]
"""(namespace, name)."""

_CIRCLE: Final = "the composite pod groups that it belongs to name each other in a circle: {}"
_TOO_DEEP: Final = f"the tree of composite pod groups has more than {MOST_LEVELS} levels: {{}}"


def queued_item(members: PodGroupState) -> EntityKey:
    """The key under which these pods are scheduled."""
    return members.key if members.tree is None else members.tree.key


class TreeState(PodGroupState):
    """A tree as one item: the pods of all its groups. Made anew from them when it is asked for after they changed.

    Pods of groups that may not start yet count as gated.
    """

    __slots__ = ("_forest", "branch", "is_stale")

    is_needed_whole = False
    """Whoever asks for places has no use for fewer than those of all pods that wait, nor for how many groups could start."""

    def __init__(self, forest: "Forest", root: Name, is_assumed: Callable[[str], bool]) -> None:
        record = forest.composites.get(root)
        super().__init__(record.item if record is not None else EntityKey("composite", *root, ""), is_assumed)
        self._forest: Final = forest
        self.branch: Branch | None = None
        """The root, None while it is only named."""
        self.is_stale = True

    @property
    def is_constrained_below(self) -> bool:
        """Whether anything below the root asks for a topology of its own, or would rather have one."""
        if self.branch is None:
            return False
        inner = any(branch.record.topology_key for branch in self.branch.walk() if branch is not self.branch)
        return inner or any(leaf.group and leaf.group.topology != ANYWHERE for leaf in self.branch.all_leaves())

    @property
    def is_confined_below(self) -> bool:
        """Whether anything below the root must be inside domains of its own, whatever it would rather have."""
        return bool(self.inner_keys())

    def inner_keys(self) -> set[str]:
        """The node labels whose values confine what is below the root."""
        if self.branch is None:
            return set()
        found = {
            branch.record.topology_key
            for branch in self.branch.walk()
            if branch is not self.branch and branch.record.topology_key
        }
        for topology in {leaf.group.topology: None for leaf in self.branch.all_leaves() if leaf.group}:
            found.update(level.key for level in topology.levels if level.is_required)
            found.update((topology.slice_key,) if topology.slice_size else ())
        return found

    def refreshed(self) -> "TreeState":
        """Itself, as its groups are now."""
        if self.is_stale:
            self.is_stale = False
            self._refresh()
        return self

    def _refresh(self) -> None:
        root = (self.key.namespace, self.key.name)
        record = self._forest.composites.get(root)
        self.problem = self._forest.problem(root)
        self.branch = self._forest.branch(record) if record is not None and not self.problem else None
        self.key = record.item if record is not None else EntityKey("composite", *root, "")
        if self.branch is not None:
            self.gather(self.branch)
            return
        self._gather(self._forest.leaves_below(root), set())
        self.group = tree_as_group(record, self.scheduled_count + 1) if record is not None else None

    def gather(self, root: Branch) -> None:
        """Takes in the pods of all groups below its root, and what they need to start."""
        self._gather(root.all_leaves(), {id(leaf) for leaf in root.usable_leaves()})
        missing = int(root.missing) if root.missing < inf else self.pending_count
        self.group = tree_as_group(root.record, self.scheduled_count + missing)

    def _gather(self, leaves: Iterable[PodGroupState], usable: set[int]) -> None:
        self._by_state, self.pending, self.profiles, self._oldest_seconds = {}, {}, Counter(), None
        for leaf in leaves:
            is_usable = id(leaf) in usable
            for state, pods in leaf.by_state():
                known = MemberState.GATED if state is MemberState.PENDING and not is_usable else state
                self._by_state.setdefault(known, {}).update(pods)
            self.profiles.update(leaf.profiles)
            for signature, waiting in leaf.pending.items() if is_usable else ():
                self.pending.setdefault(signature, PendingPods()).extend(waiting)


class FixedTree(TreeState):
    """A tree as it would be if something were different below its root; not to be changed.

    Args:
        tree: as it is.
        made: its root as it would be, with all below.
    """

    __slots__ = ()

    def __init__(self, tree: TreeState, made: Callable[[Branch], Branch]) -> None:
        # The forest is not asked again: this tree is never stale.
        PodGroupState.__init__(self, tree.key, tree.is_assumed)
        self.is_stale = False
        self.problem, self.group, self.branch = tree.problem, tree.group, None
        if tree.branch is not None:
            self.branch = made(tree.branch)
            self.gather(self.branch)


def tree_as_group(record: CompositeRecord, min_count: int) -> GroupRecord:
    """The root of a tree as the group that whoever only counts pods sees; `min_count` pods of it must start together."""
    return GroupRecord(
        namespace=record.namespace,
        name=record.name,
        uid=record.uid,
        resource_version="",
        min_count=max(min_count, 1),
        is_gang=True,
        priority=record.priority,
        preemption_class="",
        preemption_policy=record.preemption_policy,
        topology=TopologyRequest((TopologyLevel(record.topology_key),)) if record.topology_key else ANYWHERE,
        takes_only_owner="",
        leaves_whole=record.leaves_whole,
        owner=record.owner,
        created_seconds=record.created_seconds,
        terminating=False,
        condition_message=record.condition_message,
        waiting=record.waiting,
        has_timed_out=record.has_timed_out,
        is_tree=True,
    )


class Forest:
    """All CompositePodGroups, and the groups below them.

    Args:
        is_assumed: whether a pod is assumed.
    """

    def __init__(self, is_assumed: Callable[[str], bool]) -> None:
        self.composites: Final[dict[Name, CompositeRecord]] = {}
        self._is_assumed: Final = is_assumed
        self._branches: Final[dict[Name, dict[str, None]]] = {}
        """Names of CompositePodGroups by the parent that they name."""
        self._leaves: Final[dict[Name, dict[str, PodGroupState]]] = {}
        """Groups by the parent that they name."""
        self._trees: Final[dict[Name, TreeState]] = {}
        self.version = 0
        """Raised whenever something is above something else than before."""

    # --- questions ---------------------------------------------------------------------------------------------------

    def get(self, key: EntityKey) -> TreeState | None:
        """The tree behind a key, None when there is none of that root (any more)."""
        tree = self._trees.get((key.namespace, key.name))
        return tree if tree is not None and tree.refreshed().key == key else None

    def trees_of(self, leaves: Iterable[PodGroupState]) -> list[TreeState]:
        """The trees of these groups."""
        found = {id(leaf.tree): leaf.tree for leaf in leaves if isinstance(leaf.tree, TreeState)}
        return [tree.refreshed() for tree in found.values()]

    def branch(self, record: CompositeRecord) -> Branch:
        """A CompositePodGroup with what is below it; to be asked only of one without `problem`."""
        name = (record.namespace, record.name)
        below = (self.composites[record.namespace, child] for child in self._branches.get(name, ()))
        branches = [self.branch(child) for child in sorted(below, key=lambda one: (one.created_seconds, one.name))]
        return Branch(record, branches, sorted(self._leaves.get(name, {}).values(), key=age_of))

    def leaves_below(self, root: Name) -> Iterator[PodGroupState]:
        """Every group below a name, whatever is wrong with what is between."""
        for name in self._below(root):
            yield from self._leaves.get(name, {}).values()

    def composites_below(self, root: Name) -> Iterator[CompositeRecord]:
        """Every CompositePodGroup from a name downwards, that of the name included where it exists."""
        return (self.composites[name] for name in self._below(root) if name in self.composites)

    def above(self, parent: Name) -> Iterator[CompositeRecord]:
        """The CompositePodGroups from this one upwards, the lowest first; those that are only named are left out."""
        return (self.composites[name] for name in self._upwards(parent) if name in self.composites)

    def problem(self, root: Name) -> str:
        """What is wrong with a tree as such, empty when nothing is."""
        parent = self.composites[root].parent if root in self.composites else ""
        if parent and (root[0], parent) in self.composites:
            return _CIRCLE.format(", ".join(sorted(name for _, name in self._below(root))))
        level, names = 1, [root[1]]
        while names:
            with_leaves = next((name for name in names if self._leaves.get((root[0], name))), None)
            if level >= MOST_LEVELS and (with_leaves or level > MOST_LEVELS):
                return _TOO_DEEP.format(with_leaves or names[0])
            names = [child for name in names for child in self._branches.get((root[0], name), ())]
            level += 1
        return ""

    def whole_unit(self, parent: Name) -> GroupRecord | None:
        """The highest CompositePodGroup from this one upwards whose pods only leave together, as a group; None without one."""
        whole = [record for record in self.above(parent) if record.leaves_whole]
        return tree_as_group(whole[-1], 1) if whole else None

    # --- changes -----------------------------------------------------------------------------------------------------

    def put(self, record: CompositeRecord) -> None:
        """A CompositePodGroup came, or says something new."""
        name = (record.namespace, record.name)
        self.version += 1
        old = self.composites.get(name)
        if old is not None and old.parent:
            self._leave(record.namespace, old.parent, record.name)
        self.composites[name] = record
        if record.parent:
            self._branches.setdefault((record.namespace, record.parent), {})[record.name] = None
        self._replant(name)

    def retell(self, record: CompositeRecord) -> None:
        """A CompositePodGroup says something new that decides nothing."""
        name = (record.namespace, record.name)
        self.composites[name] = record
        tree = self._trees.get(self._root_of(name))
        if tree is not None:
            tree.is_stale = True

    def remove(self, name: Name) -> None:
        """A CompositePodGroup went; what named it as its parent does so still."""
        self.version += 1
        old = self.composites.pop(name)
        if old.parent:
            self._leave(name[0], old.parent, name[1])
        self._replant(name)

    def attach(self, members: PodGroupState, before: str, parent: str) -> None:
        """A group names this parent now and named that one before; empty for none."""
        namespace, name = members.key.namespace, members.key.name
        self.version += before != parent
        if before != parent and before:
            siblings = self._leaves.get((namespace, before), {})
            siblings.pop(name, None)
            if not siblings:
                self._leaves.pop((namespace, before), None)
        if parent:
            self._leaves.setdefault((namespace, parent), {})[name] = members
        self._plant(members, self._root_of((namespace, parent)) if parent else None)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _leave(self, namespace: str, parent: str, name: str) -> None:
        siblings = self._branches.get((namespace, parent), {})
        siblings.pop(name, None)
        if not siblings:
            self._branches.pop((namespace, parent), None)

    def _replant(self, name: Name) -> None:
        """Every group below a CompositePodGroup that changed belongs to the tree it leads to now."""
        for below in self._below(name):
            for leaf in self._leaves.get(below, {}).values():
                self._plant(leaf, self._root_of(below))
        root = self._root_of(name)
        if root in self._trees:
            self._trees[root].is_stale = True

    def _plant(self, members: PodGroupState, root: Name | None) -> None:
        old = members.tree
        tree = None
        if root is not None:
            tree = self._trees.get(root)
            if tree is None:
                tree = self._trees[root] = TreeState(self, root, self._is_assumed)
            tree.is_stale = True
        members.tree = tree
        if isinstance(old, TreeState) and old is not tree:
            old.is_stale = True
            name = (old.key.namespace, old.key.name)
            if next(self.leaves_below(name), None) is None or self._root_of(name) != name:
                self._trees.pop(name, None)

    def _upwards(self, name: Name) -> Iterator[Name]:
        seen: set[Name] = set()
        while name not in seen:
            seen.add(name)
            yield name
            record = self.composites.get(name)
            if record is None or not record.parent:
                return
            name = (name[0], record.parent)

    def _root_of(self, name: Name) -> Name:
        """Where the way up ends; of a circle the first name in it."""
        way = list(self._upwards(name))
        last = self.composites.get(way[-1])
        if last is None or not last.parent:
            return way[-1]
        return min(way[way.index((name[0], last.parent)) :])

    def _below(self, root: Name) -> list[Name]:
        """The name itself and those of all CompositePodGroups below."""
        found: dict[Name, None] = {root: None}
        for name in (queue := [root]):
            for child in self._branches.get(name, ()):
                if (name[0], child) not in found:
                    found[name[0], child] = None
                    queue.append((name[0], child))
        return list(found)
