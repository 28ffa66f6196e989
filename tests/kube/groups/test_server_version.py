"""What is said differently to servers of different versions."""

from typing import Any

import pytest

from kube.groups.server_version import group_error_reason, minor_of


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
