"""UPDATE of a Job's parallelism."""

from collections.abc import Mapping
from typing import Any

import pytest

from api.constants import ELASTIC, MANAGED, MIN_COUNT, POLICY
from tests.webhooks.builders import Object, job, request
from webhooks.job.validator import validate_job_update

ELASTIC_ON = {ELASTIC: "true"}


def managed(size: int, annotations: Mapping[str, str] | None = None, **shape: Any) -> Object:
    """A Job that was taken in, as big as said."""
    shape = {"completions": size, **shape}
    return job(parallelism=size, annotations=annotations, template_labels={MANAGED: "embedded"}, **shape)


@pytest.mark.parametrize(
    ("described", "old", "new"),
    [
        ("smaller", managed(4), managed(2, completions=4)),
        ("larger", managed(4), managed(6, completions=4)),
        ("larger with its completions", managed(4), managed(6)),
        ("a gang only afterwards", managed(4, completions=6), managed(6)),
        ("a stated gang", managed(4, {POLICY: "gang"}, indexed=False), managed(2, {POLICY: "gang"}, indexed=False)),
        ("elastic no more", managed(4, ELASTIC_ON), managed(2)),
        ("spoilt settings before", managed(4, {MIN_COUNT: "x"}), managed(2)),
        ("one pod", managed(4), managed(1)),
        ("without our label", managed(4), job(parallelism=6, completions=6)),
    ],
)
def test_the_size_of_a_gang_is_fixed(described: str, old: Object, new: Object) -> None:
    response = validate_job_update(request(new, old))
    assert not response.allowed, described
    assert response.code == 422


def test_the_refusal_says_what_to_do() -> None:
    message = validate_job_update(request(managed(2), managed(4))).message
    assert "from 4 to 2" in message
    assert "delete the Job and create it again" in message
    assert f"{ELASTIC}=true" in message


@pytest.mark.parametrize(
    ("described", "old", "new"),
    [
        ("elastic with its completions", managed(4, ELASTIC_ON), managed(6, ELASTIC_ON)),
        ("made elastic in the same request", managed(4), managed(6, ELASTIC_ON)),
        (
            "a stated elastic gang",
            managed(4, {**ELASTIC_ON, POLICY: "gang"}),
            managed(2, {**ELASTIC_ON, POLICY: "gang"}, completions=4),
        ),
        ("a basic group", managed(4, {POLICY: "basic"}), managed(2, {POLICY: "basic"})),
        ("no gang before or after", managed(4, completions=8), managed(2, completions=8)),
        ("unchanged", managed(4), managed(4)),
        ("never taken in", job(), job(parallelism=2)),
    ],
)
def test_other_changes_pass(described: str, old: Object, new: Object) -> None:
    assert validate_job_update(request(new, old)).allowed, described


def test_parallelism_left_out_counts_as_one() -> None:
    one, unstated = managed(1, {POLICY: "gang"}), managed(1, {POLICY: "gang"})
    del unstated["spec"]["parallelism"]
    assert validate_job_update(request(unstated, one)).allowed
    assert not validate_job_update(request(managed(2, {POLICY: "gang"}), unstated)).allowed


def test_an_elastic_gang_may_not_stop_being_one() -> None:
    response = validate_job_update(request(managed(2, ELASTIC_ON, completions=4), managed(4, ELASTIC_ON)))
    assert not response.allowed
    assert "change spec.completions to the same number" in response.message
    assert f"{POLICY}=gang" in response.message


def test_a_minimum_that_no_longer_fits_is_refused_by_name() -> None:
    annotations = {**ELASTIC_ON, MIN_COUNT: "4"}
    response = validate_job_update(request(managed(2, annotations), managed(4, annotations)))
    assert not response.allowed
    assert f"metadata.annotations[{MIN_COUNT}]: '4' is not a whole number from 1 to 2" in response.message
