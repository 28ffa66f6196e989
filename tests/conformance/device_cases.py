"""Claims of single pods, which two schedulers answer one after the other on clusters alike: the scenarios of devices, pod by pod.

A case sets up devices and asks about pods, one at a time; those that got a place stay. An answer is the node, or none.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.devices import TOLERATES_SICK, Devices, device, named, own

Object = dict[str, Any]

NOWHERE = ""
SOMEWHERE = "somewhere"
"""Several nodes are right: schedulers choose among equals as they like."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One pod: its claims, more of it, and the right answer; `waits` when a claim of it is not there, which stock does not tell."""

    claims: tuple[Object, ...]
    answer: str
    waits: bool = False
    more: Object = field(default_factory=dict)


def asked(answer: str, *claims: Object, waits: bool = False, **more: Any) -> Asked:
    """A pod with these claims, and where it should be."""
    return Asked(claims, answer, waits, more)


@dataclass(frozen=True, slots=True)
class DeviceCase:
    """What there is, and what is asked."""

    name: str
    set_up: Callable[[Devices], None]
    asked: tuple[Asked, ...]


def base(devices: Devices) -> None:
    """The devices of the scenarios; three nodes are there."""
    devices.offer_base()


def with_template(*requests: str, **more: Any) -> Callable[[Devices], None]:
    """The base, and a template `x` of one request: how many devices that these selectors accept."""
    count = more.pop("count", 1)
    constraints = more.pop("constraints", ())

    def set_up(devices: Devices) -> None:
        base(devices)
        devices.template("x", devices.request("r", count, *requests, **more), constraints=constraints)

    return set_up


def shared(devices: Devices) -> None:
    base(devices)
    devices.claim("shared")


def shared_and_own(devices: Devices) -> None:
    base(devices)
    devices.add_class("nic")
    devices.offer("nics", "p0", node="n1", driver="nic")
    devices.claim("shared", devices.request(of="nic"))


def tainted_by_rule(devices: Devices) -> None:
    base(devices)
    devices.taint("rule", pool="n1")


def claims_that_are_not_right(devices: Devices) -> None:
    base(devices)
    devices.claim("leaving")
    devices.api.patch(
        "resourceclaims", "leaving", {"metadata": {"finalizers": ["example.com/keep"]}}, devices.namespace
    )
    devices.api.delete("resourceclaims", "leaving", devices.namespace)


def missing_class(devices: Devices) -> None:
    base(devices)
    devices.template("x", devices.request(of="nothing"))


def part_of_a_pool(devices: Devices) -> None:
    devices.add_class()
    devices.offer("n1", "g0", number=0, slices=2)
    devices.template("one", devices.request())
    devices.template("all", devices.request(allocationMode="All"))


def name_twice_in_another_pool(devices: Devices) -> None:
    base(devices)
    devices.add_class("broken")
    for number in range(2):
        devices.offer("twice", "x0", node="n1", driver="broken", number=number, slices=2)
    devices.template("broken", devices.request(of="broken"))


def fast_or_slow(devices: Devices) -> None:
    for name in ("fast", "slow"):
        devices.add_class(name)
    devices.offer("n3", "f0", driver="fast")
    devices.offer("n1", "s0", "s1", driver="slow")
    either = devices.first_of("r", devices.request("fast", 1, of="fast"), devices.request("slow", 2, of="slow"))
    devices.template("either", either)


def all_of_n2(devices: Devices) -> None:
    base(devices)
    devices.template("healthy", devices.request("r", allocationMode="All"))
    devices.template("all", devices.request("r", allocationMode="All", tolerations=[TOLERATES_SICK]))


def shareable(devices: Devices) -> None:
    devices.add_class("nic")
    policy = {"default": "1", "validRange": {"min": "1", "step": "2"}}
    capacity = {"bandwidth": {"value": "10", "requestPolicy": policy}}
    nic = {"name": "port", "allowMultipleAllocations": True, "capacity": capacity}
    devices.offer("n1", nic, driver="nic")
    for name, amount in (("four", "4"), ("six", "6"), ("default", "")):
        requests = {"capacity": {"requests": {"bandwidth": amount}}} if amount else {}
        devices.template(name, devices.request("r", 1, of="nic", **requests))


def partitions(devices: Devices) -> None:
    devices.add_class()

    def part(name: str, gibibytes: int, size: str) -> Object:
        counters = [{"counterSet": "card", "counters": {"memory": {"value": f"{gibibytes}Gi"}}}]
        return {**device(name, size=size), "consumesCounters": counters}

    card = [{"name": "card", "counters": {"memory": {"value": "80Gi"}}}]
    devices.offer("n1", number=0, slices=2, sharedCounters=card)
    parts = [part("full", 80, "full"), part("half0", 40, "half"), part("half1", 40, "half")]
    devices.offer("n1", *parts, number=1, slices=2)
    for size in ("full", "half"):
        devices.template(size, devices.request("r", 1, f'device.attributes["{{driver}}"].size == "{size}"'))


