"""Ours beside a slow and obvious scheduler on thousands of random clusters, many of them within one pod of the limit.

For equal pods both must agree on whether the gang starts. For any members: what ours decides is possible, on no node too much,
and never less than the minimum.
"""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from tests.placement.case import HOSTNAME, apart, even, near, selector, spread, term
from tests.scheduler.core.build import NAMESPACE, group_key
from tests.scheduler.core.plain_scheduler import Site, most_that_fit
from tests.scheduler.core.topology_reference import Being, Cluster, refusal
from tests.scheduler.core.world import World

CLUSTERS = 2000
MOST_PODS = 24
OFFSETS = [-3, -1, 0, 0, 1, 1, 2]
"""How many more pods the gang has than fit; where more than MOST_PODS fit, than those."""
SHARE = 0.3
GPU, POOL, TAINT = "example.com/gpu", "pool", {"key": "example.com/kept", "effect": "NoSchedule"}
TOLERATES = {"tolerations": [{"key": "example.com/kept", "operator": "Exists"}]}

AMOUNTS = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 1))
NODE = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 6), st.integers(0, 3), st.integers(0, 15))
PLAIN_SPECS: list[dict[str, Any]] = [{}, {}, TOLERATES, {"nodeSelector": {POOL: "a"}}, {"nodeSelector": {POOL: "b"}}]
SPECS = [
    *PLAIN_SPECS,
    apart(term(selector(app="a"), HOSTNAME)),
    near(term(selector(app="b"), POOL)),
    near(term(selector(app="a"), POOL)),
    spread(even(selector(app="a"), POOL)),
    {**apart(term(selector(app="b"), POOL)), "nodeSelector": {POOL: "a"}},
]
MEMBER = st.tuples(AMOUNTS, st.sampled_from(SPECS), st.sampled_from("ab"))
CLUSTER = st.tuples(
    st.lists(NODE, min_size=1, max_size=7),
    st.lists(AMOUNTS, max_size=4),
    st.tuples(AMOUNTS, st.sampled_from(PLAIN_SPECS), st.sampled_from([0, 0, 0, 8080])),
    st.sampled_from(OFFSETS),
    st.lists(MEMBER, min_size=1, max_size=8),
    st.integers(1, 8),
    st.sampled_from(["", "", POOL]),
)
Amounts = tuple[int, int, int]
Member = tuple[Amounts, dict[str, Any], str]


def requests(amounts: Amounts) -> dict[str, str]:
    cpu, memory, gpus = amounts
    return {"cpu": str(cpu), "memory": f"{memory}Gi", GPU: str(gpus)}


def plain(amounts: Amounts) -> dict[str, int]:
    return dict(zip(("cpu", "memory", "gpu"), amounts, strict=True))


class Drawn:
    """One cluster, in our world and as the plain scheduler sees it."""

    def __init__(self, nodes: list[tuple[int, int, int, int, int]], used: list[Amounts]) -> None:
        self.world = World()
        self._nodes = nodes
        self._used = [(f"n{number % len(nodes)}", amounts) for number, amounts in enumerate(used)]
        for number, (cpu, memory, pods, gpus, flags) in enumerate(nodes):
            self.world.node(
                f"n{number}",
                cpu=cpu,
                memory=f"{memory}Gi",
                pods=pods,
                resources={GPU: str(gpus)},
                labels={POOL: "ab"[flags & 1]},
                taints=[TAINT] if flags & 6 == 6 else [],
                unschedulable=flags & 12 == 12,
            )
        for number, (node, amounts) in enumerate(self._used):
            self.world.pod(f"used-{number}", on=node, requests=requests(amounts), scheduler="other")

    def sites(self) -> dict[str, Site]:
        """The nodes afresh."""
        found = {}
        for number, (cpu, memory, pods, gpus, flags) in enumerate(self._nodes):
            free = Counter({"cpu": cpu, "memory": memory, "pods": pods, "gpu": gpus})
            name, labels = f"n{number}", {POOL: "ab"[flags & 1], HOSTNAME: f"n{number}"}
            found[name] = Site(name, free, labels, is_tainted=flags & 6 == 6, is_cordoned=flags & 12 == 12)
        for node, amounts in self._used:
            found[node].take(plain(amounts))
        return found


