"""As many changes a second as were asked for, over the whole soak: a fault that holds users up does not lower the rate."""

from verify.soak.users import MOST_BEHIND_SECONDS, next_due

PAUSE_SECONDS = 0.5


def changes_within(seconds: float, *, gone_from: float = 0.0, gone_seconds: float = 0.0) -> int:
    """How many changes users have begun, where a change takes no time but while the server is gone."""
    now = due = 0.0
    made = 0
    while due < seconds:
        now = max(now, due)
        if gone_from <= now < gone_from + gone_seconds:
            now = gone_from + gone_seconds
        if now >= seconds:
            break
        made += 1
        due = next_due(due, PAUSE_SECONDS, now)
    return made


def test_users_make_so_many_changes_a_second() -> None:
    assert changes_within(100.0) == 200


def test_what_was_missed_while_the_server_was_gone_is_made_up_for() -> None:
    assert changes_within(100.0, gone_from=20.0, gone_seconds=MOST_BEHIND_SECONDS - 1.0) == 200


def test_what_was_missed_in_a_longer_time_is_not() -> None:
    beyond_seconds = 10.0
    made = changes_within(100.0, gone_from=20.0, gone_seconds=MOST_BEHIND_SECONDS + beyond_seconds)
    assert abs(made - (200 - beyond_seconds / PAUSE_SECONDS)) <= 1


def test_a_change_that_is_late_does_not_make_the_next_ones_late() -> None:
    assert next_due(10.0, PAUSE_SECONDS, now=10.4) == 10.5
    assert next_due(10.0, PAUSE_SECONDS, now=12.0) == 10.5
