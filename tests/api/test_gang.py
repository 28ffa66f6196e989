"""Is this Job a gang, and which one: every branch of the one predicate, and every message."""

from typing import Any

import msgspec
import pytest

from api.errors import InvalidGangSettings
from api.gang import GroupIntent, Plain, is_gang_shaped, is_managed_template, job_intent
from api.job import Job
from api.topology import TopologyLevel, TopologyRequest

PREFIX = "tutti.scheduler/"
NOT_GANG_SHAPED = "it is not an Indexed Job with parallelism = completions > 1"


def job(
    *,
    parallelism: int | None = 4,
    completions: int | None = 4,
    mode: str = "Indexed",
    settings: dict[str, str] | None = None,
    template: dict[str, Any] | None = None,
    owner: dict[str, Any] | None = None,
    **spec: Any,
) -> Job:
    annotations = {PREFIX + key: value for key, value in (settings or {}).items()}
    metadata: dict[str, Any] = {"name": "train", "namespace": "default", "uid": "u", "annotations": annotations}
    if owner:
        metadata["ownerReferences"] = [{"apiVersion": "v1", "uid": "o", "controller": True, **owner}]
    return msgspec.convert(
        {
            "metadata": metadata,
            "spec": {
                "parallelism": parallelism,
                "completions": completions,
                "completionMode": mode,
                "template": template or {},
                **spec,
            },
        },
        Job,
    )


GANG = GroupIntent(policy="gang", min_count=4, disruption_mode="all")


def test_an_indexed_job_that_runs_all_its_pods_at_once_is_a_gang() -> None:
    assert is_gang_shaped(job())
    assert job_intent(job()) == GANG


@pytest.mark.parametrize(
    "shape",
    [
        {"parallelism": 1, "completions": 1},
        {"parallelism": 2},
        {"parallelism": None},
        {"completions": None},
        {"mode": "NonIndexed"},
        {"parallelism": 0, "completions": 0},
        {"parallelism": 8},
    ],
    ids=["one pod", "fewer at once", "no parallelism", "no completions", "not indexed", "no pods", "more at once"],
)
def test_a_job_of_another_shape_is_plain(shape: dict[str, Any]) -> None:
    assert not is_gang_shaped(job(**shape))
    assert job_intent(job(**shape)) == Plain(NOT_GANG_SHAPED)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"settings": {"policy": "none"}}, "its annotation tutti.scheduler/policy is none"),
        (
            {"template": {"spec": {"schedulingGroup": {"podGroupName": "g"}}}},
            "its pod template names a group of its own (spec.schedulingGroup)",
        ),
        (
            {"template": {"metadata": {"annotations": {PREFIX + "pod-group": "g"}}}},
            "its pod template names a group of its own (annotation tutti.scheduler/pod-group)",
        ),
        ({"scheduling": {}}, "it states spec.scheduling, which the cluster's own Job controller carries out"),
        ({"owner": {"kind": "JobSet", "name": "s"}}, "it belongs to the JobSet s"),
        ({"managedBy": "kueue.x-k8s.io/multikueue"}, "it is run by kueue.x-k8s.io/multikueue"),
    ],
    ids=["opted out", "own field", "own annotation", "spec.scheduling", "child of a JobSet", "other controller"],
)
@pytest.mark.parametrize("policy", [None, "gang"])
def test_a_job_that_somebody_else_groups_or_runs_is_left_alone(
    changes: dict[str, Any], reason: str, policy: str | None
) -> None:
    settings = {**({"policy": policy} if policy else {}), **changes.get("settings", {})}
    assert job_intent(job(**{**changes, "settings": settings})) == Plain(reason)


@pytest.mark.parametrize(
    "changes",
    [
        {"managedBy": "kubernetes.io/job-controller"},
        {"managedBy": ""},
        {"owner": {"kind": "CronJob", "name": "nightly"}},
        {"owner": {"kind": "JobSet", "name": "s", "controller": False}},
        {"template": {"metadata": {"annotations": {PREFIX + "pod-group": ""}}}},
        {
            "template": {
                "metadata": {"labels": {PREFIX + "managed": "embedded"}, "annotations": {PREFIX + "pod-group": "g"}}
            }
        },
    ],
    ids=[
        "stock controller",
        "empty controller",
        "child of a CronJob",
        "owner, no controller",
        "empty group",
        "our group",
    ],
)
def test_what_looks_similar_is_a_gang_nevertheless(changes: dict[str, Any]) -> None:
    assert job_intent(job(**changes)) == GANG


