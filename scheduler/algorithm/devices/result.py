"""What is written into a claim's status when it gets its devices."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from api.devices import AllocationConfig, AllocationDevices, AllocationResult, DeviceResult
from api.pod import EMPTY
from scheduler.algorithm.devices.capacity import consumption_text
from scheduler.algorithm.devices.requests import ClaimRequests, Request
from scheduler.algorithm.devices.solution import Chosen, Solution

FROM_CLASS: Final = "FromClass"
FROM_CLAIM: Final = "FromClaim"


class _Requirement(msgspec.Struct, frozen=True, omit_defaults=True):
    key: str
    operator: str
    values: tuple[str, ...] | None = None


class _Term(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    match_expressions: tuple[_Requirement, ...] | None = None
    match_fields: tuple[_Requirement, ...] | None = None


class _NodeSelector(msgspec.Struct, frozen=True, rename="camel"):
    node_selector_terms: tuple[_Term, ...] | None = None


_decode: Final = msgspec.json.Decoder(_NodeSelector | None).decode
_encode: Final = msgspec.json.Encoder().encode


def allocation_results(
    claims: Sequence[ClaimRequests], solution: Solution, node_name: str, new_share_id: Callable[[], str]
) -> list[AllocationResult]:
    """The allocations, one for each claim and in their order, without the time of the allocation.

    Args:
        claims: that were allocated.
        solution: the devices that were chosen.
        node_name: the node for which they were.
        new_share_id: makes a new UUID for each share of a device.
    """
    return [
        AllocationResult(
            devices=AllocationDevices(
                tuple(_result(one, new_share_id) for one in chosen),
                _configs(claim, [requests[number] for requests, number in zip(claim.requests, numbers, strict=True)])
                or None,
            ),
            node_selector=node_selector(chosen, node_name),
        )
        for claim, chosen, numbers in zip(claims, solution.devices, solution.alternatives, strict=True)
    ]


def node_selector(chosen: Sequence[Chosen], node_name: str) -> msgspec.Raw:
    """On which nodes these devices can be used; empty when that is on all."""
    expressions: list[_Requirement] = []
    fields: list[_Requirement] = []
    for one in chosen:
        device, offer = one.device.device, one.slice
        named = device.node_name if offer.is_per_device else offer.node_name
        if named or device.binds_to_node:
            only = _Requirement("metadata.name", "In", (node_name,))
            return msgspec.Raw(_encode(_NodeSelector((_Term(match_fields=(only,)),))))
        raw = device.node_selector if offer.is_per_device else offer.node_selector
        selector = _decode(raw) if raw else None
        for term in (selector.node_selector_terms or ())[:1] if selector else ():
            _extend(expressions, term.match_expressions or ())
            _extend(fields, term.match_fields or ())
    if not expressions and not fields:
        return EMPTY
    return msgspec.Raw(_encode(_NodeSelector((_Term(tuple(expressions) or None, tuple(fields) or None),))))


def _extend(known: list[_Requirement], more: Sequence[_Requirement]) -> None:
    said = {(one.key, one.operator, frozenset(one.values or ())) for one in known}
    known += [one for one in more if (one.key, one.operator, frozenset(one.values or ())) not in said]


def _result(chosen: Chosen, new_share_id: Callable[[], str]) -> DeviceResult:
    request, device = chosen.request, chosen.device
    consumed = chosen.consumed
    return DeviceResult(
        request=request.name,
        driver=device.id.driver,
        pool=device.id.pool,
        device=device.id.device,
        admin_access=True if request.is_admin else None,
        tolerations=request.tolerations or None,
        binding_conditions=device.device.binding_conditions or None,
        binding_failure_conditions=device.device.binding_failure_conditions or None,
        share_id=None if consumed is None else new_share_id(),
        consumed_capacity=(consumption_text(device, consumed) or None) if consumed is not None else None,
    )


def _configs(claim: ClaimRequests, chosen: Sequence[Request]) -> tuple[AllocationConfig, ...]:
    """Those of each class once, then those of the claim; `requests` is left out where it would name all of them."""
    found: list[AllocationConfig] = []
    names_by_class: dict[str, list[str]] = {}
    for request in chosen:
        names_by_class.setdefault(request.device_class.name, []).append(request.name)
    classes = {request.device_class.name: request.device_class for request in chosen}
    for name, device_class in classes.items():
        names = tuple(names_by_class[name])
        found += [AllocationConfig(FROM_CLASS, names, config.opaque) for config in device_class.config]
    for config in claim.claim.spec.config:
        wanted = config.requests or ()
        if not wanted or any(not set(wanted).isdisjoint(request.names) for request in chosen):
            found.append(AllocationConfig(FROM_CLAIM, config.requests or None, config.opaque))
    return tuple(
        msgspec.structs.replace(config, requests=None)
        if config.requests and all(not set(config.requests).isdisjoint(request.names) for request in chosen)
        else config
        for config in found
    )
