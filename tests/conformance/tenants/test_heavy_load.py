"""The heavy kinds of `test_load`: ten thousand groups, hundreds of updates a second, 100 MB of padding.

While objects come as fast as the API server takes them, everybody waits for the server, and until they all are there and told half
an hour may pass, in which the machine gets other things to do: there gangs are compared with Jobs of kube-scheduler at the same
time. All other attacks are compared with quiet times alone. Where the API server gives each tenant a priority level of his own, the
same is allowed for but the quarter of a second: beside updates twice the quiet median, and while groups come where he has a quota.
"""

import functools
import itertools
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from tests.conformance.tenants.attacks import (
    LEAST_TOO_MUCH,
    create_all,
    going_on,
    hopeless,
    padded_job,
    update_evenly,
    update_every_second,
)
from tests.conformance.tenants.bind_times import BindTimes
from tests.conformance.tenants.flow_control import levels_of_their_own, quota
from tests.conformance.tenants.tenant import Tenant
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import CONDITION, condition

pytestmark = [pytest.mark.slow, pytest.mark.real_only("20,000 objects are too many for the embedded cluster")]

STARTS = 15
GROUPS = 10_000
RESTLESS = 250
PADDED = 50
MEBIBYTE = 2**20
TOLD_WITHIN_SECONDS = 600
MADE_WITHIN_SECONDS = 1800


@pytest.fixture(autouse=True)
def patient(auditor: Auditor) -> Iterator[None]:
    """To say what so many groups wait for takes as many writes; what is said is judged all the same."""
    auditor.windows.widen(TOLD_WITHIN_SECONDS)
    return iter(())


@pytest.fixture
def levels(control_plane: ControlPlane, times: BindTimes, attacker: Tenant) -> Iterator[None]:
    """The API server gives each tenant a priority level of his own."""
    times.noise_seconds = 0.0
    with levels_of_their_own(control_plane.admin, (times.tenant, attacker)):
        sys.stdout.write("each tenant has a priority level of his own:\n")
        yield


def told(who: Tenant) -> int:
    return sum(condition(group, CONDITION) == "False" for group in who.api.list("podgroups", who.namespace))


def many_groups(who: Tenant, stop: threading.Event) -> None:
    """Makes them as fast as the server lets him: every second one is tried, every other one lacks a member.

    No two of them ask for the same, so what is found out about one says nothing of another.
    """
    gangs = (
        hopeless(who.api, f"many-{number}", 1, need=1 + number % 2, cpu=str(LEAST_TOO_MUCH + number))
        for number in range(GROUPS)
    )
    create_all(who, itertools.chain.from_iterable(gangs), stop)


def quiet_in_turn(starts: int, *kinds: BindTimes) -> None:
    for _ in range(starts):
        for each in kinds:
            each.quiet(1)


def beside_in_turn(starts: int, *kinds: BindTimes) -> None:
    for _ in range(starts):
        for each in kinds:
            each.beside(1)


def test_ten_thousand_groups_that_come_delay_gangs_as_they_delay_everybody_and_nobody_once_they_are_there(
    times: BindTimes, ordinary: BindTimes, attacker: Tenant
) -> None:
    quiet_in_turn(STARTS, times, ordinary)
    with going_on(functools.partial(many_groups, attacker)):
        beside_in_turn(STARTS, times, ordinary)
        times.compare("while groups come", ordinary)
        eventually(lambda: count(attacker, "pods") == GROUPS, within_seconds=MADE_WITHIN_SECONDS, poll_seconds=5)
    beside_in_turn(STARTS, times, ordinary)
    times.compare(f"beside {GROUPS} groups, just made", ordinary)
    eventually(lambda: told(attacker) == GROUPS, within_seconds=TOLD_WITHIN_SECONDS, poll_seconds=5)
    beside_in_turn(STARTS, times, ordinary)
    times.compare(f"beside {GROUPS} groups that were told", ordinary)


def count(who: Tenant, resource: str) -> int:
    return len(who.api.list(resource, who.namespace))


def restless(who: Tenant) -> list[tuple[str, str]]:
    """Makes groups of one pod that have no room, and waits until they say so; all that is to be changed."""
    gangs = (hopeless(who.api, f"restless-{number}", 1, need=1) for number in range(RESTLESS))
    create_all(who, itertools.chain.from_iterable(gangs))
    eventually(lambda: told(who) == RESTLESS, within_seconds=TOLD_WITHIN_SECONDS, poll_seconds=1)
    groups = [("podgroups", f"restless-{number}") for number in range(RESTLESS)]
    return groups + [("pods", f"restless-{number}-0") for number in range(RESTLESS)]


