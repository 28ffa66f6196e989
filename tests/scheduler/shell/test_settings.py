"""Settings that cannot work are refused before anything starts."""

import pytest

from api.errors import ConfigurationError
from kube.process.settings import load_settings
from scheduler.settings import SchedulerSettings


def test_the_defaults_stand_by_themselves() -> None:
    settings = load_settings(SchedulerSettings, None)
    assert settings.scheduler_name == "tutti"
    assert settings.bind_concurrency == 32


def test_a_lease_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="retry_seconds < renew_seconds < lease_seconds"):
        load_settings(SchedulerSettings, None, renew_seconds=20.0)


def test_a_backoff_that_shrinks_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="initial_backoff_seconds"):
        load_settings(SchedulerSettings, None, initial_backoff_seconds=60.0)


@pytest.mark.parametrize("value", [0, -1, 100_000])
def test_an_unusable_number_of_connections_is_refused(value: int) -> None:
    with pytest.raises(ConfigurationError, match="bind_concurrency"):
        load_settings(SchedulerSettings, None, bind_concurrency=value)
