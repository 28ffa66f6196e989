"""Devices for pods whose nodes are settled: whether all of them get theirs while others hold so much, and which ones.

On each node the claims of all its pods are searched for together, so nothing depends on which of them comes first. Only what
several nodes can reach, or several pods share, is given to one node after the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.devices.counts import AskedClaims, first_free, most_alike
from scheduler.algorithm.devices.device_claims import MemberDeviceClaims
from scheduler.algorithm.devices.errors import AllocationError, InvalidPools, SearchLimit
from scheduler.algorithm.devices.requests import ClaimRequests
from scheduler.algorithm.devices.result import node_selector
from scheduler.algorithm.devices.solution import Chosen
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import ClaimKey, HeldDevice
from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import parse_node_terms
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import ONE_BY_ONE

_A_LOOK: Final = 2 * ONE_BY_ONE
"""Steps of counting what is left on one node, beside those for each device."""
_A_NODE: Final = 20 * ONE_BY_ONE
"""Steps of searching one node, beside those for each claim."""

Placement = Iterable[tuple[PodSignature, Slots, NDArray[np.int64]]]
"""(signature, node slots, pods on each of them)."""


class PodDevices(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What one pod of a signature gets on a node; what pods share is the first one's."""

    signature: PodSignature
    slot: int
    chosen: tuple[Chosen, ...]

    @property
    def held(self) -> tuple[HeldDevice, ...]:
        """What nobody else can have."""
        return tuple(one.held for one in self.chosen if not one.request.is_admin)