@pytest.mark.parametrize("per_second", [100, 200])
def test_updates_that_are_spread_evenly_delay_nobody(
    times: BindTimes, ordinary: BindTimes, attacker: Tenant, per_second: int
) -> None:
    compare_beside_even_updates(times, ordinary, attacker, per_second)


def test_hundreds_of_updates_in_each_second_delay_nobody(
    times: BindTimes, ordinary: BindTimes, attacker: Tenant
) -> None:
    compare_beside_bursts_of_updates(times, ordinary, attacker)


@pytest.mark.usefixtures("levels")
def test_updates_that_are_spread_evenly_do_not_double_the_time_of_who_has_a_priority_level_of_his_own(
    times: BindTimes, ordinary: BindTimes, attacker: Tenant
) -> None:
    compare_beside_even_updates(times, ordinary, attacker, 200)


@pytest.mark.usefixtures("levels")
def test_hundreds_of_updates_in_each_second_do_not_double_the_time_of_who_has_a_priority_level_of_his_own(
    times: BindTimes, ordinary: BindTimes, attacker: Tenant
) -> None:
    compare_beside_bursts_of_updates(times, ordinary, attacker)


@pytest.mark.usefixtures("levels")
def test_groups_that_come_delay_gangs_as_they_delay_everybody_where_each_tenant_has_a_priority_level_of_his_own(
    times: BindTimes, ordinary: BindTimes, attacker: Tenant
) -> None:
    quiet_in_turn(STARTS, times, ordinary)
    with going_on(functools.partial(many_groups, attacker)):
        beside_in_turn(STARTS, times, ordinary)
        times.compare("while groups come", ordinary)
        assert count(attacker, "pods") < GROUPS, "they had all come before the last start"


@pytest.mark.usefixtures("levels")
def test_groups_that_come_do_not_double_the_time_where_each_tenant_has_a_priority_level_and_a_quota(
    control_plane: ControlPlane, times: BindTimes, ordinary: BindTimes, attacker: Tenant
) -> None:
    """The quota stands against none of them: that the server counts what there is, one object after the other, is enough."""
    quota(control_plane, attacker, GROUPS)
    quiet_in_turn(STARTS, times, ordinary)
    with going_on(functools.partial(many_groups, attacker)):
        begin = count(attacker, "podgroups"), time.monotonic()
        beside_in_turn(STARTS, times, ordinary)
        come, took = count(attacker, "podgroups") - begin[0], time.monotonic() - begin[1]
        assert count(attacker, "pods") < GROUPS, "they had all come before the last start"
    what = f"while groups come, {come / took:.0f} a second"
    ordinary.medians(f"{what}, Jobs of kube-scheduler")
    times.compare(what)


def compare_beside_even_updates(times: BindTimes, ordinary: BindTimes, attacker: Tenant, per_second: int) -> None:
    changed = restless(attacker)
    quiet_in_turn(STARTS, times, ordinary)
    with going_on(functools.partial(update_evenly, attacker, changed, per_second)):
        beside_in_turn(STARTS, times, ordinary)
    what = f"beside {per_second} updates a second, evenly"
    ordinary.medians(f"{what}, Jobs of kube-scheduler")
    times.compare(what)


def compare_beside_bursts_of_updates(times: BindTimes, ordinary: BindTimes, attacker: Tenant) -> None:
    quiet_in_turn(STARTS // 3, times, ordinary)
    changed = restless(attacker)
    for _ in range(3):
        # In turn: what else the machine does concerns both.
        quiet_in_turn(STARTS // 3, times, ordinary)
        with going_on(functools.partial(update_every_second, attacker, changed)):
            beside_in_turn(STARTS // 3, times, ordinary)
    what = f"beside up to {len(changed)} updates a second"
    ordinary.medians(f"{what}, Jobs of kube-scheduler")
    times.compare(what)


def test_a_hundred_megabytes_of_padding_delay_nobody(times: BindTimes, attacker: Tenant) -> None:
    times.quiet(STARTS)
    for number in range(PADDED):
        attacker.jobs.create(padded_job(f"padded-{number}", 2, pad_bytes=MEBIBYTE))
    times.beside(STARTS)
    times.compare("while padded gangs come")
    eventually(lambda: told(attacker) == PADDED, within_seconds=TOLD_WITHIN_SECONDS, poll_seconds=1)
    times.beside(STARTS)
    times.compare("beside padded gangs")
