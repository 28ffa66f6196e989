"""The scheduler's part of the way of a gang: decided, then bound, with the id of what owns the gang."""

import logging

import pytest

from tests.scheduler.shell.manifests import JOB
from tests.scheduler.shell.preemption import Arena


async def test_a_gang_is_decided_and_then_bound_and_nothing_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    arena = Arena()
    arena.node("n", 8)
    arena.group("g", 2, of_job=True)
    arena.members("g", 2, of_job=True)
    with caplog.at_level(logging.INFO, logger="trace"):
        async with arena.scheduler():
            await arena.api.until(lambda: arena.group_says("g") == ("True", "Scheduled"))
            await arena.api.until(lambda: len(told(caplog)) == 2)
        async with arena.scheduler():
            await arena.api.until(lambda: arena.group_says("g") == ("True", "Scheduled"))
    assert [each["stage"] for each in told(caplog)] == ["decided", "bound"]
    assert {each["trace_id"] for each in told(caplog)} == {JOB["uid"]}


def told(caplog: pytest.LogCaptureFixture) -> list[dict[str, str]]:
    return [vars(record)["fields"] for record in caplog.records if record.name == "trace"]
