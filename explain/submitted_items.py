"""What was submitted, as items: a tree of groups with its pods, a group with its pods, or a pod that stands alone."""

from dataclasses import dataclass, field
from typing import Final

from api.compositepodgroup import CompositePodGroup
from api.membership import group_name
from api.pod import Pod
from api.podgroup import PodGroup

_Key = tuple[str, str, str]
"""Namespace, kind (`tree`, `group` or `pod`) and name."""


@dataclass(slots=True)
class Submitted:
    """One item to be decided on.

    Attributes:
        name: as KIND/NAME.
        namespace: of all of it.
        composites: of a tree its CompositePodGroups, as far as they were submitted.
        groups: its PodGroups, as far as they were submitted; none for a pod that stands alone.
        pods: its pods.
        notes: what else is to be said of it, such as warnings of admission.
    """

    name: str
    namespace: str
    composites: list[CompositePodGroup] = field(default_factory=list)
    groups: list[PodGroup] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class SubmittedItems:
    """Objects by the item they belong to; the items in the order in which they are named first."""

    def __init__(self) -> None:
        self._items: Final[dict[_Key, Submitted]] = {}
        self._parents: Final[dict[tuple[str, str], str]] = {}
        """Of CompositePodGroups."""

    def composite(self, composite: CompositePodGroup, shown: str = "") -> None:
        """A CompositePodGroup; `shown` is the owner's KIND/NAME, if it has one."""
        namespace, name = composite.metadata.key
        item = self._item((namespace, "tree", name), shown or f"compositepodgroup/{name}")
        item.composites.append(composite)
        if composite.parent:
            self._parents[namespace, name] = composite.parent

    def group(self, group: PodGroup, shown: str = "", note: str = "") -> None:
        """A PodGroup; `shown` is what people call it, if that is not its name."""
        namespace, name = group.metadata.key
        item = self._item((namespace, "group", name), shown or f"podgroup/{name}")
        item.groups.append(group)
        _note(item, note)

    def pod(self, pod: Pod, shown: str = "", note: str = "") -> None:
        """A pod; `shown` is what people call it where it is in no group."""
        namespace, name = pod.metadata.key
        group = group_name(pod)
        if group:
            self._item((namespace, "group", group), f"podgroup/{group}").pods.append(pod)
            return
        item = self._item((namespace, "pod", name), shown or f"pod/{name}")
        item.pods.append(pod)
        _note(item, note)

    def joined(self) -> list[Submitted]:
        """All items, what belongs to one tree as one of them."""
        found: dict[_Key, Submitted] = {}
        for (namespace, kind, name), item in self._items.items():
            parents = dict.fromkeys(group.parent for group in item.groups if group.parent)
            root = name if kind == "tree" else next(iter(parents), "")
            key = (namespace, "tree", self._root_of(namespace, root)) if root else (namespace, kind, name)
            whole = found.get(key)
            if whole is None:
                whole = found[key] = Submitted(self._name(key, item), namespace)
            whole.composites += item.composites
            whole.groups += item.groups
            whole.pods += item.pods
            for note in item.notes:
                _note(whole, note)
        return list(found.values())

    def _item(self, key: _Key, shown: str) -> Submitted:
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = Submitted(shown, key[0])
        elif shown.partition("/")[0] not in _BY_HAND:
            item.name = shown
        return item

    def _name(self, key: _Key, item: Submitted) -> str:
        namespace, kind, name = key
        if kind != "tree":
            return item.name
        root = self._items.get((namespace, "tree", name))
        return root.name if root is not None else f"compositepodgroup/{name}"

    def _root_of(self, namespace: str, name: str) -> str:
        way: list[str] = []
        while name not in way:
            way.append(name)
            parent = self._parents.get((namespace, name), "")
            if not parent:
                return name
            name = parent
        return min(way[way.index(name) :])


_BY_HAND: Final = frozenset({"podgroup", "compositepodgroup", "pod"})
"""What items are called that nobody else has made."""


def _note(item: Submitted, note: str) -> None:
    if note and note not in item.notes:
        item.notes.append(note)
