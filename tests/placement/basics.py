"""NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts and SchedulingGates."""

from typing import Any

from tests.placement.case import HOSTNAME, REQUIRED, Case, Machine, Running, Spec, apart, labelled, selector, term

OPEN, CLOSED = Machine(), Machine(is_cordoned=True)
TWO = (OPEN, OPEN)
CORDONED = "node(s) were unschedulable"
CORDON_KEY = "node.kubernetes.io/unschedulable"


def tolerates(*tolerations: dict[str, Any]) -> Spec:
    return {"tolerations": list(tolerations)}


def _any(key: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "operator": "Exists", **more}


CORDONS = (
    Case("the open one", (CLOSED, OPEN), (), {}, {}, 1),
    Case("the open one, though it is fuller", (CLOSED, OPEN), (Running(1, cpu=6),), {}, {}, 1, cpu=1),
    Case("none is open", (CLOSED, CLOSED), (), {}, {}, None, f"2 {CORDONED}"),
    Case(
        "the open one is full",
        (CLOSED, OPEN),
        (Running(1, cpu=8),),
        {},
        {},
        None,
        f"1 Insufficient cpu, 1 {CORDONED}",
        cpu=1,
    ),
    Case("tolerated", (CLOSED,), (), {}, tolerates(_any(CORDON_KEY)), 0),
    Case("tolerated for its effect", (CLOSED,), (), {}, tolerates(_any(CORDON_KEY, effect="NoSchedule")), 0),
    Case(
        "tolerated for another effect",
        (CLOSED,),
        (),
        {},
        tolerates(_any(CORDON_KEY, effect="NoExecute")),
        None,
        f"1 {CORDONED}",
    ),
    Case("everything is tolerated", (CLOSED,), (), {}, tolerates({"operator": "Exists"}), 0),
    Case("another taint is tolerated", (CLOSED,), (), {}, tolerates(_any("other")), None, f"1 {CORDONED}"),
    Case(
        "told before taints",
        (Machine(is_cordoned=True, taints=({"key": "t", "effect": "NoSchedule"},)),),
        (),
        {},
        {},
        None,
        f"1 {CORDONED}",
    ),
    Case("told before room", (Machine(is_cordoned=True, cpu=1),), (), {}, {}, None, f"1 {CORDONED}", cpu=2),
)


def _on(index: int, **more: Any) -> Spec:
    return {"nodeName": f"@n{index}", **more}


FULL = (Running(0, cpu=8),)
NAMED = (
    Case("on the node it names", TWO, (), {}, _on(1), 1),
    Case("on a full node", TWO, FULL, {}, _on(0), 0, cpu=4),
    Case("on a cordoned node", (CLOSED, OPEN), (), {}, _on(0), 0),
    Case("against a taint", (Machine(taints=({"key": "t", "effect": "NoSchedule"},)), OPEN), (), {}, _on(0), 0),
    Case("against its selector", TWO, (), {}, _on(0, nodeSelector={"disk": "ssd"}), 0),
    Case(
        "against its affinity",
        TWO,
        (),
        {},
        _on(0, affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [labelled("disk", "Exists")]}}}),
        0,
    ),
    Case(
        "against others",
        TWO,
        (Running(0, {"app": "b"}),),
        {"app": "a"},
        _on(0, **apart(term(selector(app="b"), HOSTNAME))),
        0,
    ),
    Case(
        "against a port",
        TWO,
        (
            Running(
                0, spec={"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
            ),
        ),
        {},
        _on(0, containers=[{"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}]),
        0,
    ),
    Case("where nothing is asked for", TWO, (Running(1, cpu=8),), {}, _on(1), 1),
    Case(
        "with a claim that does not exist",
        TWO,
        (),
        {},
        _on(1, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "none"}}]),
        1,
    ),
)

KEPT_AWAY = "node(s) had untolerated taint(s)"


def _tainted(key: str, value: str = "", effect: str = "NoSchedule") -> Machine:
    return Machine(taints=({"key": key, "effect": effect, **({"value": value} if value else {})},))


