"""Whether drivers have prepared the devices of a claim (binding conditions of devices, KEP-5007)."""

from api.devices import AllocationResult, DeviceCondition, DeviceResult
from scheduler.cache.devices.records import ClaimRecord


def unprepared(claim: ClaimRecord | None, allocation: AllocationResult | None) -> str | None:
    """What is said of devices that are not usable before their drivers say so.

    Empty when all are, None while a condition is missing, else which one failed and why.
    """
    results = allocation.devices.results or () if allocation is not None else ()
    is_waiting = False
    for result in results:
        if not result.binding_conditions:
            continue
        told = _conditions(claim, result)
        for name in result.binding_failure_conditions or ():
            failed = told.get(name)
            if failed is not None and failed.status == "True":
                named = claim.metadata.name if claim is not None else ""
                return f'device binding failed: claim={named}, reason={failed.reason}, message="{failed.message}"'
        is_waiting |= any(name not in told or told[name].status != "True" for name in result.binding_conditions)
    return None if is_waiting else ""


def _conditions(claim: ClaimRecord | None, result: DeviceResult) -> dict[str, DeviceCondition]:
    for one in claim.device_status if claim is not None else ():
        if (one.driver, one.pool, one.device, one.share_id) == (
            result.driver,
            result.pool,
            result.device,
            result.share_id,
        ):
            return {condition.type: condition for condition in one.conditions or ()}
    return {}
