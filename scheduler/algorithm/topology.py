"""What the pods to be placed and the pods that run mean to each other by rules about other pods and by volumes.

Everything is a number per value of a node label (`TopologyGroup`): pods that a rule selects, or weights that rules of running
pods put there. A placed pod changes some of these numbers (`effects`); where no member changes a number that a member looks at,
the rules are as good as fixed masks and scores, and equal pods stay in closed form.
"""

import copy
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.devices.device_claims import MemberDeviceClaims
from scheduler.algorithm.devices.view import DeviceView
from scheduler.algorithm.term_matching import PodLabels
from scheduler.algorithm.volume_claims import MemberVolumeClaims
from scheduler.cache.node_columns import Codes
from scheduler.cache.nodes import NodeTable
from scheduler.cache.pod_rules import TopologySpreadConstraint
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import Query
from scheduler.cache.topology_index import TopologyIndex

HOSTNAME: Final = "kubernetes.io/hostname"


class TopologyGroup:
    """A number per value of a node label; code 0 stands for nodes without the label and always has the number 0.

    Attributes:
        codes: the code of the label's value on each node, `[node]`.
        counts: the numbers, `[code]`.
        eligible: only pods on these nodes count, `[node]`; None when all do.
    """

    __slots__ = ("codes", "counts", "eligible")

    def __init__(self, codes: Codes, sums: NDArray[np.int64], eligible: NDArray[np.bool_] | None = None) -> None:
        self.codes: Final = codes
        self.counts: Final = sums
        self.eligible: Final = eligible


class CompiledSpreadConstraint(NamedTuple):
    """A spread constraint of a signature, ready to be evaluated; `place` is the index of a topology group."""

    spread: TopologySpreadConstraint
    place: int
    values: NDArray[np.intp]
    """The eligible values (hard constraints)."""
    counts_itself: bool


class Source(NamedTuple):
    """Where the number of a topology group comes from; neither for groups that only attract."""

    query: Query | None = None
    """It counts the pods that this selects."""
    pod_labels: PodLabels | None = None
    """It counts the terms of others that keep pods with these labels off, for the node label `key`."""
    key: str = ""


class PreFilterState:
    """All that limits and attracts the pods of one signature; numbers are indices of topology groups."""

    __slots__ = (
        "affinity",
        "anti_affinity",
        "existing_anti_affinity",
        "hard_spreads",
        "is_of_its_kind",
        "preferred_affinity",
        "soft_spread_nodes",
        "soft_spreads",
    )

    def __init__(self) -> None:
        self.affinity: list[int] = []
        """Required affinity: the pods all its terms select, by the key of each term."""
        self.is_of_its_kind = False
        """Its affinity selects itself, so it may be the first."""
        self.anti_affinity: list[int] = []
        """Its required anti-affinity."""
        self.existing_anti_affinity: list[int] = []
        """The anti-affinity of others."""
        self.preferred_affinity: list[int] = []
        """Preferred terms of its own and of others: weights."""
        self.hard_spreads: list[CompiledSpreadConstraint] = []
        self.soft_spreads: list[CompiledSpreadConstraint] = []
        self.soft_spread_nodes: NDArray[np.bool_] | None = None
        """The nodes that soft constraints score."""

    @property
    def strict(self) -> set[int]:
        """The topology groups that can refuse a node."""
        return {
            *self.affinity,
            *self.anti_affinity,
            *self.existing_anti_affinity,
            *(constraint.place for constraint in self.hard_spreads),
        }

    @property
    def groups(self) -> set[int]:
        """The topology groups that decide."""
        spreads = (constraint.place for constraint in (*self.hard_spreads, *self.soft_spreads))
        return {*self.affinity, *self.anti_affinity, *self.existing_anti_affinity, *self.preferred_affinity, *spreads}


