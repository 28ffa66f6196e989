"""A tenant who makes as much work as he can: how long another one's gangs take beside it. More of it: `test_heavy_load`."""

import functools

import pytest

from tests.conformance.tenants.attacks import (
    LARGEST,
    create_all,
    going_on,
    hopeless,
    padded_job,
    update_every_second,
)
from tests.conformance.tenants.bind_times import BindTimes
from tests.conformance.tenants.tenant import Tenant
from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually
from verify.clusters.groups import pod_group
from verify.clusters.jobs import CONDITION, condition

STARTS = 5
SETTLE_SECONDS = 60
MEBIBYTE = 2**20


def told(who: Tenant) -> int:
    """How many of his groups say that they wait."""
    return sum(condition(group, CONDITION) == "False" for group in who.api.list("podgroups", who.namespace))


def test_gangs_that_need_more_pods_than_there_can_be_delay_nobody(times: BindTimes, attacker: Tenant) -> None:
    times.quiet(STARTS)
    for number in range(3):
        create_all(attacker, hopeless(attacker.api, f"gigantic-{number}", 20, need=LARGEST))
    create_all(attacker, hopeless(attacker.api, "large", 200, need=200))
    eventually(lambda: told(attacker) == 4, within_seconds=SETTLE_SECONDS)
    times.beside(STARTS)
    times.compare("beside gigantic gangs")


def test_a_gang_larger_than_can_be_said_is_refused(attacker: Tenant) -> None:
    with pytest.raises(ApiError) as refused:
        attacker.create("podgroups", pod_group(attacker.api, "larger", LARGEST + 1))
    assert refused.value.status in {400, 422}


def test_gangs_that_change_every_second_delay_nobody(times: BindTimes, attacker: Tenant) -> None:
    times.quiet(STARTS // 2)
    for number in range(10):
        create_all(attacker, hopeless(attacker.api, f"restless-{number}", 4, need=4))
    eventually(lambda: told(attacker) == 10, within_seconds=SETTLE_SECONDS)
    changed = [("podgroups", f"restless-{number}") for number in range(10)]
    changed += [("pods", f"restless-{number}-{pod}") for number in range(10) for pod in range(4)]
    for _ in range(2):
        # In turn: what else the machine does concerns both.
        times.quiet(STARTS // 2 + 1)
        with going_on(functools.partial(update_every_second, attacker, changed)):
            times.beside(STARTS // 2 + 1)
    times.compare("beside 50 updates a second")


def test_padded_objects_delay_nobody(times: BindTimes, attacker: Tenant) -> None:
    times.quiet(STARTS)
    for number in range(5):
        attacker.jobs.create(padded_job(f"padded-{number}", 2, pad_bytes=MEBIBYTE))
    eventually(lambda: told(attacker) == 5, within_seconds=SETTLE_SECONDS)
    times.beside(STARTS)
    times.compare("beside padded gangs")


def test_padding_carries_no_wrong_setting_past_admission(attacker: Tenant) -> None:
    """A webhook that cannot take a large object would let it through."""
    wrong = padded_job("bypass", 2, pad_bytes=MEBIBYTE, annotations={"tutti.scheduler/min-count": "3"})
    with pytest.raises(ApiError, match="min-count"):
        attacker.jobs.create(wrong)
