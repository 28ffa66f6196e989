"""How asked amounts are rounded, and when a device has room for them."""

import pytest

from api.devices import ResourceSlice
from api.quantity import format_nano, parse_nano
from scheduler.algorithm.devices.capacity import consumption, consumption_text, has_room
from scheduler.algorithm.devices.errors import AllocationError
from scheduler.cache.devices.record_factory import slice_record
from scheduler.cache.devices.records import DeviceRecord
from scheduler.cache.devices.selectors import Contents
from tests.devices.build import Json, resource_slice
from tests.devices.upstream import typed


def shareable(value: str = "10", **policy: object) -> DeviceRecord:
    capacity: Json = {"value": value}
    if policy:
        capacity["requestPolicy"] = policy
    manifest = {"name": "nic", "allowMultipleAllocations": True, "capacity": {"b": capacity}}
    return slice_record(typed(resource_slice("s", [manifest]), ResourceSlice), Contents()).devices[0]


def rounded(device: DeviceRecord, asked: str | None) -> str:
    taken = consumption(device, {} if asked is None else {"b": parse_nano(asked)})
    assert taken is not None
    return format_nano(taken["b"])


@pytest.mark.parametrize(
    ("policy", "asked", "wanted"),
    [
        ({}, "4", "4"),
        ({}, None, "10"),
        ({"default": "2"}, None, "2"),
        ({"default": "1", "validRange": {"min": "1", "step": "2"}}, "4", "5"),
        ({"default": "1", "validRange": {"min": "1", "step": "2"}}, "500m", "1"),
        ({"default": "1", "validRange": {"min": "3"}}, "1", "3"),
        ({"default": "100m", "validRange": {"min": "100m", "step": "100m"}}, "250m", "300m"),
        ({"default": "2", "validValues": ["2", "4", "8"]}, "3", "4"),
        ({"default": "2", "validValues": ["2", "4"]}, "5", "5"),
    ],
)
def test_an_asked_amount_is_rounded_as_the_policy_says(policy: Json, asked: str | None, wanted: str) -> None:
    assert rounded(shareable(**policy), asked) == wanted


@pytest.mark.parametrize(
    ("policy", "asked", "consumed", "fits"),
    [
        ({}, "4", "6", True),
        ({}, "4", "7", False),
        ({"default": "1", "validRange": {"min": "1", "max": "5"}}, "6", "0", False),
        ({"default": "2", "validValues": ["2", "4"]}, "5", "0", False),
        ({"default": "1", "validRange": {"min": "1", "step": "2"}}, "6", "4", False),
        ({"default": "1", "validRange": {"min": "1", "step": "2"}}, "6", "3", True),
    ],
)
def test_a_device_has_room_while_the_sum_stays_within_its_capacity(
    policy: Json, asked: str, consumed: str, fits: bool
) -> None:
    device = shareable(**policy)
    taken = consumption(device, {"b": parse_nano(asked)})
    assert taken is not None
    assert has_room(device, taken, {"b": parse_nano(consumed)}) is fits


def test_a_device_without_the_capacity_is_passed_over() -> None:
    assert consumption(shareable(), {"other": 1}) is None


@pytest.mark.parametrize(
    ("asked", "words"), [("-1", "negative"), ("10E", "cannot be represented"), ("9223372036854775807", "cannot be")]
)
def test_an_amount_that_cannot_be_rounded_is_an_error(asked: str, words: str) -> None:
    device = shareable("10E") if asked == "-1" else shareable("10E", default="0", validRange={"min": "0", "step": "4"})
    with pytest.raises(AllocationError, match=words):
        consumption(device, {"b": parse_nano(asked)})


def test_the_text_of_a_quantity_is_kept_where_all_of_it_is_taken() -> None:
    device = shareable("16Gi")
    assert consumption_text(device, {"b": parse_nano("16Gi")}) == {"b": "16Gi"}
    assert consumption_text(device, {"b": parse_nano("1500m")}) == {"b": "1500m"}
    assert consumption_text(device, {"b": parse_nano("4Gi")}) == {"b": str(4 * 2**30)}
