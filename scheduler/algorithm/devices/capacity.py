"""Capacities of devices: how an asked amount is rounded, and whether what is left suffices. Amounts are billionths.

A device that is allocated whole must have what is asked; of one that can be shared it is used up, every capacity of it.
"""

from typing import Final

from api.quantity import MILLI, NANO, format_nano
from scheduler.algorithm.devices.errors import AllocationError
from scheduler.cache.devices.records import NO_AMOUNTS, Amounts, Capacity, DeviceRecord, Range

MAX_INT: Final = 2**63 - 1


def consumption(device: DeviceRecord, asked: Amounts) -> Amounts | None:
    """What a request that asks for this takes of the capacities of the device; None when it lacks one of them.

    Raises:
        AllocationError: an amount cannot be rounded, or is negative.
    """
    if any(name not in device.capacity for name in asked):
        return None
    if not device.capacity:
        return NO_AMOUNTS
    taken = {}
    for name, capacity in device.capacity.items():
        amount = _rounded(name, capacity, asked.get(name))
        if amount < 0:
            raise AllocationError(f'capacity "{name}": capacity value is negative')
        taken[name] = amount
    return taken


def has_room(device: DeviceRecord, taken: Amounts, *consumed: Amounts) -> bool:
    """Whether a device can give this beside what is consumed of it, as its policies allow."""
    for name, capacity in device.capacity.items():
        amount = taken[name]
        if _breaks_policy(amount, capacity):
            return False
        if amount + sum(one.get(name, 0) for one in consumed) > capacity.value:
            return False
    return True


def consumption_text(device: DeviceRecord, taken: Amounts) -> dict[str, str]:
    """The amounts as quantities, as they are in the slice where all of it is taken."""
    return {
        name: capacity.text if taken[name] == capacity.value else format_nano(taken[name])
        for name, capacity in device.capacity.items()
    }


def _rounded(name: str, capacity: Capacity, asked: int | None) -> int:
    if asked is None:
        return capacity.value if capacity.default is None else capacity.default
    if capacity.valid_range is not None and capacity.valid_range.minimum is not None:
        return _in_range(name, capacity.valid_range, capacity.valid_range.minimum, asked)
    return next((value for value in capacity.valid_values if asked <= value), asked)


def _in_range(name: str, valid: Range, minimum: int, asked: int) -> int:
    if asked < minimum:
        return minimum
    if not valid.step:
        return asked
    unit = MILLI if valid.is_milli else NANO
    amount = -(-asked // unit)
    if amount > MAX_INT or (valid.is_milli and asked % unit):
        raise _unrepresentable(name, asked)
    first, step = -(-minimum // unit), -(-valid.step // unit)
    rounded = first + -(-(amount - first) // step) * step
    if rounded > MAX_INT:
        raise _unrepresentable(name, asked)
    return rounded * unit


def _breaks_policy(amount: int, capacity: Capacity) -> bool:
    if not capacity.has_policy or amount == capacity.default:
        return False
    valid = capacity.valid_range
    if valid is None:
        return bool(capacity.valid_values) and amount not in capacity.valid_values
    if valid.maximum is not None and amount > valid.maximum:
        return True
    if not valid.step or valid.minimum is None:
        return False
    unit = MILLI if valid.is_milli else NANO
    steps = -(-amount // unit) - -(-valid.minimum // unit)
    return (valid.is_milli and amount % unit != 0) or steps % -(-valid.step // unit) != 0


def _unrepresentable(name: str, asked: int) -> AllocationError:
    return AllocationError(
        f'capacity "{name}": capacity request cannot be represented in the device\'s range arithmetic: {format_nano(asked)}'
    )
