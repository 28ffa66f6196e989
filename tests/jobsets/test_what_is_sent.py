"""Which JobSets, and which Jobs of theirs, the API server asks our webhooks about, by the match conditions it is given."""

from typing import Any

import pytest

from api.constants import GATE, GATE_POD_GROUP, SCOPE
from tests.jobsets.builders import Object, child, jobset, marked, part
from tests.webhooks.builders import job
from tests.webhooks.test_manifests import is_sent

SETS, NEW_JOBS, CHANGED_JOBS = "jobsets.tutti.scheduler", "create.jobs.tutti.scheduler", "update.jobs.tutti.scheduler"
ONE, LEFT = part("one", pods=1), part("left", pods=3)


@pytest.mark.parametrize(
    ("new", "sent"),
    [
        (jobset(LEFT), True),
        (jobset(part("one", pods=1, replicas=2)), True),
        (jobset(ONE, part("two", pods=1)), True),
        (jobset(ONE, annotations={SCOPE: "set"}), True),
        (jobset(ONE), False),
    ],
    ids=["several pods", "several Jobs", "several replicated Jobs", "asks", "one pod"],
)
def test_a_new_set_is_sent_unless_it_is_a_single_pod(new: Object, sent: bool) -> None:
    assert is_sent(SETS, new) is sent


def with_spec(found: Object, **spec: Any) -> Object:
    return {**found, "spec": {**found["spec"], **spec}}


def test_a_set_that_was_not_taken_in_is_not_sent_when_it_changes() -> None:
    assert not is_sent(SETS, with_spec(jobset(LEFT), suspend=True), jobset(LEFT))


def test_a_set_that_was_taken_in_is_sent_when_its_spec_changes_and_not_when_its_status_does() -> None:
    stored = jobset(marked(LEFT, "job"))
    assert is_sent(SETS, jobset(LEFT), stored)
    assert not is_sent(SETS, jobset(marked(LEFT, "job"), restarts=1), stored)


def test_a_scope_that_changes_is_sent_so_that_its_user_is_told() -> None:
    assert is_sent(SETS, jobset(LEFT, annotations={SCOPE: "set"}), jobset(LEFT))
    assert not is_sent(SETS, jobset(LEFT, annotations={"note": "x"}), jobset(LEFT))


def test_a_job_is_sent_only_when_its_set_was_taken_in() -> None:
    assert is_sent(NEW_JOBS, child())
    assert not is_sent(NEW_JOBS, child(scope=None, managed=None))


def test_a_job_at_our_gate_is_sent_when_somebody_says_something_anew_and_no_other_is() -> None:
    gated = job(
        annotations={GATE: GATE_POD_GROUP}, template_labels={"tutti.scheduler/managed": "embedded"}, suspend=True
    )
    said = {**gated, "metadata": {**gated["metadata"], "managedFields": [{"manager": "person", "operation": "Apply"}]}}
    assert is_sent(CHANGED_JOBS, said, gated)
    assert not is_sent(CHANGED_JOBS, gated, gated)
    free = {**said, "metadata": {**said["metadata"], "annotations": {}}}
    assert not is_sent(CHANGED_JOBS, free, {**gated, "metadata": {**gated["metadata"], "annotations": {}}})
