"""The members of an item that are to be placed, told apart as far as rules about other pods tell them apart.

Most items have no such rules, and nothing that runs has one about them: then the signatures of the members are all there is to
know. Otherwise pods of one signature whose labels look different to some rule become signatures of their own.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from scheduler.algorithm.compile_topology import compile_topology
from scheduler.algorithm.devices.device_claims import DeviceClaimsOfPods, MemberDeviceClaims, PodDeviceClaims
from scheduler.algorithm.devices.extended import asks_devices
from scheduler.algorithm.devices.view import view_of
from scheduler.algorithm.term_matching import LabelMatches, PodLabels
from scheduler.algorithm.topology import Topology
from scheduler.algorithm.volume_claims import MemberVolumeClaims, PodVolumeClaims, volume_claims_of_pod
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import ClaimRecord
from scheduler.cache.label_classes import pairs
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_rules import TopologySpreadConstraint
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import Query
from scheduler.cache.steps import ONE_BY_ONE


class MemberPartition:
    """UIDs of the pods by signature, in the order of ranks, then of names, and what they and other pods mean to each other."""

    __slots__ = ("topology", "uids")

    def __init__(self, parts: Mapping[PodSignature, Sequence[str]], topology: Topology | None = None) -> None:
        self.uids: Final = parts
        self.topology: Final = topology
        """None when only nodes matter."""

    @property
    def pending(self) -> dict[PodSignature, int]:
        """How many pods of each signature there are."""
        return {signature: len(uids) for signature, uids in self.uids.items()}


class _EqualPods:
    """Pods that nothing tells apart; `uids` in the order of their ranks, then of their names."""

    __slots__ = ("device_claims", "labels", "pod_claims", "uids")

    def __init__(
        self, labels: tuple[str, ...], pod_claims: PodVolumeClaims | None, device_claims: PodDeviceClaims | None
    ) -> None:
        self.labels: Final = labels
        self.pod_claims: Final = pod_claims
        self.device_claims: Final = device_claims
        self.uids: Final[list[str]] = []


def depends_on_other_pods(state: ClusterState, members: PodGroupState) -> bool:
    """Whether rules about other pods, volumes or devices can matter to the item; cheap, and true a little too often."""
    return state.topology_index.has_existing_terms(members.key.namespace) or any(
        is_concerned_with_others(state, signature) for signature in members.pending
    )


def is_concerned_with_others(state: ClusterState, signature: PodSignature) -> bool:
    """Whether pods of this signature have rules about other pods, volumes or devices."""
    return signature.rules.concerns_pods or bool(signature.rules.mounts) or asks_devices(state, signature)


def partition_by_signature(
    state: ClusterState, members: PodGroupState, freed: Sequence[ClaimRecord] = ()
) -> MemberPartition:
    """The pending members of an item.

    The topology index is told which labels the members' rules look at, and may count pods anew; nothing else is changed.

    Args:
        state: the cluster.
        members: the item.
        freed: claims that are looked at as if they had no devices.

    Raises:
        OverBudgetError: more steps are needed than the computation under way may take.
    """
    if not depends_on_other_pods(state, members):
        return _by_signature(state, members)
    state.topology_index.use_label_keys(set().union(*(signature.rules.pod_label_keys for signature in members.pending)))
    sorter = _EqualPodsOf(state, members, freed)
    parts: dict[PodSignature, _EqualPods] = {}
    for signature, waiting in members.pending.items():
        classes = sorter.of(signature, waiting.uids)
        parts.update((signature if len(classes) == 1 else signature.variant(), alike) for alike in classes)
    topology = _topology(state, members, parts, sorter.device_claims, freed)
    if topology is None:
        return _by_signature(state, members)
    return MemberPartition({part: alike.uids for part, alike in parts.items()}, topology)


class _EqualPodsOf:
    """Tells apart members of one signature that labels, volumes or devices tell apart."""

    def __init__(self, state: ClusterState, members: PodGroupState, freed: Sequence[ClaimRecord]) -> None:
        self._state: Final = state
        self._seen: Final = _VisibleLabels(state, members)
        self.device_claims: Final = DeviceClaimsOfPods(
            state,
            members.group.uid if members.group is not None else "",
            {claim.key for claim in freed},
            frozenset(one.id for one in state.nominator.devices_against(members.key, members.priority)),
        )

    def of(self, signature: PodSignature, uids: Iterable[str]) -> Collection[_EqualPods]:
        """The members of this signature.

        Raises:
            OverBudgetError: more steps are needed than the computation under way may take.
        """
        state, seen = self._state, self._seen
        classes: dict[Hashable, _EqualPods] = {}
        is_asking = asks_devices(state, signature)
        for uid in uids:
            pod = state.pod(uid)
            labels = seen.labels(uid)
            volumes = self._volumes(pod) if pod is not None and pod.volumes is not None else None
            devices = self._devices(pod, signature) if pod is not None and is_asking else None
            key = (
                seen.labels_key(labels),
                volumes.key if volumes is not None else None,
                devices.key if devices is not None else None,
            )
            alike = classes.get(key)
            if alike is None:
                alike = classes[key] = _EqualPods(labels, volumes, devices)
            alike.uids.append(uid)
        return classes.values()

    def _volumes(self, pod: PodRecord) -> PodVolumeClaims | None:
        self._state.nodes.steps.spend(2 * ONE_BY_ONE * (1 + len(pod.volumes.claims if pod.volumes is not None else ())))
        return volume_claims_of_pod(self._state.storage, pod)

    def _devices(self, pod: PodRecord, signature: PodSignature) -> PodDeviceClaims | None:
        self._state.nodes.steps.spend(2 * ONE_BY_ONE * (1 + len(pod.claims.uses if pod.claims is not None else ())))
        return self.device_claims.of(pod, signature)


def _topology(
    state: ClusterState,
    members: PodGroupState,
    parts: Mapping[PodSignature, _EqualPods],
    claims_of_pods: DeviceClaimsOfPods,
    freed: Sequence[ClaimRecord],
) -> Topology | None:
    """What the parts and other pods mean to each other; None when only nodes matter."""
    pod_labels = {part: PodLabels(members.key.namespace, pairs(alike.labels)) for part, alike in parts.items()}
    volumes = {part: (one.pod_claims, len(one.uids)) for part, one in parts.items() if one.pod_claims is not None}
    devices = {part: (one.device_claims, len(one.uids)) for part, one in parts.items() if one.device_claims is not None}
    volume_claims = MemberVolumeClaims(state.storage, volumes) if volumes else None
    device_claims = _device_claims(state, members, devices, claims_of_pods, freed)
    defaults = _defaults(state, {part: alike.uids for part, alike in parts.items()})
    is_minded = (
        volume_claims is not None
        or device_claims is not None
        or any(part.rules.concerns_pods for part in parts)
        or any(state.topology_index.existing_terms_for(*labels) for labels in _distinct(pod_labels))
    )
    if not is_minded and not defaults:
        return None
    return compile_topology(state.nodes, state.topology_index, pod_labels, defaults, volume_claims, device_claims)


def _device_claims(
    state: ClusterState,
    members: PodGroupState,
    by_signature: Mapping[PodSignature, tuple[PodDeviceClaims, int]],
    claims_of_pods: DeviceClaimsOfPods,
    freed: Sequence[ClaimRecord],
) -> MemberDeviceClaims | None:
    if not by_signature:
        return None
    view = view_of(state, members.key, members.priority)
    if freed:
        view = view.releasing(held for claim in freed for held in claim.held)
    return MemberDeviceClaims(state, by_signature, claims_of_pods.own_claims, view)


class _VisibleLabels:
    """The labels of the members, as far as rules can see them, and which of them no rule in force tells apart."""

    def __init__(self, state: ClusterState, members: PodGroupState) -> None:
        namespace = members.key.namespace
        pods = ((uid, state.pod(uid)) for waiting in members.pending.values() for uid in waiting.uids)
        self._labels: Final = {uid: state.topology_index.visible(pod) if pod else () for uid, pod in pods}
        parties = {labels: PodLabels(namespace, pairs(labels)) for labels in dict.fromkeys(self._labels.values())}
        if len(parties) < 2:
            self._labels_keys: Mapping[tuple[str, ...], Hashable] = dict.fromkeys(parties)
            return
        rules = {signature.rules: None for signature in members.pending}
        told_apart = LabelMatches(state.topology_index, parties.values(), state.nodes.steps).told_apart(_queries(rules))
        self._labels_keys = {labels: told_apart[pod_labels.labels_key] for labels, pod_labels in parties.items()}

    def labels(self, uid: str) -> tuple[str, ...]:
        """Keys and values in turn."""
        return self._labels[uid]

    def labels_key(self, labels: tuple[str, ...]) -> Hashable:
        """Equal for labels that no rule tells apart."""
        return self._labels_keys[labels]


def _queries(rules: Iterable[NodeRules]) -> Iterator[Query]:
    for one in rules:
        for term in one.affinity_terms.terms if one.affinity_terms else ():
            yield term.query
        for spread in one.spread_constraints:
            yield spread.query


def _by_signature(state: ClusterState, members: PodGroupState) -> MemberPartition:
    parts = {signature: waiting.uids for signature, waiting in members.pending.items()}
    defaults = _defaults(state, parts)
    if not defaults:
        return MemberPartition(parts)
    unseen = PodLabels(members.key.namespace, {})
    return MemberPartition(
        parts, compile_topology(state.nodes, state.topology_index, dict.fromkeys(parts, unseen), defaults)
    )


def _defaults(
    state: ClusterState, parts: Mapping[PodSignature, Sequence[str]]
) -> dict[PodSignature, tuple[TopologySpreadConstraint, ...]]:
    """Default constraints, as the first pod of each signature has them: Services do not tell equal members of a gang apart."""
    found: dict[PodSignature, tuple[TopologySpreadConstraint, ...]] = {}
    for signature, uids in parts.items():
        pod = state.pod(uids[0])
        spreads = state.default_spreads.of(pod) if pod and not signature.rules.spread_constraints else ()
        if spreads:
            found[signature] = spreads
    return found


def _distinct(parties: Mapping[PodSignature, PodLabels]) -> list[PodLabels]:
    found = {tuple(pod_labels.labels.items()): pod_labels for pod_labels in parties.values()}
    return list(found.values())
