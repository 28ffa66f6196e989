"""What is said differently to servers of different versions."""

from typing import Any

import pytest

from api.errors import ConfigurationError
from kube.groups.server_version import group_error_reason, minor_of, require_supported


@pytest.mark.parametrize(
    ("version", "minor"),
    [
        ({"major": "1", "minor": "37", "gitVersion": "v1.37.0"}, 37),
        ({"major": "1", "minor": "30+", "gitVersion": "v1.30.14-eks-1"}, 30),
        ({"gitVersion": "v1.38.0-alpha.2"}, 38),
        ({"minor": "", "gitVersion": "v1.38.1+k3s1"}, 38),
        ({"minor": None, "gitVersion": "unknown"}, 0),
        ({}, 0),
    ],
)
def test_the_minor_version_is_read_from_what_servers_of_all_vendors_say(version: dict[str, Any], minor: int) -> None:
    assert minor_of(version) == minor


@pytest.mark.parametrize(
    ("minor", "reason"),
    [("30", "SchedulerError"), ("37", "SchedulerError"), ("38", "PodGroupError"), ("39", "PodGroupError")],
)
def test_a_group_in_disagreement_says_so_in_the_words_of_its_server(minor: str, reason: str) -> None:
    assert group_error_reason({"minor": minor}) == reason


def test_a_server_that_hides_its_version_is_told_what_every_version_knows() -> None:
    assert group_error_reason({}) == "SchedulerError"


@pytest.mark.parametrize("version", [{"minor": "30+"}, {"minor": "37"}, {"minor": "99"}, {}])
def test_supported_servers_and_those_that_do_not_say_may_try(version: dict[str, str]) -> None:
    require_supported(version)


def test_an_older_server_is_told_what_it_takes() -> None:
    with pytest.raises(ConfigurationError, match=r"this is Kubernetes 1\.29; Tutti needs 1\.30 or later"):
        require_supported({"minor": "29"})