TAINTS = (
    Case("the clean one", (_tainted("t"), OPEN), (), {}, {}, 1),
    Case("all are tainted", (_tainted("t"), _tainted("t")), (), {}, {}, None, f"2 {KEPT_AWAY}"),
    Case("tolerated by key", (_tainted("t", "1"),), (), {}, tolerates(_any("t")), 0),
    Case(
        "tolerated by value", (_tainted("t", "1"), _tainted("t", "2")), (), {}, tolerates({"key": "t", "value": "2"}), 1
    ),
    Case("another value", (_tainted("t", "1"),), (), {}, tolerates({"key": "t", "value": "2"}), None, f"1 {KEPT_AWAY}"),
    Case(
        "tolerated for its effect",
        (_tainted("t", effect="NoExecute"),),
        (),
        {},
        tolerates(_any("t", effect="NoExecute")),
        0,
    ),
    Case(
        "tolerated for another effect",
        (_tainted("t", effect="NoExecute"),),
        (),
        {},
        tolerates(_any("t", effect="NoSchedule")),
        None,
        f"1 {KEPT_AWAY}",
    ),
    Case(
        "tolerated for a time",
        (_tainted("t", effect="NoExecute"),),
        (),
        {},
        tolerates(_any("t", effect="NoExecute", tolerationSeconds=60)),
        0,
    ),
    Case(
        "one of two is tolerated",
        (Machine(taints=({"key": "t", "effect": "NoSchedule"}, {"key": "u", "effect": "NoSchedule"})),),
        (),
        {},
        tolerates(_any("t")),
        None,
        f"1 {KEPT_AWAY}",
    ),
    Case("everything is tolerated", (_tainted("t"),), (), {}, tolerates({"operator": "Exists"}), 0),
    Case("a soft taint keeps nobody away", (_tainted("t", effect="PreferNoSchedule"),), (), {}, {}, 0),
    Case(
        "told before affinity",
        (_tainted("t"), OPEN),
        (),
        {},
        {"nodeSelector": {"disk": "ssd"}},
        None,
        f"1 node(s) didn't match Pod's node affinity/selector, 1 {KEPT_AWAY}",
    ),
)

NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
SSD, HDD = Machine({"disk": "ssd"}), Machine({"disk": "hdd"})
GENERATIONS = tuple(Machine({"gen": str(number)}) for number in (1, 2, 3))


def needs(*terms: Spec) -> Spec:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def _field(operator: str, *names: str) -> Spec:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(names)}]}


AFFINITY = (
    Case("by selector", (HDD, SSD), (), {}, {"nodeSelector": {"disk": "ssd"}}, 1),
    Case("no node has the label", (HDD, OPEN), (), {}, {"nodeSelector": {"disk": "ssd"}}, None, f"2 {NO_MATCH}"),
    Case("in", (HDD, SSD), (), {}, needs(labelled("disk", "In", "ssd", "nvme")), 1),
    Case("not in", (HDD, SSD), (), {}, needs(labelled("disk", "NotIn", "hdd")), 1),
    Case("not in takes nodes without the label", (HDD, OPEN), (), {}, needs(labelled("disk", "NotIn", "hdd")), 1),
    Case("exists", (OPEN, SSD), (), {}, needs(labelled("disk", "Exists")), 1),
    Case("does not exist", (SSD, OPEN), (), {}, needs(labelled("disk", "DoesNotExist")), 1),
    Case("greater than", GENERATIONS, (), {}, needs(labelled("gen", "Gt", "2")), 2),
    Case("less than", GENERATIONS, (), {}, needs(labelled("gen", "Lt", "2")), 0),
    Case("one term is enough", GENERATIONS, (), {}, needs(labelled("gen", "In", "7"), labelled("gen", "In", "2")), 1),
    Case(
        "all of a term",
        (SSD, Machine({"disk": "ssd", "gen": "2"})),
        (),
        {},
        needs(
            {
                "matchExpressions": [
                    *labelled("disk", "In", "ssd")["matchExpressions"],
                    *labelled("gen", "Exists")["matchExpressions"],
                ]
            }
        ),
        1,
    ),
    Case(
        "selector and affinity",
        (SSD, Machine({"disk": "ssd", "gen": "2"})),
        (),
        {},
        {"nodeSelector": {"disk": "ssd"}, **needs(labelled("gen", "Exists"))},
        1,
    ),
    Case("by name", TWO, (), {}, needs(_field("In", "@n1")), 1),
    Case("not by name", TWO, (), {}, needs(_field("NotIn", "@n0")), 1),
    Case(
        "full where it must be",
        (SSD, HDD),
        (Running(0, cpu=8),),
        {},
        {"nodeSelector": {"disk": "ssd"}},
        None,
        f"1 Insufficient cpu, 1 {NO_MATCH}",
        cpu=1,
    ),
)

