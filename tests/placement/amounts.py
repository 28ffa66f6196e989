"""NodeResourcesFit with each of its strategies, and NodeResourcesBalancedAllocation."""

from typing import Any

from tests.placement.case import Case, Machine, Running, Spec
from verify.clusters.profiles import GPU

TWO = (Machine(), Machine())
SMALL, LARGE = Machine(cpu=2), Machine(cpu=16)
NO_CPU, NO_MEMORY = "Insufficient cpu", "Insufficient memory"


def _gpus(*counts: int) -> tuple[Machine, ...]:
    return tuple(Machine(more={GPU: str(count)} if count else {}) for count in counts)


def _asks(at: int, **requests: str) -> Running:
    return Running(at, requests=requests)


def _gpu(at: int, count: int) -> Running:
    return Running(at, requests={GPU: str(count)})


def _containers(*requests: dict[str, str], init: tuple[dict[str, Any], ...] = (), **more: Any) -> Spec:
    image = "registry.example/none:1"
    spec: Spec = {
        "containers": [
            {"name": f"c{number}", "image": image, "resources": {"requests": asked}}
            for number, asked in enumerate(requests)
        ]
    }
    if init:
        spec["initContainers"] = [{"name": f"i{number}", "image": image, **one} for number, one in enumerate(init)]
    return spec | more


def _init(cpu: str, *, stays: bool = False) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}, **({"restartPolicy": "Always"} if stays else {})}


FIT = (
    Case("it fits", TWO, (Running(0, cpu=8),), {}, {}, 1, cpu=1),
    Case("too little CPU", TWO, (), {}, {}, None, f"2 {NO_CPU}", cpu=9),
    Case("too little memory", TWO, (), {}, {}, None, f"2 {NO_MEMORY}", requests={"memory": "65Gi"}),
    Case(
        "too little of both",
        (Machine(),),
        (),
        {},
        {},
        None,
        f"1 {NO_CPU}, 1 {NO_MEMORY}",
        cpu=9,
        requests={"memory": "65Gi"},
    ),
    Case(
        "of each something on another node",
        (SMALL, Machine(memory=1)),
        (),
        {},
        {},
        None,
        f"1 {NO_CPU}, 1 {NO_MEMORY}",
        cpu=4,
        requests={"memory": "4Gi"},
    ),
    Case("exactly what is free", (Machine(),), (Running(0, cpu=5),), {}, {}, 0, cpu=3),
    Case("a resource that nobody has", TWO, (), {}, {}, None, f"2 Insufficient {GPU}", requests={GPU: "1"}),
    Case("a resource that one has", _gpus(0, 2), (), {}, {}, 1, requests={GPU: "1"}),
    Case(
        "a resource that is used up",
        _gpus(2, 2),
        (_gpu(0, 1), _gpu(1, 2)),
        {},
        {},
        None,
        f"2 Insufficient {GPU}",
        requests={GPU: "2"},
    ),
    Case("too many pods", (Machine(pods=1),), (Running(0),), {}, {}, None, "1 Too many pods"),
    Case("no pods at all", (Machine(pods=0), Machine()), (), {}, {}, 1),
    Case("nothing asked for fits on a full node", (Machine(),), (Running(0, cpu=8),), {}, {}, 0),
    Case(
        "local storage",
        (Machine(more={"ephemeral-storage": "10Gi"}), Machine(more={"ephemeral-storage": "30Gi"})),
        (),
        {},
        {},
        1,
        requests={"ephemeral-storage": "20Gi"},
    ),
    Case("containers add up", (Machine(),), (), {}, _containers({"cpu": "5"}, {"cpu": "4"}), None, f"1 {NO_CPU}"),
    Case(
        "init containers do not add up",
        (Machine(),),
        (),
        {},
        _containers({"cpu": "5"}, init=(_init("7"), _init("8"))),
        0,
    ),
    Case(
        "an init container is too large",
        (Machine(),),
        (),
        {},
        _containers({"cpu": "1"}, init=(_init("9"),)),
        None,
        f"1 {NO_CPU}",
    ),
    Case(
        "sidecars add up",
        (Machine(),),
        (),
        {},
        _containers({"cpu": "5"}, init=(_init("4", stays=True),)),
        None,
        f"1 {NO_CPU}",
    ),
    Case(
        "sidecars before an init container",
        (Machine(),),
        (),
        {},
        _containers({"cpu": "1"}, init=(_init("2", stays=True), _init("7"))),
        None,
        f"1 {NO_CPU}",
    ),
    Case(
        "of the pod as a whole",
        (Machine(),),
        (),
        {},
        _containers({"cpu": "1"}, resources={"requests": {"cpu": "9"}}),
        None,
        f"1 {NO_CPU}",
    ),
)

