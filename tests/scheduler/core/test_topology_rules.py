"""Rules about other pods: every node and every choice compared with a slow reference, on random clusters."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.algorithm.snapshot import SnapshotOverlay
from tests.scheduler.core import build
from tests.scheduler.core.topology_reference import (
    HOSTNAME,
    PREFERRED,
    REQUIRED,
    Being,
    Cluster,
    company_scores,
    evenness_scores,
    refusal,
)
from tests.scheduler.core.world import World

APPS = st.sampled_from(["a", "b", "c"])
KEYS = st.sampled_from([HOSTNAME, "zone", "rack"])
NAMESPACES = st.sampled_from([build.NAMESPACE, "other"])
LABELS = st.fixed_dictionaries({"app": APPS}, optional={"tier": st.sampled_from(["x", "y"])})

SELECTORS = st.one_of(
    st.none(),
    st.just({}),
    st.builds(lambda app: {"matchLabels": {"app": app}}, APPS),
    st.builds(
        lambda key, operator, values: {
            "matchExpressions": [
                {"key": key, "operator": operator} | ({"values": values} if operator in {"In", "NotIn"} else {})
            ]
        },
        st.sampled_from(["app", "tier"]),
        st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
        st.lists(st.sampled_from(["a", "b", "x"]), min_size=1, max_size=2),
    ),
)
NAMESPACE_SELECTORS = st.sampled_from([{}, {"matchLabels": {"team": "red"}}])
TERMS = st.builds(
    lambda key, selector, more: {"topologyKey": key, "labelSelector": selector, **more},
    KEYS,
    SELECTORS,
    st.fixed_dictionaries(
        {},
        optional={
            "namespaces": st.lists(NAMESPACES, max_size=2),
            "namespaceSelector": NAMESPACE_SELECTORS,
        },
    ),
)
WISHES = st.builds(lambda term, weight: {"podAffinityTerm": term, "weight": weight}, TERMS, st.integers(1, 100))
KINDS = st.fixed_dictionaries(
    {}, optional={REQUIRED: st.lists(TERMS, max_size=2), PREFERRED: st.lists(WISHES, max_size=2)}
)
AFFINITIES = st.fixed_dictionaries({}, optional={"podAffinity": KINDS, "podAntiAffinity": KINDS})
SPREADS = st.builds(
    lambda key, selector, skew, when, more: {
        "topologyKey": key,
        "labelSelector": selector,
        "maxSkew": skew,
        "whenUnsatisfiable": when,
        **(more if when == "DoNotSchedule" else {k: v for k, v in more.items() if k != "minDomains"}),
    },
    KEYS,
    SELECTORS,
    st.integers(1, 3),
    st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
    st.fixed_dictionaries(
        {},
        optional={"minDomains": st.integers(1, 4), "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore"])},
    ),
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "affinity": AFFINITIES,
        "topologySpreadConstraints": st.lists(SPREADS, min_size=1, max_size=2),
        "nodeSelector": st.just({"pool": "p"}),
    },
)
NODES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={"zone": st.sampled_from(["z1", "z2"]), "rack": st.sampled_from(["r1", "r2"]), "pool": st.just("p")},
    ),
    min_size=1,
    max_size=5,
)
RUNNING = st.lists(
    st.tuples(LABELS, NAMESPACES, st.integers(0, 9), st.booleans(), st.one_of(st.just({}), SPECS)), max_size=6
)


def _build(
    nodes: list[dict[str, str]], running: list[tuple[dict[str, str], str, int, bool, dict[str, Any]]]
) -> tuple[World, Cluster]:
    world = World()
    cluster = Cluster({}, [], {"other": {"team": "red"}})
    world.apply(world.state.upsert_namespace("other", {"team": "red"}))
    for index, labels in enumerate(nodes):
        world.node(f"n{index}", labels=labels)
        cluster.nodes[f"n{index}"] = {HOSTNAME: f"n{index}", **labels}
    for index, (labels, namespace, at, leaving, spec) in enumerate(running):
        node = f"n{at % len(nodes)}"
        being = Being(f"r{index}", namespace, labels, spec, node, leaving)
        cluster.pods.append(being)
        world.pod(
            being.name,
            cpu=0,
            namespace=namespace,
            labels=labels,
            spec={key: value for key, value in spec.items() if key != "nodeSelector"},
            on=node,
            deleted=leaving,
            scheduler="foreign",
        )
    return world, cluster


@settings(max_examples=400, deadline=None)
@given(nodes=NODES, running=RUNNING, labels=LABELS, spec=SPECS)
def test_a_pod_meets_the_same_nodes_reasons_and_scores_as_in_the_reference(
    nodes: list[dict[str, str]],
    running: list[tuple[dict[str, str], str, int, bool, dict[str, Any]]],
    labels: dict[str, str],
    spec: dict[str, Any],
) -> None:
    world, cluster = _build(nodes, running)
    world.pod("p", cpu=0, labels=labels, spec=spec)
    pod = Being("p", build.NAMESPACE, labels, spec)
    wanted = spec.get("nodeSelector", {})
    accepting = [name for name, own in cluster.nodes.items() if all(own.get(k) == v for k, v in wanted.items())]
    reasons = {name: refusal(pod, name, cluster) for name in accepting}
    feasible = [name for name, reason in reasons.items() if not reason]

    item = world.state.item(build.pod_key("p"))
    assert item is not None
    found = partition_by_signature(world.state, item)
    (shape,) = found.uids
    snapshot = SnapshotOverlay(world.state.nodes, world.state.ports, fits_of(world.state), topology=found.topology)
    capacity = snapshot.capacity(shape)
    slot_of = world.state.nodes.slot_of
    assert [name for name in cluster.nodes if capacity[slot_of[name]]] == feasible
    told = {status.text: count for status, count in snapshot.diagnosis(shape).nodes.items()}
    for reason in set(reasons.values()) - {""}:
        assert told[reason] == list(reasons.values()).count(reason)
    if found.topology is not None and snapshot.topology_state is not None and feasible:
        slots = snapshot.topology_state.slots
        merits = snapshot.topology_state.scores(shape, capacity[slots] > 0)
        liking, evenness = company_scores(pod, feasible, cluster), evenness_scores(pod, feasible, cluster)
        for name in feasible:
            mine = 0 if merits is None else int(merits[slots.tolist().index(slot_of[name])])
            assert mine == 2 * liking[name] + 2 * evenness[name]
    elif feasible:
        assert set(company_scores(pod, feasible, cluster).values()) == {0}
    assert bool(decide(world.state, build.pod_key("p")).bindings) is bool(feasible)


MEMBERS = st.lists(st.tuples(LABELS, SPECS), min_size=1, max_size=3)


@settings(max_examples=300, deadline=None)
@given(nodes=NODES, running=RUNNING, kinds=MEMBERS, counts=st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_members_of_a_gang_never_break_rules_among_themselves_or_with_those_who_run(
    nodes: list[dict[str, str]],
    running: list[tuple[dict[str, str], str, int, bool, dict[str, Any]]],
    kinds: list[tuple[dict[str, str], dict[str, Any]]],
    counts: list[int],
) -> None:
    world, cluster = _build(nodes, running)
    world.group("g")
    beings: dict[str, Being] = {}
    for kind, ((labels, spec), count) in enumerate(zip(kinds, counts, strict=False)):
        for index in range(count):
            name = f"g-{kind}-{index}"
            world.pod(name, group="g", cpu=0, labels=labels, spec=spec)
            beings[f"uid-of-{name}"] = Being(name, build.NAMESPACE, labels, spec)
    decision = decide(world.state, build.group_key("g"))
    for uid, node in decision.bindings:
        beings[uid].node = node
    left = [beings[uid] for uid, _ in decision.bindings]
    assert _exists_an_order(left, cluster), "each pod was allowed where it is when it got there"
    for uid, _ in decision.failures:
        if uid in beings and not decision.bindings:
            assert all(
                refusal(beings[uid], node, cluster) for node in cluster.nodes if _accepts(beings[uid], node, cluster)
            )


def _accepts(being: Being, node: str, cluster: Cluster) -> bool:
    return all(cluster.nodes[node].get(k) == v for k, v in being.spec.get("nodeSelector", {}).items())


def _exists_an_order(left: list[Being], cluster: Cluster) -> bool:
    """Whether the pods can have come one by one (any that is allowed now may come now; backtracks)."""
    if not left:
        return True
    tried: set[tuple[str, str, str]] = set()
    for being in left:
        alike = (str(being.labels), str(being.spec), being.node)
        if alike in tried:
            continue
        tried.add(alike)
        if refusal(being, being.node, cluster):
            continue
        cluster.pods.append(being)
        if _exists_an_order([other for other in left if other is not being], cluster):
            return True
        cluster.pods.pop()
    return False