def check_equal(drawn: Drawn, wanted: tuple[Amounts, dict[str, Any], int], count: int, fits: int) -> None:
    """A gang of equal pods starts exactly when so many fit; if it does, on nodes that take them."""
    amounts, spec, port = wanted
    ports = [{"containerPort": port, "hostPort": port}] if port else []
    drawn.world.group("g", count)
    drawn.world.pods("g", count, requests=requests(amounts), spec=spec, ports=ports)
    decision = decide(drawn.world.state, group_key("g"))
    assert (decision.result == "scheduled") is (fits >= count), decision.condition_message
    assert len(decision.bindings) == (count if fits >= count else 0)
    sites = drawn.sites()
    for _, node in decision.bindings:
        assert not sites[node].refusal(plain(amounts), spec, port)
        sites[node].take(plain(amounts), port)


def check_any(drawn: Drawn, members: list[Member], need: int, topology: str) -> None:
    """Whatever the members: no node takes too much or what it refuses, and all or none start."""
    need = min(need, len(members))
    drawn.world.group("any", need, **({"topology": topology} if topology else {}))
    for number, (amounts, spec, app) in enumerate(members):
        labels = {"app": app}
        drawn.world.pod(f"any-{number}", group="any", requests=requests(amounts), spec=spec, labels=labels)
    decision = decide(drawn.world.state, group_key("any"))
    assert not decision.bindings or len(decision.bindings) >= need
    assert (decision.result == "scheduled") is bool(decision.bindings)
    assert len({uid for uid, _ in decision.bindings}) == len(decision.bindings)
    sites, placed = drawn.sites(), _placed(members, decision)
    for being, amounts in placed:
        assert not sites[being.node].refusal(plain(amounts), being.spec)
        sites[being.node].take(plain(amounts))
    if topology:
        assert len({sites[being.node].labels[topology] for being, _ in placed}) <= 1
    nodes = {name: dict(site.labels) for name, site in sites.items()}
    assert can_come_one_by_one([being for being, _ in placed], nodes)


def can_come_one_by_one(beings: list[Being], nodes: dict[str, dict[str, str]]) -> bool:
    """Whether there is an order in which each of them breaks no rule, about those before it, by coming to its node."""
    hopeless: set[frozenset[int]] = set()

    def rest_can_come(there: frozenset[int]) -> bool:
        if there in hopeless:
            return False
        cluster = Cluster(nodes, [beings[index] for index in there])
        for index, being in enumerate(beings):
            if index not in there and not refusal(being, being.node, cluster) and rest_can_come(there | {index}):
                return True
        hopeless.add(there)
        return len(there) == len(beings)

    return rest_can_come(frozenset())


def _placed(members: list[Member], decision: Decision) -> list[tuple[Being, Amounts]]:
    found = []
    for uid, node in decision.bindings:
        amounts, spec, app = members[int(uid.rpartition("-")[2])]
        found.append((Being(uid, NAMESPACE, {"app": app}, spec, node), amounts))
    return found


def test_ours_agrees_with_the_plain_scheduler_and_places_nothing_where_it_cannot_be() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=CLUSTERS, deadline=None)
    @given(CLUSTER)
    def compare(cluster: tuple[Any, ...]) -> None:
        nodes, used, wanted, offset, members, need, topology = cluster
        drawn = Drawn(nodes, used)
        amounts, spec, port = wanted
        # Counted beyond the largest gang, so that a gang the count says does not fit really does not.
        fits = most_that_fit(list(drawn.sites().values()), plain(amounts), spec, port, MOST_PODS + max(OFFSETS))
        count = max(min(fits, MOST_PODS) + offset, 1)
        check_equal(drawn, wanted, count, fits)
        check_any(drawn, members, need, topology)
        seen.update(clusters=1, infeasible=fits < count, near=abs(fits - count) <= 1)

    compare()
    assert seen["clusters"] >= CLUSTERS
    assert seen["infeasible"] >= SHARE * seen["clusters"], seen
    assert seen["near"] >= SHARE * seen["clusters"], seen