class PlacedDevices:
    """Pods that ask for devices, on their nodes.

    Args:
        claims: theirs, and which devices they see.
        placement: where they are; pods without claims may be among them.
    """

    def __init__(self, claims: MemberDeviceClaims, placement: Placement) -> None:
        self._claims: Final = claims
        self._on: Final[dict[int, list[tuple[PodSignature, int]]]] = {}
        for signature, slots, counts in placement:
            asked = claims.of.get(signature)
            if asked is None or asked.asked.is_empty:
                continue
            for slot, pods in zip(slots.tolist(), counts.tolist(), strict=True):
                if pods:
                    self._on.setdefault(slot, []).append((signature, pods))
        self._alone: Final = not self._is_common()

    def __len__(self) -> int:
        """Nodes with such pods."""
        return len(self._on)

    def choose(self, held: HeldDevices, near: set[int] | None = None) -> list[PodDevices] | None:
        """Devices for each of the pods, node by node; None when they do not suffice.

        Args:
            held: what they cannot have.
            near: only the nodes of these slots have changed since all got theirs, None: any may have.

        Raises:
            OverBudgetError: more steps are needed than the computation under way may take.
        """
        held = HeldDevices(below=held)
        decided: dict[ClaimKey, frozenset[int] | None] = {}
        found: list[PodDevices] = []
        for slot in self._on:
            if near is not None and self._alone and slot not in near:
                continue
            given = self._choose_on(slot, held, decided)
            if given is None:
                return None
            found += given
            if not self._alone:
                held.add(one for pod in given for one in pod.held)
        return found

    def suffice(self, held: HeldDevices, near: set[int] | None = None) -> bool:
        """Whether there are devices for all of them; arguments and errors as of `choose`."""
        if not self._alone:
            return self.choose(held, near) is not None
        for slot in self._on:
            if near is not None and slot not in near:
                continue
            enough = self._by_counting(slot, held)
            if enough is None:
                enough = self._choose_on(slot, HeldDevices(below=held), {}) is not None
            if not enough:
                return False
        return True

    # --- inside ------------------------------------------------------------------------------------------------------

    def _is_common(self) -> bool:
        """Whether what one node gives can matter to another."""
        signatures = {signature for members in self._on.values() for signature, _ in members}
        claims = [self._claims.of[signature] for signature in signatures]
        return any(one.shared or self._claims.view.counts(one.key, one.asked).crosses for one in claims)

    def _choose_on(
        self, slot: int, held: HeldDevices, decided: dict[ClaimKey, frozenset[int] | None]
    ) -> list[PodDevices] | None:
        """Devices for the pods of one node; notes in `decided` from where the claims they share can be used."""
        wanted: list[tuple[ClaimKey | None, ClaimRequests]] = []
        pods: list[tuple[PodSignature, int]] = []
        for signature, count in self._on[slot]:
            asked = self._claims.of[signature]
            for key, requests in zip(asked.shared, asked.asked.shared, strict=True):
                where = decided.get(key)
                if where is not None and slot not in where:
                    return None
                if key not in decided and all(key != other for other, _ in wanted):
                    wanted.append((key, requests))
            pods += [(signature, len(self._own(signature, slot)))] * count
        shared = len(wanted)
        wanted += [(None, one) for signature, count in self._on[slot] for one in self._own(signature, slot) * count]
        devices = self._search(slot, [requests for _, requests in wanted], held)
        if devices is None:
            return None
        for (shared_key, _), chosen in zip(wanted[:shared], devices, strict=False):
            if shared_key is not None:
                decided[shared_key] = self._reached(chosen, slot)
        found: list[PodDevices] = []
        at = shared
        for number, (signature, own) in enumerate(pods):
            mine = devices[at : at + own] if number else (*devices[:shared], *devices[at : at + own])
            found.append(PodDevices(signature, slot, tuple(one for claim in mine for one in claim)))
            at += own
        return found

    def _own(self, signature: PodSignature, slot: int) -> tuple[ClaimRequests, ...]:
        """The claims of each pod on one node."""
        here = self._claims.view.table.asked_on(slot, self._claims.of[signature].asked)
        return here.own if isinstance(here, AskedClaims) else ()

    def _by_counting(self, slot: int, held: HeldDevices) -> bool | None:
        """Whether a node has enough devices; None where it takes more than counting them to know."""
        if len(self._on[slot]) != 1:
            return None
        [(signature, pods)] = self._on[slot]
        claims = self._claims.of[signature]
        left = self._claims.view.counts(claims.key, claims.asked).left_on(slot)
        request = claims.asked.counted
        if request is None or left is None:
            return None
        self._claims.state.nodes.steps.spend(_A_LOOK + ONE_BY_ONE * len(left))
        if claims.asked.alike_in:
            return most_alike(claims.asked, left, held) >= pods
        return sum(device.id not in held for _, device in left) >= pods * request.count

    def _search(
        self, slot: int, wanted: Sequence[ClaimRequests], held: HeldDevices
    ) -> Sequence[tuple[Chosen, ...]] | None:
        view, state = self._claims.view, self._claims.state
        state.nodes.steps.spend(_A_NODE + ONE_BY_ONE * len(wanted))
        if not wanted:
            return ()
        if len(self._on[slot]) == 1:
            [(signature, pods)] = self._on[slot]
            claims = self._claims.of[signature]
            counts = view.counts(claims.key, claims.asked)
            here = view.table.asked_on(slot, claims.asked)
            free, request = counts.free_on(slot), here.counted if isinstance(here, AskedClaims) else None
            if request is not None and free is not None:
                # These are all that can be free, so nothing else is to be searched.
                solution = first_free(request, pods, free, held)
                return solution.devices if solution is not None else None
        node = state.nodes.facts[slot]
        if node is None:
            return None
        asked = AskedClaims(tuple(wanted))
        try:
            found = view.table.search_on(node, asked, held)
        except (AllocationError, InvalidPools, SearchLimit):
            return None
        return found.devices if found is not None else None

    def _reached(self, chosen: tuple[Chosen, ...], slot: int) -> frozenset[int] | None:
        state = self._claims.state
        raw = node_selector(chosen, state.nodes.names[slot])
        return frozenset(state.storage.reach.slots(parse_node_terms(raw)).tolist()) if raw else None


def held_by_pod(
    given: Iterable[PodDevices], uids: Mapping[PodSignature, Sequence[str]], placement: Placement
) -> dict[str, tuple[HeldDevice, ...]]:
    """UID of a pod -> what nobody else can have of its devices; pods are told apart as the placement counts them."""
    waiting: dict[tuple[PodSignature, int], list[str]] = {}
    for signature, slots, counts in placement:
        where = slots.repeat(counts).tolist()
        for uid, slot in zip(uids[signature], where, strict=False):
            waiting.setdefault((signature, slot), []).append(uid)
    found: dict[str, tuple[HeldDevice, ...]] = {}
    for pod in given:
        left = waiting.get((pod.signature, pod.slot))
        if left:
            found[left.pop(0)] = pod.held
    return found