@pytest.mark.parametrize(
    ("changes", "intent"),
    [
        ({"settings": {"policy": "gang"}}, GANG),
        ({"mode": "NonIndexed", "settings": {"policy": "gang"}}, GANG),
        (
            {"parallelism": 3, "completions": None, "settings": {"policy": "gang"}},
            msgspec.structs.replace(GANG, min_count=3),
        ),
        (
            {"parallelism": 5, "completions": 2, "settings": {"policy": "gang"}},
            msgspec.structs.replace(GANG, min_count=2),
        ),
        ({"parallelism": 0, "settings": {"policy": "gang"}}, msgspec.structs.replace(GANG, min_count=1)),
        ({"settings": {"policy": "basic"}}, GroupIntent(policy="basic", min_count=1, disruption_mode="single")),
        ({"settings": {"min-count": "1"}}, msgspec.structs.replace(GANG, min_count=1)),
        ({"settings": {"min-count": "4"}}, GANG),
        ({"settings": {"disruption-mode": "single"}}, msgspec.structs.replace(GANG, disruption_mode="single")),
        ({"settings": {"disruption-mode": "all"}}, GANG),
        ({"settings": {"elastic": "true"}}, msgspec.structs.replace(GANG, elastic=True)),
        ({"settings": {"elastic": "false"}}, GANG),
        (
            {"settings": {"topology": "example.com/rack"}},
            msgspec.structs.replace(GANG, topology=TopologyRequest((TopologyLevel("example.com/rack"),))),
        ),
        (
            {"template": {"spec": {"priorityClassName": "high"}}},
            msgspec.structs.replace(GANG, priority_class_name="high"),
        ),
    ],
)
def test_settings_shape_the_group(changes: dict[str, Any], intent: GroupIntent) -> None:
    assert job_intent(job(**changes)) == intent


RANGE = "is not a whole number from 1 to 4, the pods this Job runs at once"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy": "perhaps"}, "[tutti.scheduler/policy]: 'perhaps' is not one of gang, basic, none"),
        ({"policy": ""}, "[tutti.scheduler/policy]: '' is not one of gang, basic, none"),
        ({"disruption-mode": "pod"}, "[tutti.scheduler/disruption-mode]: 'pod' is not one of all, single"),
        ({"elastic": "yes"}, "[tutti.scheduler/elastic]: 'yes' is not one of true, false"),
        ({"min-count": "0"}, f"[tutti.scheduler/min-count]: '0' {RANGE}"),
        ({"min-count": "-1"}, f"[tutti.scheduler/min-count]: '-1' {RANGE}"),
        ({"min-count": "abc"}, f"[tutti.scheduler/min-count]: 'abc' {RANGE}"),
        ({"min-count": "5"}, f"[tutti.scheduler/min-count]: '5' {RANGE}"),
        ({"min-count": "2.0"}, f"[tutti.scheduler/min-count]: '2.0' {RANGE}"),
        ({"min-count": "２"}, f"[tutti.scheduler/min-count]: '２' {RANGE}"),
        ({"min-count": "9" * 5000}, f"[tutti.scheduler/min-count]: '{'9' * 64}…' {RANGE}"),
        (
            {"min-count": "2", "policy": "basic"},
            "[tutti.scheduler/min-count]: a minimum needs a gang, and the policy is basic",
        ),
        (
            {"disruption-mode": "all", "policy": "basic"},
            "[tutti.scheduler/disruption-mode]: all needs a gang, and the policy is basic",
        ),
        (
            {"topology": "no key"},
            "[tutti.scheduler/topology]: 'no key' is not a label key such as topology.kubernetes.io/rack",
        ),
        (
            {"topology": "UPPER/rack"},
            "[tutti.scheduler/topology]: 'UPPER/rack' is not a label key: the part before the slash is no DNS name",
        ),
    ],
)
def test_an_unusable_setting_is_refused_with_one_clear_line(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidGangSettings) as refused:
        job_intent(job(settings=settings))
    assert str(refused.value) == f"metadata.annotations{message}"


def test_a_minimum_for_a_job_without_pods_is_refused() -> None:
    with pytest.raises(InvalidGangSettings, match="from 1 to 0"):
        job_intent(job(parallelism=0, settings={"policy": "gang", "min-count": "1"}))


def test_a_template_is_managed_when_it_carries_our_label() -> None:
    assert is_managed_template(job(template={"metadata": {"labels": {PREFIX + "managed": "embedded"}}}))
    assert not is_managed_template(job(template={"metadata": {"labels": {"app": "x"}}}))
    assert not is_managed_template(job(template={"metadata": {"labels": None}}))


@pytest.mark.parametrize(
    ("conditions", "finished"),
    [
        (None, False),
        ([{"type": "Complete", "status": "True"}], True),
        ([{"type": "Failed", "status": "True"}], True),
        ([{"type": "Complete", "status": "False"}, {"type": "Suspended", "status": "True"}], False),
    ],
)
def test_a_job_has_finished_when_a_condition_says_so(conditions: list[dict[str, str]] | None, finished: bool) -> None:
    assert msgspec.convert({"status": {"conditions": conditions}}, Job).is_finished == finished
