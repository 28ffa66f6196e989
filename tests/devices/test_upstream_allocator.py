"""The allocator gives kube-scheduler's answers: every case of upstream's table is equal, or there is a reason why not."""

from collections import Counter

from tests.devices.upstream import Case, answer, cases, comparable

GATE_IS_ON = {
    "admin-access-disabled": "adminAccess works (DRAAdminAccess)",
    "binding-conditions-without-feature-gate": "devices with binding conditions are used (DRADeviceBindingConditions)",
    "consumable-capacity-disabled-feature": "capacity is asked for, no device has it (DRAConsumableCapacity)",
    "consumable-capacity-disabled-feature-with-prioritized-list": "the same in an alternative",
    "consumable-capacity-fractional-range-gate-disabled": "steps of thousandths work (DRAFractionalCapacityRange)",
    "partitionable-devices-disabled-other-device-do-not-consume-counters": "counters work (DRAPartitionableDevices)",
    "partitionable-devices-disabled-per-device-node-selection": "devices say which nodes reach them",
    "prioritized-list-disabled": "firstAvailable works (DRAPrioritizedList)",
    "tainted-admin-access-disabled": "taints exclude devices (DRADeviceTaints)",
    "tainted-all-devices-single-disabled": "taints exclude devices",
    "tainted-disabled": "taints exclude devices",
    "tainted-prioritized-list-disabled": "taints exclude devices",
}
"""These say what happens with a gate off that is on by default in Kubernetes 1.37."""

NOTHING_ASKED = {"empty", "no-claims-to-allocate"}
"""Without claims upstream's function has no answer, ours an empty one."""

ALPHA = {
    "DRADeviceCompatibilityGroups",
    "DRADerivedAttributes",
    "DRAListTypeAttributes",
    "DRAOptionalNodeOperations",
}
"""Gates that are off by default: what they bring is not used."""


def is_equal(case: Case) -> bool:
    found, text = answer(case), case["expectErrorContains"]
    if text is not None:
        return isinstance(found, str) and text in found
    if case["expectAllocations"] is None:
        return found is None
    return isinstance(found, list) and comparable(found) == comparable(case["expectAllocations"])


def test_every_case_is_answered_as_by_upstream_or_the_difference_is_known() -> None:
    counts: Counter[str] = Counter()
    for case in cases("allocator-cases.json"):
        name, gates = case["name"], set(case["features"])
        if is_equal(case):
            counts["equal"] += 1
        elif name in NOTHING_ASKED:
            counts["equal but for how nothing is said"] += 1
        elif name in GATE_IS_ON:
            counts["the gate is on in 1.37"] += 1
        else:
            assert gates & ALPHA, f"{name}: {answer(case)}"
            assert "incubating" not in case["variants"], name
            counts["alpha, refused"] += 1
    print(dict(counts))  # noqa: T201 (the counts are what is to be seen)
    assert counts["equal"] >= 233
    assert sum(counts.values()) == 273


def test_what_is_behind_an_alpha_gate_is_refused() -> None:
    for case in cases("allocator-cases.json"):
        if "incubating" in case["variants"] or is_equal(case):
            continue
        found = answer(case)
        assert found is None or isinstance(found, str), case["name"]