LEAST = (
    Case("the empty one", TWO, (Running(0, cpu=1),), {}, {}, 1, cpu=1),
    Case("the larger one", (SMALL, LARGE), (), {}, {}, 1, cpu=1),
    Case("less CPU in use", TWO, (Running(0, cpu=3), Running(1, cpu=2)), {}, {}, 1, cpu=1),
    Case(
        "less memory in use",
        TWO,
        (_asks(0, memory="20Gi"), _asks(1, memory="8Gi")),
        {},
        {},
        1,
        requests={"memory": "1Gi"},
    ),
    Case("pods that ask for nothing count a little", TWO, (Running(0), Running(0), Running(0)), {}, {}, 1, cpu=1),
    Case(
        "shares count, not amounts", (Machine(cpu=4), LARGE), (Running(0, cpu=1), Running(1, cpu=3)), {}, {}, 1, cpu=1
    ),
    Case("GPUs count when asked for", _gpus(8, 8), (_gpu(0, 4),), {}, {}, 1, requests={GPU: "1"}, profile="least-gpus"),
    Case(
        "GPUs do not count otherwise",
        _gpus(8, 8),
        (_gpu(1, 8), Running(0, cpu=2)),
        {},
        {},
        1,
        cpu=1,
        profile="least-gpus",
    ),
    Case(
        "GPUs weigh more than CPU",
        _gpus(8, 8),
        (_gpu(0, 2), Running(1, cpu=4)),
        {},
        {},
        1,
        requests={GPU: "1"},
        profile="least-gpus",
    ),
    Case("more GPUs", _gpus(4, 16), (), {}, {}, 1, requests={GPU: "2"}, profile="least-gpus"),
    Case("a full one is no choice", (LARGE, SMALL), (Running(0, cpu=16),), {}, {}, 1, cpu=1),
)


def _even(at: int, cpu: int) -> Running:
    """Takes the same share of CPU and memory of a usual node, so that balance does not matter."""
    return _asks(at, cpu=str(cpu), memory=f"{8 * cpu}Gi")


EVEN = {"cpu": "1", "memory": "8Gi"}
QUARTER = Machine(cpu=2, memory=16)
DOUBLE = Machine(cpu=16, memory=128)

MOST = (
    Case("the used one", TWO, (_even(1, 1),), {}, {}, 1, requests=EVEN, profile="packed"),
    Case("the smaller one", (DOUBLE, QUARTER), (), {}, {}, 1, requests=EVEN, profile="packed"),
    Case("more in use", TWO, (_even(0, 2), _even(1, 3)), {}, {}, 1, requests=EVEN, profile="packed"),
    Case("the used one, if it fits", TWO, (_even(0, 8), _even(1, 1)), {}, {}, 1, requests=EVEN, profile="packed"),
    Case(
        "shares count, not amounts",
        (DOUBLE, QUARTER),
        (_even(0, 4), _even(1, 1)),
        {},
        {},
        1,
        requests=EVEN,
        profile="packed",
    ),
    Case("nearly full", TWO, (_even(0, 3), _even(1, 7)), {}, {}, 1, requests=EVEN, profile="packed"),
    Case(
        "many small ones",
        TWO,
        (_even(0, 2), _even(1, 1), _even(1, 1), _even(1, 1)),
        {},
        {},
        1,
        requests=EVEN,
        profile="packed",
    ),
    Case("GPUs in use", _gpus(8, 8), (_gpu(1, 4),), {}, {}, 1, requests={GPU: "2"}, profile="packed-gpus"),
    Case(
        "GPUs weigh more than CPU",
        _gpus(8, 8),
        (_even(0, 4), _gpu(1, 4)),
        {},
        {},
        1,
        requests={GPU: "1", **EVEN},
        profile="packed-gpus",
    ),
    Case(
        "GPUs do not count for others",
        _gpus(8, 8),
        (_gpu(0, 8), _even(1, 4)),
        {},
        {},
        1,
        requests=EVEN,
        profile="packed-gpus",
    ),
    Case("fewer GPUs", _gpus(16, 4), (), {}, {}, 1, requests={GPU: "2"}, profile="packed-gpus"),
    Case(
        "a small one that is too small",
        (QUARTER, DOUBLE),
        (_even(0, 1),),
        {},
        {},
        1,
        requests={"cpu": "4", "memory": "32Gi"},
        profile="packed",
    ),
)

