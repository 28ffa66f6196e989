"""The resource claims of the pods to be placed, looked up once per decision.

Pods that differ in nothing but the names of claims that are each made for one of them, and that have no devices yet, are alike.
Pods that use one claim that has no devices yet are alike too, and all get what one of them is given. For a pod that does not
exist yet its own claims are looked up as they would be made of their templates, under names that no claim can have.
"""

from collections.abc import Container, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Final

import msgspec

from api.extended_resources import ExtendedResources
from api.meta import Metadata
from scheduler.algorithm.devices.counts import AskedClaims
from scheduler.algorithm.devices.extended import ExtendedClaims, extended_key
from scheduler.algorithm.devices.requests import ClaimRequests
from scheduler.algorithm.devices.table import DeviceTable
from scheduler.algorithm.devices.view import DeviceView
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.pod_claims import ClaimUse, PodClaims
from scheduler.cache.devices.records import ClaimKey, ClaimRecord, DeviceId
from scheduler.cache.future_uids import is_future_pod
from scheduler.cache.node_rules import NodeTerm
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import PodRecord
from scheduler.plugins import dynamic_resources as plugin
from scheduler.plugins.status import Status

POD_GROUP: Final = "PodGroup"
_NO_CLAIMS: Final = PodClaims(())
_FULL: Final = 'resourceclaim "{}" is reserved for {} pods, more are not possible'

_KEPT: Final = 'the devices of resourceclaim "{}" are kept for somebody more important'


class PodDeviceClaims(msgspec.Struct, frozen=True, eq=False):
    """The claims of one pod.

    Attributes:
        key: equal for pods that are alike.
        refusal: why it can run nowhere as things are, None when that is not so.
        asked: those without devices.
        shared: keys of those that others use too, in the order of `asked.shared`.
        terms: of the nodes on which those that have devices can be used.
    """

    key: Hashable
    refusal: Status | None = None
    asked: AskedClaims = AskedClaims(())
    shared: tuple[ClaimKey, ...] = ()
    terms: tuple[tuple[NodeTerm, ...], ...] = ()


class MemberDeviceClaims:
    """The claims of all signatures of a decision; signatures without claims are not in here.

    Attributes:
        own_claims: by UID of a pod the keys of its own claims without devices, in the order of `asked.own`; after them, where
            it asks for extended resources, that of a claim which some nodes need.
    """

    def __init__(
        self,
        state: ClusterState,
        of: Mapping[PodSignature, tuple[PodDeviceClaims, int]],
        own_claims: Mapping[str, Sequence[ClaimKey]],
        view: DeviceView,
    ) -> None:
        """With the claims of each signature the number of pods that have alike ones; `view` is what they may count on."""
        self.own_claims: Final = own_claims
        self.state: Final = state
        self.view: Final = view
        self.of: Final = {signature: claims for signature, (claims, _) in of.items()}
        self._asking: Final = of

    def seeing(self, view: DeviceView) -> "MemberDeviceClaims":
        """The same pods, where other devices are free."""
        return MemberDeviceClaims(self.state, self._asking, self.own_claims, view)

    @cached_property
    def are_fixed(self) -> bool:
        """True when where one member goes matters to none of the others."""
        asking = [one for one in self.of.values() if one.refusal is None and not one.asked.is_empty]
        if len(asking) > 1 or any(one.shared for one in asking):
            return sum(pods for _, pods in self._asking.values()) <= 1
        return not any(self.view.counts(one.key, one.asked).crosses for one in asking)

    def gathers(self, signature: PodSignature) -> bool:
        """True when the first pod of this signature may decide on which node all the others have to be."""
        claims = self.of.get(signature)
        return claims is not None and claims.refusal is None and bool(claims.shared)


