"""What a pod really asks of a node: one number per resource.

The rule is the scheduler's and the kubelet's (KEP-753 sidecars, KEP-2837 pod-level resources): ordinary init containers run
one after the other, sidecars (init containers that restart always) run beside everything after them, and so

    request = max(sum of containers + all sidecars, max over init containers of (itself + sidecars before it)) + overhead

A resource that the pod states for itself as a whole (cpu, memory, hugepages) replaces that figure before the overhead is
added. A limit without a request counts as the request, as the API server defaults it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from api.pod import Container, PodSpec
from api.quantity import parse_milli, parse_whole

CPU: Final = "cpu"
PODS: Final = "pods"
"""Every pod takes one of its node's `pods`."""

_POD_LEVEL: Final = ("cpu", "memory", "hugepages-")
_IN_BYTES: Final = ("memory", "hugepages-", "ephemeral-storage")


class _Resources(msgspec.Struct, frozen=True):
    requests: dict[str, str] | None = None
    limits: dict[str, str] | None = None


_decode_resources: Final = msgspec.json.Decoder(_Resources | None).decode
_decode_amounts: Final = msgspec.json.Decoder(dict[str, str] | None).decode


def parse_amount(resource: str, quantity: str) -> int:
    """A quantity in the unit we count that resource in: thousandths of a core for cpu, whole units for everything else.

    Raises:
        InvalidQuantity: the text is no quantity or out of bounds.
    """
    return parse_milli(quantity) if resource == CPU else parse_whole(quantity)


def parse_amounts(quantities: Mapping[str, str]) -> dict[str, int]:
    """All quantities of a resource list in the units of `parse_amount`; zero amounts are left out.

    Raises:
        InvalidQuantity: one of them is no quantity or out of bounds.
    """
    amounts = ((name, parse_amount(name, text)) for name, text in quantities.items())
    return {name: amount for name, amount in amounts if amount}


def format_amount(resource: str, amount: int) -> str:
    """The quantity that `parse_amount` reads as this amount, as people write it: `500m`, `2`, `64Mi`."""
    if resource == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    unit = ""
    if resource.startswith(_IN_BYTES):
        for larger in ("Ki", "Mi", "Gi"):
            if not amount or amount % 1024:
                break
            amount, unit = amount // 1024, larger
    return f"{amount}{unit}"


def effective_requests(spec: PodSpec) -> dict[str, int]:
    """What the pod takes of a node, per resource name, in the units of `parse_amount`; always with one of `pods`.

    Raises:
        InvalidQuantity: a quantity is out of bounds.
    """
    total = _container_requests(spec)
    pod_level = _stated(spec.resources)
    total.update({name: amount for name, amount in pod_level.items() if name.startswith(_POD_LEVEL)})
    if spec.overhead:
        _add(total, parse_amounts(_decode_amounts(spec.overhead) or {}))
    total = {name: amount for name, amount in total.items() if amount}
    total[PODS] = 1
    return total


def _container_requests(spec: PodSpec) -> dict[str, int]:
    running = _sum(spec.containers)
    sidecars: dict[str, int] = {}
    start_peak: dict[str, int] = {}
    for container in spec.init_containers:
        own = _stated(container.resources)
        if container.restart_policy == "Always":
            _add(sidecars, own)
            own = {}
        _raise(start_peak, _plus(own, sidecars))
    _add(running, sidecars)
    _raise(running, start_peak)
    return running


def stated_amounts(raw: msgspec.Raw) -> dict[str, int]:
    """What one `resources` asks for, amounts of zero too; in the units of `parse_amount`.

    Raises:
        InvalidQuantity: a quantity is out of bounds.
    """
    resources = _decode_resources(raw) if raw else None
    if resources is None:
        return {}
    stated = {**(resources.limits or {}), **(resources.requests or {})}
    return {name: parse_amount(name, text) for name, text in stated.items()}


def _stated(raw: msgspec.Raw) -> dict[str, int]:
    return {name: amount for name, amount in stated_amounts(raw).items() if amount}


def _sum(containers: Iterable[Container]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        _add(total, _stated(container.resources))
    return total


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _plus(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    total = dict(left)
    _add(total, right)
    return total


def _raise(total: dict[str, int], floor: Mapping[str, int]) -> None:
    for name, amount in floor.items():
        total[name] = max(total.get(name, 0), amount)