RATIO = (
    Case("the used one", TWO, (_even(1, 2),), {}, {}, 1, requests=EVEN, profile="rising"),
    Case("the smaller one", (DOUBLE, QUARTER), (), {}, {}, 1, requests=EVEN, profile="rising"),
    Case("more in use", TWO, (_even(0, 1), _even(1, 4)), {}, {}, 1, requests=EVEN, profile="rising"),
    Case("nearly full", TWO, (_even(0, 3), _even(1, 7)), {}, {}, 1, requests=EVEN, profile="rising"),
    Case("the used one, if it fits", TWO, (_even(0, 8), _even(1, 1)), {}, {}, 1, requests=EVEN, profile="rising"),
    Case(
        "GPUs up to the top of the hill",
        _gpus(10, 10),
        (_gpu(0, 1), _gpu(1, 3)),
        {},
        {},
        1,
        requests={GPU: "1"},
        profile="hill",
    ),
    Case(
        "GPUs beyond the top of the hill",
        _gpus(10, 10),
        (_gpu(0, 8), _gpu(1, 4)),
        {},
        {},
        1,
        requests={GPU: "1"},
        profile="hill",
    ),
    Case(
        "either side of the hill",
        _gpus(10, 10),
        (_gpu(0, 8), _gpu(1, 2)),
        {},
        {},
        1,
        requests={GPU: "1"},
        profile="hill",
    ),
    Case("no GPUs asked for", _gpus(10, 10), (_gpu(0, 3), _even(1, 2)), {}, {}, 1, requests=EVEN, profile="hill"),
    Case("a larger share of fewer GPUs", _gpus(20, 5), (), {}, {}, 1, requests={GPU: "2"}, profile="hill"),
)

BALANCE = (
    Case(
        "what evens out",
        TWO,
        (_asks(0, cpu="4"), _asks(1, memory="32Gi")),
        {},
        {},
        1,
        requests={"cpu": "4"},
        profile="balanced",
    ),
    Case(
        "what evens out, the other way",
        TWO,
        (_asks(0, memory="32Gi"), _asks(1, cpu="4")),
        {},
        {},
        1,
        requests={"memory": "32Gi"},
        profile="balanced",
    ),
    Case(
        "an uneven node",
        (Machine(memory=8), Machine()),
        (),
        {},
        {},
        1,
        requests={"cpu": "1", "memory": "8Gi"},
        profile="balanced",
    ),
    Case(
        "the change counts, not the state",
        TWO,
        (_even(0, 4), _asks(1, memory="24Gi")),
        {},
        {},
        1,
        requests={"cpu": "2"},
        profile="balanced",
    ),
    Case("with GPUs", _gpus(8, 8), (_gpu(0, 4), _even(1, 4)), {}, {}, 1, requests={GPU: "4"}, profile="balanced"),
    Case(
        "GPUs that are not asked for do not count",
        _gpus(8, 8),
        (_gpu(0, 7), _asks(1, memory="32Gi")),
        {},
        {},
        1,
        cpu=2,
        profile="balanced",
    ),
    Case(
        "fewer GPUs are more uneven",
        _gpus(2, 16),
        (),
        {},
        {},
        1,
        requests={GPU: "2", "cpu": "1", "memory": "8Gi"},
        profile="balanced",
    ),
    Case(
        "in the default profile",
        TWO,
        (_asks(0, cpu="2", memory="2Gi"), _asks(1, cpu="1", memory="10Gi")),
        {},
        {},
        1,
        cpu=1,
    ),
    Case(
        "room decides where the change is the same",
        TWO,
        (_asks(0, cpu="3", memory="24Gi"), _asks(1, cpu="4", memory="4Gi")),
        {},
        {},
        1,
        cpu=1,
    ),
    Case(
        "what evens out, in the default profile",
        TWO,
        (_asks(0, cpu="4"), _asks(1, memory="32Gi")),
        {},
        {},
        1,
        requests={"cpu": "2"},
    ),
    Case(
        "three resources",
        _gpus(4, 4),
        (_asks(0, cpu="6"), _asks(1, memory="16Gi")),
        {},
        {},
        1,
        requests={GPU: "2", "cpu": "3"},
        profile="balanced",
    ),
)

WEIGHTS = (
    Case(
        "a soft taint does not matter",
        (Machine(), Machine(taints=({"key": "s", "effect": "PreferNoSchedule"},))),
        (Running(0, cpu=2),),
        {},
        {},
        1,
        cpu=1,
        profile="near",
    ),
)
