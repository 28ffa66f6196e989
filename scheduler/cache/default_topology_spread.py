"""The spread constraints that pods get by default: soft ones over nodes and zones, for pods that belong together.

Which pods belong together is told by the Services that select a pod and by the ReplicaSet, StatefulSet or
ReplicationController that owns it, exactly as in kube-scheduler (`defaultingType: System`). A pod of none of them has no such
constraints; a pod of a Job has those of its Services.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from api.meta import NO_METADATA, Metadata
from scheduler.cache.pod_rules import TopologySpreadConstraint, pods_counted_by
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import Labels, RawSelector, Requirement, Selector, parse_selector, selector_of

DEFAULTS: Final = (("kubernetes.io/hostname", 3), ("topology.kubernetes.io/zone", 5))
"""(key, maxSkew)."""


class SimpleSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec` of what selects by equality."""

    selector: dict[str, str] | None = None


class SimpleOwner(msgspec.Struct, frozen=True, omit_defaults=True):
    """A Service or a ReplicationController."""

    metadata: Metadata = NO_METADATA
    spec: SimpleSpec = SimpleSpec()


class SelectorSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec` of what has a label selector."""

    selector: RawSelector | None = None


class SelectorOwner(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ReplicaSet or a StatefulSet."""

    metadata: Metadata = NO_METADATA
    spec: SelectorSpec = SelectorSpec()


class DefaultSpreads:
    """Services by namespace, and the selectors of controllers by kind, namespace and name."""

    def __init__(self) -> None:
        self._services: dict[str, dict[str, dict[str, str]]] = {}
        self._owners: dict[tuple[str, str, str], Selector] = {}

    def set_service(self, namespace: str, name: str, selector: dict[str, str] | None) -> None:
        """A Service selects these pods now; none without a selector, or when it is gone."""
        services = self._services.setdefault(namespace, {})
        if selector:
            services[name] = selector
        else:
            services.pop(name, None)
        if not services:
            del self._services[namespace]

    def set_owner(self, kind: str, namespace: str, name: str, selector: RawSelector | None) -> None:
        """A controller of this `kind` (ReplicaSet, StatefulSet or ReplicationController) and name selects these pods now.

        Args:
            kind: of the controller.
            namespace: of the controller and its pods.
            name: of the controller.
            selector: None when the controller is gone; one that cannot be read selects nothing.
        """
        if selector is None:
            self._owners.pop((kind, namespace, name), None)
            return
        try:
            self._owners[kind, namespace, name] = parse_selector(selector)
        except ValueError:
            self._owners.pop((kind, namespace, name), None)

    def services(self) -> Iterator[tuple[str, str, Labels]]:
        """(namespace, name, selected labels) of all Services that select pods."""
        for namespace, services in self._services.items():
            for name, selector in services.items():
                yield namespace, name, selector

    def owners(self) -> Iterator[tuple[str, str, str, Selector]]:
        """(kind, namespace, name, selector) of all controllers."""
        for (kind, namespace, name), selector in self._owners.items():
            yield kind, namespace, name, selector

    def of(self, pod: PodRecord) -> tuple[TopologySpreadConstraint, ...]:
        """The constraints of a pod that has none of its own."""
        services = self._services.get(pod.namespace)
        owner = self._owners.get((pod.owner.kind, pod.namespace, pod.owner.name)) if pod.owner.uid else None
        if services is None and owner is None:
            return ()
        merged: dict[str, str] = {}
        for selected in (services or {}).values():
            if _selects(selected, pod.labels):
                merged.update(selected)
        requirements = [Requirement(key, "In", (value,)) for key, value in merged.items()]
        requirements += owner.requirements or () if owner else ()
        return _constraints(pod.namespace, selector_of(requirements)) if requirements else ()


def _constraints(namespace: str, selector: Selector) -> tuple[TopologySpreadConstraint, ...]:
    # Not kept: no other StatefulSet has such a selector, and making them takes 4 microseconds.
    query = pods_counted_by(selector, namespace)
    return tuple(TopologySpreadConstraint(key, query, selector, max_skew=skew, is_hard=False) for key, skew in DEFAULTS)


def _selects(selector: Labels, labels: Labels) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())