def fabric(devices: Devices) -> None:
    devices.add_class("net")
    devices.offer("fabric", "f0", driver="net", allNodes=True)
    devices.claim("shared", devices.request(of="net"))


def allocated_by_hand(devices: Devices) -> None:
    base(devices)
    devices.claim("c")
    devices.allocate("c", "n1", "g1")


def never_ready(devices: Devices) -> None:
    devices.add_class()
    conditions = {"bindingConditions": ["example.com/ready"], "bindingFailureConditions": ["example.com/broken"]}
    devices.offer("fabric", {"name": "f0", "bindsToNode": True, **conditions}, allNodes=True)
    devices.template("t", devices.request())


def extended_resource(devices: Devices) -> None:
    devices.add_class(extendedResourceName=devices.extended_resource)
    devices.offer("n1", "g0", "g1", "g2")


def administrators(devices: Devices) -> None:
    labels = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
    devices.api.patch("namespaces", devices.namespace, labels)
    devices.add_class()
    devices.offer("n1", "g0")
    devices.template("t", devices.request())
    devices.template("watch", devices.request(adminAccess=True))


def devices_of_some_nodes(devices: Devices) -> None:
    devices.add_class()
    term = {"matchExpressions": [{"key": "short", "operator": "In", "values": ["n2", "n3"]}]}
    devices.offer("rack", "g0", "g1", nodeSelector={"nodeSelectorTerms": [term]})
    devices.template("t", devices.request())


def outdated_pool(devices: Devices) -> None:
    devices.add_class()
    devices.offer("n1", "g0", "g1", generation=1)
    devices.offer("n1", "g0", generation=2)
    devices.template("pair", devices.request("r", 2))
    devices.template("t", devices.request())


def many(devices: Devices) -> None:
    devices.add_class()
    devices.offer("n1", *(f"g{number}" for number in range(40)))
    devices.template("33", devices.request("r", 33))
    devices.template("32", devices.request("r", 32))


def several_claims(devices: Devices) -> None:
    base(devices)
    devices.template("two-requests", devices.request("a"), devices.request("b"))
    devices.template(
        "two-alike", devices.request("a"), devices.request("b"), constraints=[{"matchAttribute": "{driver}/numa"}]
    )


def qualified_capacity(devices: Devices) -> None:
    devices.add_class()
    devices.offer("n1", {"name": "g0", "capacity": {"memory": {"value": "40Gi"}}})
    devices.offer("n2", {"name": "g0", "capacity": {"memory": {"value": "80Gi"}}})
    for name, ask in (("short", "memory"), ("long", f"{devices.driver()}/memory")):
        devices.template(name, devices.request("r", capacity={"requests": {ask: "60Gi"}}))
    devices.template(
        "selected", devices.request("r", 1, 'device.capacity["{driver}"].memory.compareTo(quantity("60Gi")) > 0')
    )


MODEL = 'device.attributes["{driver}"].model == '
NUMA = "{driver}/numa"
IDLE = "23: allocated on n1, and nobody uses it"

