"""From an item that found no place to a complete plan, or to the reason why nobody has to leave.

(1) With everybody of lower priority gone, does the item fit at all? Rules that no leaving pod changes (selectors, taints,
amounts no node has) are part of that question, so a hopeless item is refused at the price of one look. (2) Binary search for
the lowest priority that has to leave, among those whom disruption budgets let go if they suffice (KEP-5710 gives those back
first whom a budget protects). (3) Nodes and victims; (4) reprieve.
A group with a topology constraint is planned inside every domain and the cheapest is taken; a lone pod on every node.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.resources_fit import slots_for_pods
from scheduler.placement.attempts import Attempt, best_attempt
from scheduler.placement.domains import domains_in_use
from scheduler.placement.fits import fits_of
from scheduler.placement.overlay import Room
from scheduler.placement.room import RoomTrial
from scheduler.preemption.cost import cost_of, vacancy_after
from scheduler.preemption.plan import NEVER, NO_VICTIMS, ONGOING, Plan, Refusal
from scheduler.preemption.reprieve import Placement, reprieve
from scheduler.preemption.selection import Mask, capacity, select, steps_of
from scheduler.preemption.situation import Candidates, Situation, Violators
from scheduler.queue.wake import wanted
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.shapes import Shape

POLICY_NEVER: Final = "Never"
MOST_COMPARED: Final = 32
"""Nodes on which a plan for a single pod is worked out whole, the most promising of all."""

_LOWEST: Final = np.iinfo(np.int64).min


def search(
    state: ClusterState,
    members: Members,
    violators: Violators | None = None,
    overdue: Collection[str] = (),
    *,
    is_nominated: bool = False,
) -> Plan | Refusal:
    """Who has to leave so that the pending members of this item fit. Changes nothing.

    Args:
        state: the snapshot.
        members: the item; a decision has just found no place for it.
        violators: says which units would exceed a disruption budget; None when there are no budgets.
        overdue: UIDs of pods that were asked to leave and do not.
        is_nominated: room has been claimed for it before; a refusal because others are leaving says where it goes then.
    """
    if _never(members):
        return Refusal(NEVER)
    residents = state.residents
    if not len(residents.below(members.priority)) and not len(residents.on_their_way_out()):
        return Refusal(NO_VICTIMS)
    situation = Situation(state, members, violators, overdue)
    if not len(situation.candidates) and not len(situation.leaving):
        return Refusal(NO_VICTIMS)
    allowed = list(_domains(state, members))
    search_in = [_Domain(situation, nodes, situation.candidates) for nodes in allowed]
    fits = max((domain.most for domain in search_in), default=0)
    needed = situation.helpers()
    if needed.any() and fits < members.pending_count:
        # Those whom required affinity speaks of have to stay, or there is nobody to be near to.
        others = [_Domain(situation, nodes, situation.candidates.where(~needed)) for nodes in allowed]
        if (more := max((domain.most for domain in others), default=0)) > fits:
            search_in, fits = others, more
    if fits < wanted(members):
        return Refusal(_too_little(members, fits))
    domains = [domain for domain in search_in if domain.most == fits]
    free = next((domain for domain in domains if domain.is_free), None)
    if free is not None:
        return Refusal(ONGOING, waits=True, places=free.places() if is_nominated else ())
    plans = [plan for domain in domains for plan in domain.plans()]
    if not plans:
        return Refusal(_too_little(members, 0))
    return min(plans, key=lambda plan: plan.cost)


def _never(members: Members) -> bool:
    group = members.group
    if group is not None and group.preemption_policy is not None:
        return group.preemption_policy == POLICY_NEVER
    return any(profile.preemption_policy == POLICY_NEVER for profile in members.profiles)


def _too_little(members: Members, fits: int) -> str:
    if members.is_lone:
        return "no node can take the pod even without all pods of lower priority"
    scheduled = members.satisfied + fits
    rest = members.pending_count - fits
    return f"minCount ({members.need}) cannot be satisfied: {scheduled} scheduled, {rest} remaining"


def _domains(state: ClusterState, members: Members) -> Iterator[Mask | None]:
    key = members.group.topology_key if members.group else None
    if key is None:
        yield None
        return
    column = state.nodes.label_column(key)
    pins = domains_in_use(key, state.nodes_in_use(members), state.nodes)
    if len(pins) > 1:
        return
    for code in np.unique(column.codes[state.nodes.alive]).tolist():
        value = column.values[code]
        if value is not None and pins <= {value}:
            yield column.codes == code


class _Domain:
    """The search inside some nodes (None: all)."""

    def __init__(self, situation: Situation, allowed: Mask | None, candidates: Candidates) -> None:
        self._situation = situation
        self._allowed = allowed
        self._candidates = candidates
        self._shapes = situation.pending
        self._is_alone = situation.relations is None
        has_ports = any(shape.demand.ports for shape in self._shapes)
        self._is_plain = self._is_alone and len(self._shapes) == 1 and not has_ports
        self._latest: tuple[Candidates, Attempt] | None = None
        self.most = self._fitting(candidates)
        """Members that fit when everybody who could leave has left."""

    @property
    def is_free(self) -> bool:
        """True when as many fit without anybody leaving who is not leaving already."""
        return self._fitting(self._nobody) >= self.most

    @property
    def _nobody(self) -> Candidates:
        return self._candidates.where(np.zeros(len(self._candidates), dtype=np.bool_))

    def places(self) -> tuple[tuple[str, str], ...]:
        """(pod UID, node name) of the members when nobody leaves who is not leaving already; only if `is_free`."""
        found = self._cleared(self._nobody)
        return found.places if found is not None else ()

    def plans(self) -> list[Plan]:
        """The plans worth comparing: one for each choice of who may leave, or one per promising node for a single pod."""
        return [plan for leaving in self._choices() for plan in self._plans(leaving)]

    def _plans(self, leaving: Candidates) -> list[Plan]:
        if self.most == 1 and len(self._shapes) == 1:
            return self._single(leaving) if self._is_plain else self._single_among_others(leaving)
        found = self._selected(leaving) or self._cleared(leaving)
        return [found] if found else []

    # --- who may leave -----------------------------------------------------------------------------------------------

    def _choices(self) -> list[Candidates]:
        """Who may leave: the lowest priorities that suffice, and where budgets are in the way whom these allow to go first.

        Which pods a budget lets go is settled from the least important up, although it may be another one whose node is
        needed. So the choice that does not ask for budgets is worked out, too; what a plan costs says which is better.
        """
        everybody = self._candidates
        cheapest = self._cheapest(everybody)
        if not everybody.violates.any():
            return [cheapest]
        spared = everybody.where(~everybody.violates)
        if self._fitting(spared) >= self.most:
            return [self._cheapest(spared), cheapest]
        violating = np.where(everybody.violates, everybody.priority, _LOWEST)
        return [self._up_to_level(everybody, violating), cheapest]

    def _cheapest(self, candidates: Candidates) -> Candidates:
        # A lone pod has a domain per node, and every node the level of its own that its least important pods give.
        if self._situation.members.is_lone:
            return candidates
        return self._up_to_level(candidates, candidates.priority)

    def _up_to_level(self, candidates: Candidates, priority: NDArray[np.int64]) -> Candidates:
        """Everybody up to the lowest of these priorities that suffices; all of them together do."""
        levels = np.unique(priority)
        low, high, found = 0, len(levels) - 1, candidates
        while low < high:
            middle = (low + high) // 2
            tried = candidates.where(priority <= levels[middle])
            if self._fitting(tried) >= self.most:
                high, found = middle, tried
            else:
                low = middle + 1
        return found

    # --- how much fits -----------------------------------------------------------------------------------------------

    def _fitting(self, leaving: Candidates) -> int:
        room = self._situation.room_without(leaving)
        if self._is_plain:
            [(shape, count)] = self._shapes.items()
            return min(count, int(capacity(self._situation, room, shape, self._allowed).sum()))
        return self._attempt(leaving, room).total

    def _attempt(self, leaving: Candidates, room: Room) -> Attempt:
        """Where members go when these have left; the last answer is kept, for it is asked first how many fit and then where."""
        if self._latest is not None and self._latest[0] is leaving:
            return self._latest[1]
        need = wanted(self._situation.members)
        attempt = best_attempt(self._shapes, need, self._situation.state.nodes, self._trials(room, leaving))
        if self._latest is None or attempt.total >= self._latest[1].total:
            self._latest = (leaving, attempt)
        return attempt

    def _trials(self, room: Room, leaving: Candidates, nodes: Mask | None = None) -> Callable[[], RoomTrial]:
        state, relations = self._situation.state, self._situation.relations_without(leaving)
        allowed = nodes if nodes is not None else self._allowed
        return lambda: RoomTrial(state.nodes, fits_of(state), room, allowed, relations=relations)

    # --- plans -------------------------------------------------------------------------------------------------------

    def _single(self, leaving: Candidates) -> list[Plan]:
        situation = self._situation
        [shape] = self._shapes
        places = capacity(situation, situation.room, shape, self._allowed)
        everybody = np.ones(len(leaving), dtype=np.bool_)
        if self._allowed is not None:
            everybody = self._allowed[leaving.slot]
        steps = steps_of(situation, situation.room, shape, 1, leaving, everybody, places)
        plans = []
        # Later steps on a node are for further pods.
        _, first = np.unique(steps.slot, return_index=True)
        for index in np.sort(first)[:MOST_COMPARED].tolist():
            chosen = np.isin(leaving.unit, leaving.unit[steps.rows(index)])
            placement = [(shape, steps.slot[index : index + 1], np.ones(1, dtype=np.int64))]
            plans.append(self._plan(placement, leaving, chosen))
        return plans

    def _selected(self, leaving: Candidates) -> Plan | None:
        """Shape by shape, the one with the fewest places first; None when that places fewer than can be placed."""
        situation = self._situation
        if not self._is_alone or any(shape.demand.ports for shape in self._shapes):
            return None
        everything = situation.room_without(leaving)
        order = sorted(self._shapes, key=lambda shape: int(capacity(situation, everything, shape, self._allowed).sum()))
        room, chosen = situation.room.copy(), np.zeros(len(leaving), dtype=np.bool_)
        placement: list[tuple[Shape, NDArray[np.intp], NDArray[np.int64]]] = []
        for shape in order:
            stay = np.flatnonzero(~chosen)
            counts, more = select(situation, room, shape, self._shapes[shape], leaving.where(~chosen), self._allowed)
            gone = stay[more]
            chosen[gone] = True
            room.add(leaving.slot[gone], leaving.amounts[:, gone])
            slots = np.flatnonzero(counts)
            if len(slots):
                placement.append((shape, slots, counts[slots]))
                demand = situation.state.nodes.resolve(shape.demand)
                room.free[np.ix_(demand.rows, slots)] -= np.outer(demand.amounts, counts[slots])
        if sum(int(counts.sum()) for _, _, counts in placement) < self.most:
            return None
        return self._plan(placement, leaving, chosen)

    def _single_among_others(self, leaving: Candidates) -> list[Plan]:
        """One pod that minds others, or wants a host port: the nodes with the fewest in its way first."""
        situation = self._situation
        [shape] = self._shapes
        room = situation.room_without(leaving)
        trial = self._trials(room, leaving)()
        feasible = np.flatnonzero(trial.capacity(shape))
        obstacles = self._obstacles(shape, leaving)
        order = feasible[np.lexsort((feasible, obstacles[feasible]))]
        plans = []
        for slot in order[:MOST_COMPARED].tolist():
            placement = [(shape, np.array([slot], dtype=np.intp), np.ones(1, dtype=np.int64))]
            plans.append(self._plan(placement, leaving, self._in_the_way(leaving, placement)))
        return plans

    def _obstacles(self, shape: Shape, leaving: Candidates) -> NDArray[np.int64]:
        """Roughly how many would have to leave for one pod, by node slot: whom it minds, and who takes its room."""
        situation, nodes = self._situation, self._situation.state.nodes
        room = slots_for_pods(situation.room.free, nodes.resolve(shape.demand), slice(None))
        found = np.where(room > 0, 0, np.bincount(leaving.slot, minlength=nodes.slots))
        relations, after = situation.relations, situation.relations_without(leaving)
        if relations is not None and after is not None:
            stance = relations.stances[shape]
            for at in (*stance.keeps_off, *stance.repelled):
                place = relations.places[at]
                found += (place.sums - after.places[at].sums)[place.codes]
        return found

    def _cleared(self, leaving: Candidates) -> Plan | None:
        """Upstream's way: place with everybody gone, then see who can stay."""
        situation = self._situation
        attempt = self._attempt(leaving, situation.room_without(leaving))
        placement = [(part.shape, part.slots, part.counts) for part in attempt.placed if part.total]
        if attempt.total < self.most:
            return None
        return self._plan(placement, leaving, self._in_the_way(leaving, placement))

    def _in_the_way(self, leaving: Candidates, placement: Placement) -> Mask:
        """Whoever is on a node that is used, or bears on a rule about other pods."""
        used = np.unique(np.concatenate([slots for _, slots, _ in placement]))
        rows = np.isin(leaving.slot, used)
        if self._situation.influence is not None:
            rows |= np.isin(leaving.row, self._situation.influence.rows())
        return np.isin(leaving.unit, leaving.unit[rows])

    def _plan(self, placement: Placement, leaving: Candidates, chosen: Mask) -> Plan:
        situation = self._situation
        units = reprieve(situation, situation.room, placement, leaving, chosen)
        victims = situation.victims(units)
        names = situation.state.nodes.names
        places: list[tuple[str, str]] = []
        for shape, slots, counts in placement:
            where = [names[slot] for slot in slots.repeat(counts).tolist()]
            places += zip(situation.uids[shape][: len(where)], where, strict=True)
        cost = cost_of(victims, vacancy_after(situation, self._allowed, placement, units))
        return Plan(situation.members.key, situation.priority, tuple(places), victims, cost)
