"""How often somebody may ask, and what he must be allowed to."""

import pytest

from scheduler.tenants.limits import BURST, MOST_USERS, PAUSE_SECONDS, RateLimits
from scheduler.tenants.question import Question, parse_question


def test_a_few_questions_at_once_and_then_one_after_each_pause() -> None:
    now = [1000.0]
    limits = RateLimits(lambda: now[0])
    assert [limits.wait_seconds("u") for _ in range(BURST)] == [0.0] * BURST
    assert limits.wait_seconds("u") == PAUSE_SECONDS
    now[0] += PAUSE_SECONDS - 1
    assert limits.wait_seconds("u") == 1.0
    now[0] += 1
    assert limits.wait_seconds("u") == 0.0
    assert limits.wait_seconds("u") == PAUSE_SECONDS


def test_one_who_asks_too_often_takes_nothing_from_another_and_waiting_is_no_question() -> None:
    now = [1000.0]
    limits = RateLimits(lambda: now[0])
    for _ in range(3 * BURST):
        limits.wait_seconds("eager")
    assert limits.wait_seconds("eager") == PAUSE_SECONDS
    assert limits.wait_seconds("calm") == 0.0


def test_many_users_fill_no_memory() -> None:
    limits = RateLimits(lambda: 1000.0)
    for number in range(MOST_USERS + 50):
        limits.wait_seconds(f"u{number}")
    assert len(limits._paid_until) == MOST_USERS


GET = {"verb": "get", "namespace": "red"}
GROUPS = {**GET, "group": "tutti.scheduler", "resource": "podgroups"}


@pytest.mark.parametrize(
    ("kind", "rights"),
    [
        ("podgroup", [{**GROUPS, "name": "x"}]),
        ("job", [GROUPS]),
        ("lws", [GROUPS]),
        ("pod", [GROUPS, {**GET, "resource": "pods", "name": "x"}]),
    ],
)
def test_who_asks_must_be_allowed_to_get_what_he_is_told_of(kind: str, rights: list[dict[str, str]]) -> None:
    assert list(Question("red", kind, "x").rights("tutti.scheduler")) == rights


@pytest.mark.parametrize(
    ("namespace", "kind", "name"),
    [
        ("red", "deployment", "x"),
        ("red", "job", "-x"),
        ("red", "job", "x/y"),
        ("red", "job", "x\ny"),
        ("RED", "job", "x"),
        ("..", "job", "x"),
        ("red", "job", "x" * 300),
    ],
)
def test_what_nothing_can_be_called_is_not_even_looked_for(namespace: str, kind: str, name: str) -> None:
    assert parse_question({"namespace": namespace, "kind": kind, "name": name}) is None
