"""What pods ask for and nodes give, computed anew from the Kubernetes documentation; shares nothing with the product."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

Object = dict[str, Any]
Amounts = dict[str, Fraction]

SUFFIXES = {
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
}


def amount(quantity: str) -> Fraction:
    """A quantity as an exact number: `250m` is a quarter."""
    for suffix, factor in SUFFIXES.items():
        if quantity.endswith(suffix):
            return Fraction(quantity.removesuffix(suffix)) * factor
    return Fraction(quantity)


def amounts(quantities: Mapping[str, Any] | None) -> Amounts:
    """A mapping of quantities as exact numbers."""
    return {name: amount(str(value)) for name, value in (quantities or {}).items()}


def pod_amounts(spec: Object) -> Amounts:
    """What a pod takes of a node: containers and sidecars together, or the largest moment of its start-up; one pod slot."""
    regular = total(_requests(each) for each in spec.get("containers", []))
    sidecars: Amounts = {}
    start_up: Amounts = {}
    for each in spec.get("initContainers", []):
        if each.get("restartPolicy") == "Always":
            sidecars = total([sidecars, _requests(each)])
            start_up = largest(start_up, sidecars)
        else:
            start_up = largest(start_up, total([sidecars, _requests(each)]))
    level = amounts(spec.get("resources", {}).get("requests"))
    needed = {**largest(total([regular, sidecars]), start_up), **level}
    return total([needed, amounts(spec.get("overhead")), {"pods": Fraction(1)}])


def total(parts: Iterable[Amounts]) -> Amounts:
    """The sum, resource by resource."""
    sums: Amounts = {}
    for part in parts:
        for name, value in part.items():
            sums[name] = sums.get(name, Fraction(0)) + value
    return sums


def largest(one: Amounts, other: Amounts) -> Amounts:
    """The larger of both, resource by resource."""
    zero = Fraction(0)
    return {name: max(one.get(name, zero), other.get(name, zero)) for name in {*one, *other}}


def _requests(container: Object) -> Amounts:
    resources = container.get("resources", {})
    return amounts({**resources.get("limits", {}), **resources.get("requests", {})})