CASES = (
    DeviceCase(
        "01 and 02: five with a device each, where there are four",
        base,
        (*(asked(SOMEWHERE, own("t")),) * 4, asked(NOWHERE, own("t"))),
    ),
    DeviceCase(
        "03: full, and nobody leaves",
        base,
        (*(asked(n, own("t"), on=n) for n in ("n1", "n1", "n2", "n2")), asked(NOWHERE, own("t"))),
    ),
    DeviceCase(
        "04: one claim for three",
        shared,
        (asked("n1", named("shared"), on="n1"), asked("n1", named("shared")), asked("n1", named("shared"))),
    ),
    DeviceCase(
        "05: one claim where not all fit",
        shared,
        (asked("n1", named("shared"), on="n1", cpu="9"), asked(NOWHERE, named("shared"), cpu="9")),
    ),
    DeviceCase(
        "06: a shared claim before an own one",
        shared_and_own,
        (
            asked("n1", named("shared"), own("t")),
            asked("n1", named("shared"), own("t")),
            asked(NOWHERE, named("shared"), own("t")),
        ),
    ),
    DeviceCase(
        "07: two alike in numa",
        with_template(count=2, constraints=[{"matchAttribute": NUMA}]),
        (asked("n2", own("x")), asked(NOWHERE, own("x"))),
    ),
    DeviceCase(
        "08: two that differ in numa",
        with_template(count=2, constraints=[{"distinctAttribute": NUMA}]),
        (asked("n1", own("x")), asked(NOWHERE, own("x"))),
    ),
    DeviceCase("09: sick, not tolerated", with_template(MODEL + '"h100"'), (asked(NOWHERE, own("x")),)),
    DeviceCase(
        "09: sick, tolerated",
        with_template(MODEL + '"h100"', tolerations=[TOLERATES_SICK]),
        (asked("n2", own("x")), asked(NOWHERE, own("x"))),
    ),
    DeviceCase("10: tainted by a rule", tainted_by_rule, (asked(NOWHERE, own("t"), on="n1"), asked("n2", own("t")))),
    DeviceCase("11: no template", base, (asked(NOWHERE, own("later"), waits=True),)),
    DeviceCase(
        "12: no claim, or one that goes",
        claims_that_are_not_right,
        (asked(NOWHERE, named("missing"), waits=True), asked(NOWHERE, named("leaving"), waits=True)),
    ),
    DeviceCase("13: no class", missing_class, (asked(NOWHERE, own("x")),)),
    DeviceCase(
        "14: a pool of which a slice is missing",
        part_of_a_pool,
        (asked(NOWHERE, own("one")), asked(NOWHERE, own("all"))),
    ),
    DeviceCase(
        "15: a name twice in another pool",
        name_twice_in_another_pool,
        (asked("n1", own("t"), on="n1"), asked(NOWHERE, own("broken")), asked("n1", own("t"), on="n1")),
    ),
    DeviceCase(
        "16: a selector that asks for what no device has",
        with_template('device.attributes["{driver}"].nothing == 1'),
        (asked(NOWHERE, own("x")),),
    ),
    DeviceCase(
        "17: fast, or else slow",
        fast_or_slow,
        (asked("n3", own("either")), asked("n1", own("either")), asked(NOWHERE, own("either"))),
    ),
    DeviceCase(
        "18: all of n2, one of which is sick",
        all_of_n2,
        (
            asked(NOWHERE, own("healthy"), on="n2"),
            asked("n2", own("all"), on="n2"),
            asked(NOWHERE, own("all"), on="n2"),
        ),
    ),
    DeviceCase(
        "18: all of n2, one of which is used",
        all_of_n2,
        (asked("n2", own("t"), on="n2"), asked(NOWHERE, own("all"), on="n2")),
    ),
    DeviceCase(
        "19: shares of a device",
        shareable,
        (asked("n1", own("four")), asked(NOWHERE, own("six")), asked("n1", own("default"))),
    ),
    DeviceCase(
        "20: halves, then the whole",
        partitions,
        (asked("n1", own("half")), asked("n1", own("half")), asked(NOWHERE, own("full"))),
    ),
    DeviceCase("20: the whole, then halves", partitions, (asked("n1", own("full")), asked(NOWHERE, own("half")))),
    DeviceCase(
        "22: a device of all nodes", fabric, tuple(asked(SOMEWHERE, named("shared"), cpu="9") for _ in range(3))
    ),
    DeviceCase(
        "23: allocated on n1", allocated_by_hand, (asked("n1", named("c")), asked(NOWHERE, named("c"), on="n2"))
    ),
    DeviceCase(IDLE, allocated_by_hand, (asked("n2", named("c"), on="n2"),)),
    DeviceCase("21: a device that nobody prepares", never_ready, (asked(NOWHERE, own("t"), waits=True),)),
    DeviceCase(
        "24: an extended resource",
        extended_resource,
        (asked("n1", acc=2), asked(NOWHERE, acc=2), asked("n1", acc=1)),
    ),
    DeviceCase(
        "an administrator looks at a device that is used",
        administrators,
        (asked("n1", own("t")), asked("n1", own("watch")), asked(NOWHERE, own("t"))),
    ),
    DeviceCase(
        "devices of the nodes of a selector",
        devices_of_some_nodes,
        (
            asked(NOWHERE, own("t"), on="n1"),
            asked("n2", own("t"), on="n2"),
            asked("n3", own("t"), on="n3"),
            asked(NOWHERE, own("t")),
        ),
    ),
    DeviceCase("a pool that is replaced", outdated_pool, (asked(NOWHERE, own("pair")), asked("n1", own("t")))),
    DeviceCase("33 devices in one claim", many, (asked(NOWHERE, own("33")), asked("n1", own("32")))),
    DeviceCase(
        "two requests, alike or not",
        several_claims,
        (
            asked(NOWHERE, own("two-alike"), on="n1"),
            asked("n1", own("two-requests"), on="n1"),
            asked("n2", own("two-alike")),
            asked(NOWHERE, own("t")),
        ),
    ),
    DeviceCase(
        "capacity by its short and its long name",
        qualified_capacity,
        (asked("n2", own("short")), asked(NOWHERE, own("long")), asked(NOWHERE, own("selected"))),
    ),
)
