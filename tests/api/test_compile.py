"""The manifests we create, compared with literal ones; the real server accepts exactly these."""

import json
from typing import Any

import msgspec
import pytest

from api.compile import job_owner, pod_group_for_job, workload_for_job
from api.gang import GroupIntent
from api.job import Job
from api.meta import Metadata
from api.podgroup import PodGroup, Workload
from api.topology import TopologyLevel, TopologyRequest

UID = "eeae5573-e84e-4593-b879-93180f6eb57f"
JOB = msgspec.convert({"metadata": {"name": "b", "namespace": "team", "uid": UID}}, Job)
OWNER = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "name": "b",
    "uid": UID,
    "controller": True,
    "blockOwnerDeletion": True,
}
INSIDE_ONE_RACK = TopologyRequest((TopologyLevel("example.com/rack"),))
FULL = GroupIntent(
    policy="gang", min_count=8, disruption_mode="all", topology=INSIDE_ONE_RACK, priority_class_name="high"
)


def sent(manifest: dict[str, Any]) -> Any:
    """The manifest as the API server receives it."""
    return json.loads(json.dumps(manifest))


def workload(**template: object) -> Workload:
    return msgspec.convert(
        {
            "metadata": {"name": "b-588f6f846", "namespace": "team", "uid": "w-uid", "ownerReferences": [OWNER]},
            "spec": {"podGroupTemplates": [{"name": "b-pgt-0", **template}]},
        },
        Workload,
    )


def test_the_workload_of_a_gang() -> None:
    assert sent(workload_for_job(JOB, FULL, api_version="scheduling.k8s.io/v1beta1")) == {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "Workload",
        "metadata": {
            "name": "b-588f6f846",
            "namespace": "team",
            "annotations": {"tutti.scheduler/managed-by": "tutti"},
            "ownerReferences": [OWNER],
        },
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "b"},
            "podGroupTemplates": [
                {
                    "name": "b-pgt-0",
                    "schedulingPolicy": {"gang": {"minCount": 8}},
                    "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]},
                    "disruptionMode": {"all": {}},
                    "priorityClassName": "high",
                }
            ],
        },
    }


def test_a_workload_without_extras_has_no_empty_fields() -> None:
    found = workload_for_job(
        JOB, GroupIntent(policy="basic", min_count=1, disruption_mode="single"), api_version="tutti.scheduler/v1beta1"
    )
    assert found["apiVersion"] == "tutti.scheduler/v1beta1"
    assert found["spec"]["podGroupTemplates"] == [
        {"name": "b-pgt-0", "schedulingPolicy": {"basic": {}}, "disruptionMode": {"single": {}}}
    ]


def test_a_minimum_of_one_is_written_out() -> None:
    intent = GroupIntent(policy="gang", min_count=1, disruption_mode="all")
    (template,) = workload_for_job(JOB, intent, api_version="v")["spec"]["podGroupTemplates"]
    assert template["schedulingPolicy"] == {"gang": {"minCount": 1}}


def test_the_pod_group_repeats_its_template_and_is_owned_by_job_and_workload() -> None:
    template = workload(
        schedulingPolicy={"gang": {"minCount": 8}},
        schedulingConstraints={"topology": [{"key": "example.com/rack"}]},
        disruptionMode={"all": {}},
        priorityClassName="high",
        priority=1000,
    )
    assert sent(pod_group_for_job(JOB, template, api_version="tutti.scheduler/v1beta1")) == {
        "apiVersion": "tutti.scheduler/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": "b-588f6f846-b-pgt-0-59dfb7b548",
            "namespace": "team",
            "annotations": {"tutti.scheduler/managed-by": "tutti"},
            "ownerReferences": [
                OWNER,
                {"apiVersion": "tutti.scheduler/v1beta1", "kind": "Workload", "name": "b-588f6f846", "uid": "w-uid"},
            ],
        },
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 8}},
            "workloadRef": {"workloadName": "b-588f6f846", "templateName": "b-pgt-0"},
            "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]},
            "disruptionMode": {"all": {}},
            "priorityClassName": "high",
            "priority": 1000,
        },
    }


def test_the_pod_group_takes_over_what_its_job_says_of_waiting() -> None:
    said = {"tutti.scheduler/scheduling-timeout": "10m", "tutti.scheduler/on-scheduling-timeout": "suspend"}
    metadata = msgspec.structs.replace(JOB.metadata, annotations={**said, "tutti.scheduler/policy": "basic"})
    job, made_for = msgspec.structs.replace(JOB, metadata=metadata), workload(schedulingPolicy={"basic": {}})
    made = sent(pod_group_for_job(job, made_for, api_version="v"))
    assert made["metadata"]["annotations"] == {"tutti.scheduler/managed-by": "tutti", **said}


def test_a_users_own_workload_does_not_own_the_group_it_would_outlive() -> None:
    theirs = msgspec.structs.replace(workload(schedulingPolicy={"basic": {}}), metadata=Metadata(name="w", uid="u"))
    made = sent(pod_group_for_job(JOB, theirs, api_version="v"))
    assert made["metadata"]["ownerReferences"] == [OWNER]


def test_a_pod_group_of_a_bare_template_leaves_the_defaults_to_the_server() -> None:
    found = pod_group_for_job(JOB, workload(schedulingPolicy={"basic": {}}), api_version="v")
    assert found["spec"] == {
        "schedulingPolicy": {"basic": {}},
        "workloadRef": {"workloadName": "b-588f6f846", "templateName": "b-pgt-0"},
    }


def test_the_owner_reference_makes_the_job_the_controller() -> None:
    assert msgspec.to_builtins(job_owner(JOB)) == OWNER


@pytest.mark.parametrize(
    ("spec", "is_gang", "need", "whole", "topology"),
    [
        ({"schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": {"all": {}}}, True, 3, True, None),
        ({"schedulingPolicy": {"gang": {"minCount": 3}}}, True, 3, False, None),
        ({"schedulingPolicy": {"basic": {}}, "disruptionMode": {"single": {}}}, False, 1, False, None),
        (
            {
                "schedulingPolicy": {"gang": {"minCount": 2}},
                "schedulingConstraints": {"topology": [{"key": "zone"}]},
            },
            True,
            2,
            False,
            "zone",
        ),
        ({"schedulingPolicy": {"basic": {}}, "schedulingConstraints": {}}, False, 1, False, None),
    ],
)
def test_what_a_pod_group_asks_for_is_read_back(
    spec: dict[str, object], is_gang: bool, need: int, whole: bool, topology: str | None
) -> None:
    group = msgspec.convert({"spec": spec}, PodGroup)
    assert (group.is_gang, group.need, group.is_disrupted_whole, group.topology_key) == (is_gang, need, whole, topology)