class Topology:
    """The prefilter states of some signatures, and what a pod of each does to all topology groups; made by `compile_topology`.

    Attributes:
        nodes: the node table that it is about.
        volume_claims: what the members carry; None when nobody has volumes that matter.
        device_claims: the devices that members ask for; None when nobody asks for any.
        groups: the numbers that rules look at.
        sources: where the number of each group comes from.
        prefilter_states: by signature what limits and attracts its pods.
        effects: by signature what one pod adds to which topology group.
    """

    def __init__(
        self,
        nodes: NodeTable,
        topology_index: TopologyIndex,
        signatures: Iterable[PodSignature],
        volume_claims: MemberVolumeClaims | None,
        device_claims: MemberDeviceClaims | None = None,
    ) -> None:
        """Without rules; `compile_topology` fills in those of all `signatures`."""
        self.nodes: Final = nodes
        self.volume_claims: Final = volume_claims
        self.device_claims = device_claims
        self.groups: list[TopologyGroup] = []
        self.sources: Final[list[Source]] = []
        self.prefilter_states: Final[dict[PodSignature, PreFilterState]] = {}
        self.effects: Final[dict[PodSignature, dict[int, int]]] = {signature: {} for signature in signatures}
        self._topology_index: Final = topology_index

    @cached_property
    def are_fixed(self) -> bool:
        """True when where one member goes matters to none of the members."""
        if self.volume_claims is not None and not self.volume_claims.are_fixed:
            return False
        if self.device_claims is not None and not self.device_claims.are_fixed:
            return False
        groups = {place for prefilter in self._distinct() for place in prefilter.groups}
        return not any(groups & effects.keys() for effects in self.effects.values())

    @cached_property
    def strict(self) -> set[int]:
        """The topology groups that can refuse a node to somebody."""
        return {place for prefilter in self._distinct() for place in prefilter.strict}

    @property
    def is_strict(self) -> bool:
        """True when rules about other pods, volumes or devices can refuse a node to somebody."""
        return self.volume_claims is not None or self.device_claims is not None or bool(self.strict)

    def counted_on(self, at: int) -> NDArray[np.bool_]:
        """The node slots with pods that a filtering group counts."""
        source = self.sources[at]
        if source.query is not None:
            return np.asarray(self._topology_index.counts(source.query) != 0, dtype=np.bool_)
        found = np.zeros(self.nodes.slots, dtype=np.bool_)
        if source.pod_labels is not None:
            for existing in self._topology_index.existing_terms_for(*source.pod_labels):
                if existing.term.kind == "anti_affinity" and existing.term.key == source.key:
                    found[list(existing.where)] = True
        return found

    def added_by(self, pod: PodRecord, at: int) -> int:
        """What a running pod adds to a filtering group, wherever it runs."""
        source = self.sources[at]
        if source.query is not None:
            is_skipped = source.query.skips_leaving and pod.terminating
            return int(not is_skipped and self._topology_index.meets(source.query, pod.namespace, pod.labels))
        pod_labels = source.pod_labels
        if pod_labels is None or pod.affinity_terms is None:
            return 0
        return sum(
            term.key == source.key and self._topology_index.meets(term.query, *pod_labels)
            for term in pod.affinity_terms.anti_affinity
        )

    def less(self, taken: Mapping[int, NDArray[np.int64]]) -> "Topology":
        """The same for a cluster in which some topology groups count so much less, by value."""
        made = copy.copy(self)
        made.groups = [
            TopologyGroup(place.codes, place.counts - taken[at], place.eligible) if at in taken else place
            for at, place in enumerate(self.groups)
        ]
        return made

    def seeing(self, view: DeviceView) -> "Topology":
        """The same for a cluster in which other devices are free."""
        if self.device_claims is None:
            return self
        made = copy.copy(self)
        # Whether members matter to each other depends on which devices there are to share.
        made.__dict__.pop("are_fixed", None)
        made.device_claims = self.device_claims.seeing(view)
        return made

    @cached_property
    def improvable(self) -> set[int]:
        """The topology groups that members change."""
        return {place for effects in self.effects.values() for place in effects}

    def self_repelling(self, signature: PodSignature) -> list[TopologyGroup]:
        """The topology groups whose values take one pod of this signature each."""
        prefilter = self.prefilter_states[signature]
        own = self.effects[signature]
        return [self.groups[place] for place in prefilter.anti_affinity if own.get(place)]

    def is_self_gathering(self, signature: PodSignature) -> bool:
        """True when the first pod of this signature decides in which value all the others have to be."""
        prefilter = self.prefilter_states[signature]
        return (
            prefilter.is_of_its_kind
            and bool(prefilter.affinity)
            and not any(self.groups[at].counts.any() for at in prefilter.affinity)
        )

    def is_gathered(self, at: int) -> bool:
        """True when all members that count in a topology group need it themselves, so that none opens a second value."""
        return all(
            at in self.prefilter_states[signature].affinity
            for signature, effects in self.effects.items()
            if at in effects
        )

    def _distinct(self) -> Iterable[PreFilterState]:
        return {id(prefilter): prefilter for prefilter in self.prefilter_states.values()}.values()
