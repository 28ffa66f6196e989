"""What a JobSet means as gangs: which of its Jobs start together, and when that would never end."""

from typing import Any

import msgspec
import pytest

from api.errors import InvalidGangSettings
from api.gang import Plain
from api.job import Job
from api.jobset import JobSet
from api.parents.children import Child, child_of
from api.parents.jobset import JobSetIntent, job_set_intent, taken_in
from tests.jobsets import builders

SCOPE, POLICY = "tutti.scheduler/scope", "tutti.scheduler/policy"


def jobset(*parts: Any, scope: str | None = None, annotations: dict[str, str] | None = None, **spec: Any) -> JobSet:
    said = {**(annotations or {}), **({SCOPE: scope} if scope else {})}
    return msgspec.convert(builders.jobset(*parts, annotations=said, **spec), JobSet)


def units(found: JobSetIntent | Plain) -> list[tuple[str, str, int]]:
    assert isinstance(found, JobSetIntent), found
    return [(unit.name, unit.template, unit.intent.min_count) for unit in found.units]


LEFT, RIGHT = builders.part("left", replicas=2, pods=3), builders.part("right", replicas=2, pods=3)
DRIVER = builders.part("driver", pods=1)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("set", [("set", "set", 13)]),
        ("replicated-job", [("left", "left", 6), ("right", "right", 6)]),
        (
            "job",
            [("left-0", "left", 3), ("left-1", "left", 3), ("right-0", "right", 3), ("right-1", "right", 3)],
        ),
        (
            None,
            [("left-0", "left", 3), ("left-1", "left", 3), ("right-0", "right", 3), ("right-1", "right", 3)],
        ),
    ],
)
def test_the_scope_says_which_jobs_start_together(scope: str | None, expected: list[tuple[str, str, int]]) -> None:
    assert units(job_set_intent(jobset(DRIVER, LEFT, RIGHT, scope=scope))) == expected


def test_without_a_scope_a_job_that_is_no_gang_by_its_shape_stays_as_it_is() -> None:
    queue = builders.part("queue", pods=3, completions=9)
    assert isinstance(job_set_intent(jobset(DRIVER, queue)), Plain)
    assert units(job_set_intent(jobset(DRIVER, queue, scope="job"))) == [("queue-0", "queue", 3)]


@pytest.mark.parametrize(
    "spec",
    [{"startupPolicy": {"startupPolicyOrder": "InOrder"}}, {"dependsOn": True}],
    ids=["InOrder", "dependsOn"],
)
def test_a_whole_set_is_refused_where_it_would_wait_for_its_own_later_jobs(spec: dict[str, Any]) -> None:
    parts: list[dict[str, Any]] = [LEFT, RIGHT]
    if spec.pop("dependsOn", False):
        parts[1] = {**RIGHT, "dependsOn": [{"name": "left", "status": "Ready"}]}
    with pytest.raises(InvalidGangSettings, match="use replicated-job"):
        job_set_intent(jobset(*parts, scope="set", **spec))
    assert len(units(job_set_intent(jobset(*parts, scope="replicated-job", **spec)))) == 2


EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"


@pytest.mark.parametrize("scope", ["set", "replicated-job", "job"])
def test_no_group_waits_for_pods_that_exist_only_once_the_first_has_a_node(scope: str) -> None:
    with pytest.raises(InvalidGangSettings, match="node-selector"):
        job_set_intent(jobset(LEFT, scope=scope, annotations={EXCLUSIVE: "rack"}))
    assert isinstance(job_set_intent(jobset(LEFT, annotations={EXCLUSIVE: "rack"})), Plain)
    assert units(job_set_intent(jobset(LEFT, scope=scope, annotations={EXCLUSIVE: "rack", SELECTOR: "true"})))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"priorityClassName": "high"}, "priorityClassName"),
        ({"schedulerName": "mine"}, None),
        ({"schedulingGroup": {"podGroupName": "own"}}, "a group of their own"),
    ],
)
def test_pods_of_one_group_must_agree(change: dict[str, Any], message: str | None) -> None:
    other = builders.part("right", pods=3, pod_spec=change)
    if message is None:
        assert units(job_set_intent(jobset(LEFT, other, scope="set")))
        return
    with pytest.raises(InvalidGangSettings, match=message):
        job_set_intent(jobset(LEFT, other, scope="set"))


def test_a_scope_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidGangSettings, match="set, replicated-job, job"):
        job_set_intent(jobset(LEFT, scope="everything"))


def test_a_set_that_opts_out_or_is_run_by_somebody_else_is_left_alone() -> None:
    assert isinstance(job_set_intent(jobset(LEFT, scope="set", annotations={POLICY: "none"})), Plain)
    assert isinstance(job_set_intent(jobset(LEFT, scope="set", managedBy="kueue.x-k8s.io/multikueue")), Plain)


def test_more_replicated_jobs_than_a_workload_has_templates_are_one_group_or_none() -> None:
    parts = [builders.part(f"p{number}", pods=2) for number in range(9)]
    with pytest.raises(InvalidGangSettings, match="templates for 8"):
        job_set_intent(jobset(*parts, scope="replicated-job"))
    assert isinstance(job_set_intent(jobset(*parts)), Plain)
    assert units(job_set_intent(jobset(*parts, scope="set"))) == [("set", "set", 18)]


def test_what_was_taken_in_stays_what_it_was_whatever_its_annotation_says_later() -> None:
    marked = [builders.marked(each, "set") for each in (LEFT, RIGHT)]
    later = taken_in(jobset(*marked, scope="job", annotations={"tutti.scheduler/topology": "not a key"}))
    assert later is not None
    assert units(later) == [("set", "set", 12)]
    assert taken_in(jobset(LEFT, scope="set")) is None


# --- its Jobs ----------------------------------------------------------------------------------------------------------------


def child(**settings: Any) -> Child | None:
    return child_of(msgspec.convert(builders.child(**settings), Job))


def test_the_group_of_a_job_follows_from_the_job_alone() -> None:
    first, second = child(part="left", index=0, scope="set"), child(part="right", index=1, scope="set")
    assert first is not None
    assert second is not None
    assert first.group_name == second.group_name


def test_another_attempt_another_part_and_another_set_have_other_groups() -> None:
    names = [
        child(part="left", index=0, scope="job"),
        child(part="left", index=1, scope="job"),
        child(part="left", index=0, scope="job", attempt=1),
        child(part="left", index=0, scope="job", parent_uid="uid-of-a-successor"),
        child(part="left", index=0, scope="replicated-job"),
        child(part="left", index=0, scope="set"),
    ]
    assert len({each.group_name for each in names if each is not None}) == len(names)


@pytest.mark.parametrize(
    "settings",
    [{"managed": None}, {"scope": None}, {"scope": "else"}, {"kind": "AppWrapper"}, {"attempt": "soon"}],
    ids=["not marked", "no scope", "no such scope", "another parent", "no number"],
)
def test_any_other_job_is_no_child(settings: dict[str, Any]) -> None:
    assert child(**settings) is None
