"""The scores about nodes: preferred node affinity, soft taints, images."""

from tests.placement.case import Case, Machine, Running, even, labelled, prefers, selector, spread

SSD, HDD = Machine({"disk": "ssd"}), Machine({"disk": "hdd"})
GENERATIONS = tuple(Machine({"gen": str(number)}) for number in (1, 2, 3))
WANTS_SSD = labelled("disk", "In", "ssd")

PREFERRED_NODES = (
    Case("the one it prefers", (HDD, SSD), (), {}, prefers((10, WANTS_SSD)), 1),
    Case("the heavier wish", (HDD, SSD), (), {}, prefers((10, WANTS_SSD), (20, labelled("disk", "In", "hdd"))), 0),
    Case(
        "two light ones are heavier",
        (Machine({"a": "1"}), Machine({"b": "1", "c": "1"})),
        (),
        {},
        prefers((30, labelled("a", "Exists")), (20, labelled("b", "Exists")), (20, labelled("c", "Exists"))),
        1,
    ),
    Case("greater than", GENERATIONS, (), {}, prefers((1, labelled("gen", "Gt", "2"))), 2),
    Case("less than", GENERATIONS, (), {}, prefers((1, labelled("gen", "Lt", "2"))), 0),
    Case("not in", GENERATIONS, (), {}, prefers((1, labelled("gen", "NotIn", "1", "3"))), 1),
    Case("does not exist", (SSD, Machine()), (), {}, prefers((1, labelled("disk", "DoesNotExist"))), 1),
    Case("a wish beats free room", (HDD, SSD), (Running(1, cpu=4),), {}, prefers((1, WANTS_SSD)), 1),
    Case("a wish does not open a full node", (HDD, SSD), (Running(1, cpu=8),), {}, prefers((100, WANTS_SSD)), 0, cpu=1),
    Case(
        "all requirements of a wish",
        (Machine({"disk": "ssd"}), Machine({"disk": "ssd", "gen": "2"})),
        (),
        {},
        prefers(
            (1, {"matchExpressions": [*WANTS_SSD["matchExpressions"], *labelled("gen", "Exists")["matchExpressions"]]})
        ),
        1,
    ),
    Case(
        "a wish against a soft taint",
        (HDD, Machine({"disk": "ssd"}, taints=({"key": "t", "effect": "PreferNoSchedule"},))),
        (),
        {},
        prefers((100, WANTS_SSD)),
        0,
    ),
    Case(
        "a wish against evenness and room",
        (Machine({"zone": "x", "disk": "ssd"}), Machine({"zone": "y"})),
        (Running(0, {"app": "a"}), Running(0, cpu=2)),
        {"app": "a"},
        prefers((1, WANTS_SSD)) | spread(even(selector(app="a"), hard=False)),
        1,
    ),
)


def _soft(key: str, value: str = "") -> dict[str, str]:
    return {"key": key, "effect": "PreferNoSchedule", **({"value": value} if value else {})}


ONE, TWO, CLEAN = Machine(taints=(_soft("s"),)), Machine(taints=(_soft("s"), _soft("t"))), Machine()


def _tolerates(**toleration: str) -> dict[str, object]:
    return {"tolerations": [toleration]}


SOFT_TAINTS = (
    Case("the clean one", (ONE, CLEAN), (), {}, {}, 1),
    Case("the one with fewer", (TWO, ONE), (), {}, {}, 1),
    Case("tolerated by key", (Machine(taints=(_soft("t"),)), ONE), (), {}, _tolerates(key="s", operator="Exists"), 1),
    Case(
        "tolerated by value",
        (Machine(taints=(_soft("s", "1"),)), Machine(taints=(_soft("s", "2"),))),
        (),
        {},
        _tolerates(key="s", operator="Equal", value="2"),
        1,
    ),
    Case(
        "tolerated for its effect",
        (TWO, ONE),
        (),
        {},
        _tolerates(key="s", operator="Exists", effect="PreferNoSchedule"),
        1,
    ),
    Case(
        "a toleration of another effect is none",
        (ONE, CLEAN),
        (),
        {},
        _tolerates(key="s", operator="Exists", effect="NoSchedule"),
        1,
    ),
    Case(
        "everything is tolerated, so room decides",
        (CLEAN, TWO),
        (Running(0, cpu=2),),
        {},
        _tolerates(operator="Exists"),
        1,
    ),
    Case("a taint beats free room", (ONE, CLEAN), (Running(1, cpu=6),), {}, {}, 1, cpu=1),
    Case(
        "a taint beats a preference",
        (CLEAN, Machine({"disk": "ssd"}, taints=(_soft("s"),))),
        (),
        {},
        prefers((100, WANTS_SSD)),
        0,
    ),
    Case("hard ones decide before", (Machine(taints=({"key": "h", "effect": "NoSchedule"},)), TWO), (), {}, {}, 1),
    Case(
        "one of two is tolerated",
        (TWO, Machine(taints=(_soft("t"), _soft("u")))),
        (),
        {},
        _tolerates(key="s", operator="Exists"),
        0,
    ),
)

IMAGE = "registry.example/trainer:1"


def _holds(*images: tuple[str, int]) -> Machine:
    return Machine(images=images)


def _runs(*images: str) -> dict[str, object]:
    return {"containers": [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]}


IMAGES = (
    Case("the one that has it", (CLEAN, _holds((IMAGE, 900))), (), {}, _runs(IMAGE), 1),
    Case(
        "latest is what has no tag",
        (CLEAN, _holds(("registry.example/x:latest", 900))),
        (),
        {},
        _runs("registry.example/x"),
        1,
    ),
    Case(
        "a port is no tag",
        (CLEAN, _holds(("registry.example:5000/x:latest", 900))),
        (),
        {},
        _runs("registry.example:5000/x"),
        1,
    ),
    Case("the larger one", (_holds(("a:1", 200)), _holds(("b:1", 900))), (), {}, _runs("a:1", "b:1"), 1),
    Case("both beat one", (_holds(("a:1", 900)), _holds(("a:1", 900), ("b:1", 900))), (), {}, _runs("a:1", "b:1"), 1),
    Case("a small one does not count", (CLEAN, _holds((IMAGE, 20))), (Running(1, cpu=2),), {}, _runs(IMAGE), 0),
    Case(
        "another tag is another image",
        (_holds(("registry.example/trainer:2", 900)), CLEAN),
        (Running(0, cpu=2),),
        {},
        _runs(IMAGE),
        1,
    ),
    Case(
        "by digest",
        (CLEAN, _holds(("registry.example/x@sha256:" + "0" * 64, 900))),
        (),
        {},
        _runs("registry.example/x@sha256:" + "0" * 64),
        1,
    ),
    Case(
        "a common one counts more than a rare one",
        (_holds(("a:1", 500)), _holds(("b:1", 500)), _holds(("b:1", 500))),
        (Running(1, cpu=1),),
        {},
        _runs("a:1", "b:1"),
        2,
    ),
    Case("room beats a middling image", (_holds((IMAGE, 120)), CLEAN), (Running(0, cpu=6),), {}, _runs(IMAGE), 1),
    Case("an image beats a little room", (_holds((IMAGE, 1000)), CLEAN), (Running(0, cpu=1),), {}, _runs(IMAGE), 0),
)
