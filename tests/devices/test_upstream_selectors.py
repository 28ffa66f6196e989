"""Selectors mean what they mean to Kubernetes: every case of upstream's table, as kube-scheduler compiles it."""

from collections import Counter

from api.device_selectors.rewrite import SelectorInvalid
from api.devices import Device
from scheduler.cache.devices.selectors import Contents, SelectorError, compile_selector
from tests.devices.upstream import Case, cases, typed

ONLY_WHEN_NEW = {
    "allow_multiple_allocations_disabled": "with a gate off that is on in 1.37",
    "includes-function-compilation-error": "the API server refuses includes() in what is new, stored expressions may use it",
    "macro-compilation-error-new-expressions": "the same for macros on attributes",
}
"""What the API server refuses in new claims; a scheduler compiles what is stored."""

OTHER_WORDS = {
    f"macro-exists-on-{kind}": "an error too: the value is no list" for kind in ("bool", "int", "string", "version")
}


def outcome(case: Case) -> tuple[str, str | bool]:
    device = typed(
        {
            "name": "d",
            "attributes": case.get("attributes"),
            "capacity": case.get("capacity"),
            "allowMultipleAllocations": case.get("allowMultipleAllocations"),
        },
        Device,
    )
    try:
        return ("match", compile_selector(case["expression"]).matches(Contents().of(case.get("driver") or "", device)))
    except SelectorInvalid as error:
        return ("compile error", str(error))
    except SelectorError as error:
        return ("error", str(error))


def is_equal(case: Case) -> bool:
    kind, found = outcome(case)
    for wanted, text in (
        ("compile error", case.get("expectCompileErrorContains")),
        ("error", case.get("expectMatchErrorContains")),
    ):
        if text:
            return kind == wanted and text in str(found)
    return (kind, found) == ("match", case.get("expectMatch", False))


def test_every_case_is_answered_as_by_upstream_or_the_difference_is_known() -> None:
    counts: Counter[str] = Counter()
    for case in cases("cel-cases.json"):
        name = case["name"]
        if is_equal(case):
            counts["equal"] += 1
        elif name in OTHER_WORDS:
            assert outcome(case)[0] == "error", name
            counts["an error in other words"] += 1
        else:
            assert name in ONLY_WHEN_NEW, f"{name}: {outcome(case)}"
            counts["only for what is new"] += 1
    print(dict(counts))  # noqa: T201 (the counts are what is to be seen)
    assert counts["equal"] >= 64
    assert sum(counts.values()) == 71
