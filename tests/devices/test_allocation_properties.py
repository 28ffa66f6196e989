"""Small random clusters beside an exhaustive search that is written the other way round: all assignments, then the rules."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import hypothesis.strategies as st
from hypothesis import given, settings

from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import DeviceId, HeldDevice
from tests.devices.build import (
    Json,
    allocated,
    asked,
    claim,
    device,
    first_available,
    request,
    resource_slice,
    slices,
)

MODELS = ("a", "b")
TAINT = {"key": "sick", "value": "", "effect": "NoSchedule"}
TOLERATION = {"key": "sick", "operator": "Exists"}

Picked = dict[tuple[int, int], tuple[str, tuple[int, ...]]]
"""By claim and request: the name of the alternative, and the places of the devices."""


@st.composite
def devices(draw: st.DrawFn) -> list[Json]:
    found = []
    for number in range(draw(st.integers(0, 5))):
        one = device(f"g{number}", model=draw(st.sampled_from(MODELS)))
        if draw(st.booleans()):
            one["attributes"]["numa"] = {"int": draw(st.integers(0, 1))}
        if draw(st.integers(0, 4)) == 0:
            one["taints"] = [TAINT]
        if draw(st.integers(0, 2)) == 0:
            amount = str(draw(st.integers(1, 3)))
            one["consumesCounters"] = [{"counterSet": "m", "counters": {"c": {"value": amount}}}]
        if draw(st.integers(0, 3)) == 0:
            one["allowMultipleAllocations"] = True
            one["capacity"] = {"b": {"value": str(draw(st.integers(1, 3)))}}
        found.append(one)
    return found


@st.composite
def requests(draw: st.DrawFn, name: str) -> Json:
    def exact(named: str) -> Json:
        fields: Json = {}
        if draw(st.booleans()):
            fields["tolerations"] = [TOLERATION]
        if draw(st.integers(0, 3)) == 0:
            fields["capacity"] = {"requests": {"b": str(draw(st.integers(1, 2)))}}
        selector = draw(st.sampled_from([(), ('device.attributes["d"].model == "a"',)]))
        return request(named, draw(st.integers(1, 2)), *selector, **fields)

    if draw(st.integers(0, 3)) == 0:
        return first_available(name, exact("one"), exact("two"))
    return exact(name)


@st.composite
def claims(draw: st.DrawFn, name: str) -> Json:
    asks = [draw(requests(f"r{number}")) for number in range(draw(st.integers(1, 2)))]
    kind = draw(st.sampled_from(["", "matchAttribute", "distinctAttribute"]))
    constraints = []
    if kind:
        about = draw(st.sampled_from([[], ["r0"]]))
        constraints = [{kind: draw(st.sampled_from(["d/numa", "d/model"])), "requests": about}]
    return claim(name, *asks, constraints=constraints)


@given(
    offer=devices(),
    wanted=st.lists(st.sampled_from(["c0", "c1"]), unique=True, min_size=1).flatmap(
        lambda names: st.tuples(*(claims(name) for name in sorted(names)))
    ),
    held=st.sets(st.integers(0, 4), max_size=2),
)
@settings(max_examples=200, deadline=None)
def test_devices_are_found_exactly_where_there_are_some(
    offer: list[Json], wanted: Sequence[Json], held: set[int]
) -> None:
    whole = {number for number in held if number < len(offer) and "capacity" not in offer[number]}
    offers = slices(
        resource_slice("s", offer, node="n1", pool="p", count=2),
        resource_slice("t", node="n1", pool="p", count=2, sharedCounters=[COUNTERS]),
    )
    others = HeldDevices(HeldDevice(DeviceId("d", "p", f"g{number}")) for number in whole)
    solution = allocated(asked(*wanted), offers, others)
    found = next((picked for picked in assignments(offer, wanted) if is_valid(offer, wanted, picked, whole)), None)
    assert (solution is None) == (found is None)
    if solution is not None:
        picked: Picked = {}
        for number, chosen in enumerate(solution.devices):
            for place, ask in enumerate(wanted[number]["spec"]["devices"]["requests"]):
                mine = [one for one in chosen if one.request.name.split("/")[0] == ask["name"]]
                at = tuple(int(one.device.id.device[1:]) for one in mine)
                picked[number, place] = (mine[0].request.name, at)
        assert is_valid(offer, wanted, picked, whole)


COUNTERS = {"name": "m", "counters": {"c": {"value": "4"}}}


def assignments(offer: Sequence[Json], wanted: Sequence[Json]) -> Iterator[Picked]:
    """Every way to give every request its number of devices, whatever the rules."""
    places, ways = [], []
    for number, one in enumerate(wanted):
        for place, ask in enumerate(one["spec"]["devices"]["requests"]):
            places.append((number, place))
            alternatives = [(f"{ask['name']}/{each['name']}", each) for each in ask.get("firstAvailable", ())]
            alternatives = alternatives or [(ask["name"], ask["exactly"])]
            ways.append(
                [(name, at) for name, each in alternatives for at in combinations(range(len(offer)), each["count"])]
            )
    return (dict(zip(places, way, strict=True)) for way in product(*ways))


def exactly(wanted: Sequence[Json], place: tuple[int, int], name: str) -> Json:
    ask: Json = wanted[place[0]]["spec"]["devices"]["requests"][place[1]]
    if "exactly" in ask:
        found: Json = ask["exactly"]
        return found
    return next(one for one in ask["firstAvailable"] if f"{ask['name']}/{one['name']}" == name)


def is_valid(offer: Sequence[Json], wanted: Sequence[Json], picked: Picked, whole: set[int]) -> bool:
    uses: list[tuple[int, Json]] = []
    for place, (name, at) in picked.items():
        exact = exactly(wanted, place, name)
        for number in at:
            if number in whole or not suits(offer[number], exact):
                return False
            uses.append((number, exact))
    return has_room(offer, uses, whole) and meets_constraints(offer, wanted, picked)


def suits(one: Json, exact: Json) -> bool:
    if exact.get("selectors") and one["attributes"]["model"]["string"] != "a":
        return False
    if one.get("taints") and not exact.get("tolerations"):
        return False
    ask = exact.get("capacity")
    return ask is None or ("capacity" in one and int(ask["requests"]["b"]) <= int(one["capacity"]["b"]["value"]))


def has_room(offer: Sequence[Json], uses: Sequence[tuple[int, Json]], whole: set[int]) -> bool:
    for number in {number for number, _ in uses}:
        mine = [exact for used, exact in uses if used == number]
        if "capacity" not in offer[number]:
            if len(mine) > 1:
                return False
            continue
        value = int(offer[number]["capacity"]["b"]["value"])
        if sum(int(exact["capacity"]["requests"]["b"]) if "capacity" in exact else value for exact in mine) > value:
            return False
    used = {number for number, _ in uses} | whole
    counted = [
        int(offer[number]["consumesCounters"][0]["counters"]["c"]["value"])
        for number in used
        if "consumesCounters" in offer[number]
    ]
    taken_now = any("consumesCounters" in offer[number] for number, _ in uses)
    return not taken_now or sum(counted) <= 4


def meets_constraints(offer: Sequence[Json], wanted: Sequence[Json], picked: Picked) -> bool:
    for number, one in enumerate(wanted):
        for constraint in one["spec"]["devices"]["constraints"]:
            about = constraint["requests"]
            values = [
                offer[device]
                .get("attributes", {})
                .get((constraint.get("matchAttribute") or constraint["distinctAttribute"])[2:])
                for (claimed, _), (name, at) in picked.items()
                if claimed == number and (not about or name.split("/")[0] in about)
                for device in at
            ]
            if None in values:
                return False
            different = len({str(value) for value in values})
            if values and different != (1 if "matchAttribute" in constraint else len(values)):
                return False
    return True