NO_PORT = "node(s) didn't have free ports for the requested pod ports"


def opens(port: int, protocol: str = "TCP", address: str = "", **more: Any) -> Spec:
    one = {"containerPort": port, "hostPort": port, "protocol": protocol, **({"hostIP": address} if address else {})}
    return {"containers": [{"name": "c", "image": "registry.example/none:1", "ports": [one]}], **more}


def _opened(at: int, port: int, protocol: str = "TCP", address: str = "") -> Running:
    return Running(at, spec=opens(port, protocol, address))


PORTS = (
    Case("the free one", TWO, (_opened(0, 80),), {}, opens(80), 1),
    Case("taken everywhere", TWO, (_opened(0, 80), _opened(1, 80)), {}, opens(80), None, f"2 {NO_PORT}"),
    Case("another port", (OPEN,), (_opened(0, 80),), {}, opens(81), 0),
    Case("another protocol", (OPEN,), (_opened(0, 80),), {}, opens(80, "UDP"), 0),
    Case("another address", (OPEN,), (_opened(0, 80, address="127.0.0.1"),), {}, opens(80, address="127.0.0.2"), 0),
    Case(
        "the same address",
        (OPEN,),
        (_opened(0, 80, address="127.0.0.1"),),
        {},
        opens(80, address="127.0.0.1"),
        None,
        f"1 {NO_PORT}",
    ),
    Case(
        "all addresses after one", (OPEN,), (_opened(0, 80, address="127.0.0.1"),), {}, opens(80), None, f"1 {NO_PORT}"
    ),
    Case("one address after all", (OPEN,), (_opened(0, 80),), {}, opens(80, address="127.0.0.1"), None, f"1 {NO_PORT}"),
    Case("on the host's network", (OPEN,), (_opened(0, 80),), {}, opens(80, hostNetwork=True), None, f"1 {NO_PORT}"),
    Case(
        "container ports take nothing",
        (OPEN,),
        (_opened(0, 80),),
        {},
        {"containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80}]}]},
        0,
    ),
    Case(
        "a port and no room",
        TWO,
        (_opened(0, 80), Running(1, cpu=8)),
        {},
        opens(80),
        None,
        f"1 Insufficient cpu, 1 {NO_PORT}",
        cpu=1,
    ),
    Case(
        "the second of two ports",
        (OPEN,),
        (_opened(0, 81),),
        {},
        {
            "containers": [
                {"name": "c", "image": "x", "ports": [{"containerPort": port, "hostPort": port} for port in (80, 81)]}
            ]
        },
        None,
        f"1 {NO_PORT}",
    ),
    Case(
        "of an init container nothing",
        (OPEN,),
        (_opened(0, 80),),
        {},
        {
            "containers": [{"name": "c", "image": "x"}],
            "initContainers": [{"name": "i", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}],
        },
        0,
    ),
)

GATED = "Scheduling is blocked due to non-empty scheduling gates"


def _gates(*names: str, **more: Any) -> Spec:
    return {"schedulingGates": [{"name": name} for name in names], **more}


def _gated(
    name: str, machines: tuple[Machine, ...], spec: Spec, running: tuple[Running, ...] = (), **more: Any
) -> Case:
    return Case(name, machines, running, {}, spec, None, GATED, is_whole=True, **more)


GATES = (
    _gated("one gate", TWO, _gates("example.com/a")),
    _gated("two gates", TWO, _gates("example.com/a", "example.com/b")),
    _gated("a gate on a full cluster", (OPEN,), _gates("example.com/a"), FULL, cpu=1),
    _gated("a gate and no node that matches", TWO, _gates("example.com/a", nodeSelector={"disk": "ssd"})),
    _gated("a gate and a taint", (_tainted("t"),), _gates("example.com/a")),
    _gated("a gate and a cordon", (CLOSED,), _gates("example.com/a")),
    _gated("a gate and a port", (OPEN,), _gates("example.com/a", **opens(80)), (_opened(0, 80),)),
    _gated(
        "a gate and a missing claim",
        TWO,
        _gates("example.com/a", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "none"}}]),
    ),
    _gated("a gate and a preference", (SSD, HDD), _gates("example.com/a", **needs(labelled("disk", "Exists")))),
    Case("no gates", TWO, (Running(0, cpu=1),), {}, _gates(), 1, cpu=1),
)