class DeviceClaimsOfPods:
    """Looks up the claims of pods, one after the other; those that are alike share one object."""

    def __init__(
        self,
        state: ClusterState,
        group_uid: str,
        freed: Container[ClaimKey] = (),
        kept: Container[DeviceId] = (),
    ) -> None:
        """Knows no pod yet.

        Args:
            state: the cluster.
            group_uid: of their group, which may own claims for all its pods; empty when they have none.
            freed: claims that are looked at as if they had no devices.
            kept: devices that others are nominated for; a group that has them has been asked to leave.
        """
        self._freed: Final = freed
        self._kept: Final = kept
        self.own_claims: Final[dict[str, Sequence[ClaimKey]]] = {}
        """By UID of the pod: its own claims without devices, the one for its extended resources last."""
        self._state: Final = state
        self._devices: Final = state.devices
        self._table: Final = state.derived(DeviceTable)
        self._group_uid: Final = group_uid
        self._known: dict[Hashable, PodDeviceClaims] = {}
        self._known_extended: dict[tuple[ExtendedResources, bool], ExtendedClaims] = {}
        self._users: dict[ClaimKey, set[str]] = {}
        """UIDs of those who are to use a claim that more than one pod uses, those it is reserved for among them."""

    def of(self, pod: PodRecord, signature: PodSignature) -> PodDeviceClaims | None:
        """The claims of a pod of this signature, which may ask for something else than the pod does; None when it has none."""
        backed = self._devices.backed(signature.demand.extended)
        if pod.claims is None and not backed:
            return None
        claims = pod.claims or _NO_CLAIMS
        if claims.problem:
            return _refused(plugin.refusal(claims.problem))
        if backed and any(self._devices.extended_claims((pod.namespace, pod.uid))):
            return _refused(plugin.REASON_LEFT_OVER)
        likeness: list[Hashable] = []
        found: list[ClaimRecord] = []
        own: list[ClaimKey] = []
        for use in claims.uses:
            claim = self._usable(pod, use)
            if isinstance(claim, Status):
                return _refused(claim)
            found.append(claim)
            if claim.allocation is not None:
                likeness.append(bytes(claim.allocation.node_selector))
            elif use.template and claim.owner_uid == pod.uid:
                likeness.append(claim.spec)
                own.append(claim.key)
            else:
                likeness.append((claim.key, claim.spec))
        extended = self._extended(pod, signature) if backed else None
        if extended is not None:
            likeness.append(extended.key)
            self.own_claims[pod.uid] = [*own, extended_key(pod.namespace, pod.uid)]
        elif own:
            self.own_claims[pod.uid] = own
        alike = tuple(likeness)
        known = self._known.get(alike)
        if known is None:
            known = self._known[alike] = self._look_up(alike, found, own, extended)
        return known

    def _extended(self, pod: PodRecord, signature: PodSignature) -> ExtendedClaims | None:
        asked, is_to_come = signature.demand.extended, is_future_pod(pod.uid)
        if asked is None:
            return None
        known = self._known_extended.get((asked, is_to_come))
        if known is None:
            known = ExtendedClaims(self._state, pod.namespace, asked, self._table.requests_of, are_to_come=is_to_come)
            self._known_extended[asked, is_to_come] = known
        return known

    def _usable(self, pod: PodRecord, use: ClaimUse) -> ClaimRecord | Status:
        """The claim, or why the pod cannot use it now."""
        if use.template and not use.claim and is_future_pod(pod.uid):
            return self._as_from_template(pod, use)
        key = (pod.namespace, use.claim)
        claim = self._devices.claim(key) if use.claim else None
        if claim is not None and key in self._freed:
            claim = msgspec.structs.replace(claim, allocation=None, held=(), terms=None)
        if claim is None:
            return plugin.waiting(_absence(pod, use))
        problem = _problem(pod, use, claim, self._group_uid)
        if not problem and self._devices.is_being_released(key):
            problem = f'resourceclaim "{use.claim}" is being deallocated'
        if not problem and not use.template and not self._has_room(claim, pod.uid):
            problem = _FULL.format(use.claim, plugin.MOST_CONSUMERS)
        if not problem and self._group_uid in claim.reserved_for and any(one.id in self._kept for one in claim.held):
            problem = _KEPT.format(use.claim)
        return plugin.refusal(problem) if problem else claim

    def _as_from_template(self, pod: PodRecord, use: ClaimUse) -> ClaimRecord | Status:
        """The claim that will be made for a pod to come, or why there will be none."""
        template = self._devices.templates.get((pod.namespace, use.template))
        if template is None:
            return plugin.waiting(f'could not find ResourceClaimTemplate "{pod.namespace}/{use.template}"')
        metadata = Metadata(name=f"{pod.uid}/{use.entry}", namespace=pod.namespace)
        return msgspec.structs.replace(template, metadata=metadata, owner_uid=pod.uid)

    def _has_room(self, claim: ClaimRecord, pod_uid: str) -> bool:
        """Whether one more of the pods of this decision can be a consumer of the claim; it counts as one from now on."""
        if self._group_uid in claim.reserved_for:
            return True
        users = self._users.setdefault(claim.key, set(claim.reserved_for))
        if len(users) >= plugin.MOST_CONSUMERS and pod_uid not in users:
            return False
        users.add(pod_uid)
        return True

    def _look_up(
        self,
        likeness: Hashable,
        claims: Sequence[ClaimRecord],
        own: Sequence[ClaimKey],
        extended: ExtendedClaims | None,
    ) -> PodDeviceClaims:
        of_pod: list[ClaimRequests] = []
        of_many: list[tuple[ClaimKey, ClaimRequests]] = []
        terms: list[tuple[NodeTerm, ...]] = []
        for claim in claims:
            if claim.allocation is not None:
                if claim.terms is not None:
                    terms.append(claim.terms)
                continue
            asked = self._table.requests_of(claim)
            if isinstance(asked, str):
                return _refused(plugin.refusal(asked))
            if claim.key in own:
                of_pod.append(asked)
            else:
                of_many.append((claim.key, asked))
        return PodDeviceClaims(
            key=likeness,
            asked=AskedClaims(tuple(of_pod), tuple(one for _, one in of_many), extended),
            shared=tuple(key for key, _ in of_many),
            terms=tuple(terms),
        )


def _refused(status: Status) -> PodDeviceClaims:
    return PodDeviceClaims(status, status)


def _absence(pod: PodRecord, use: ClaimUse) -> str:
    if not use.claim:
        return f'waiting for the resourceclaim "{use.entry}" to be made from the template "{use.template}"'
    return f'could not find ResourceClaim "{pod.namespace}/{use.claim}"'


def _problem(pod: PodRecord, use: ClaimUse, claim: ClaimRecord, group_uid: str) -> str:
    if claim.metadata.is_terminating:
        return f'resourceclaim "{use.claim}" is being deleted'
    if use.template and claim.owner_uid != pod.uid and not (group_uid and claim.owner_uid == group_uid):
        return f"ResourceClaim {pod.namespace}/{use.claim} was not created for Pod {pod.namespace}/{pod.name} (Pod is not owner)"
    return ""
