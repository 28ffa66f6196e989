"""I8: two end states are equal when they differ by chance only."""

import copy
from typing import Any

from verify.auditor.end_state import differences, normalised

Object = dict[str, Any]


def state(suffix: str, **more: Any) -> dict[str, list[Object]]:
    """A Job of two that runs, as one run has it: names and UIDs are made up anew each time."""
    job_uid, owner = f"job-{suffix}", [{"uid": f"job-{suffix}", "controller": True}]
    job = {"metadata": {"name": "train", "uid": job_uid}, "spec": {"parallelism": 2, "completions": 2, "template": {}}}
    pods = [
        {
            "metadata": {
                "name": f"train-{index}-{suffix}",
                "uid": f"{index}-{suffix}",
                "ownerReferences": owner,
                "annotations": {
                    "batch.kubernetes.io/job-completion-index": str(index),
                    "tutti.scheduler/pod-group": suffix,
                },
            },
            "spec": {"nodeName": f"node-{suffix}"},
            "status": {"phase": "Running"},
        }
        for index in range(2)
    ]
    said = [{"type": "PodGroupInitiallyScheduled", "status": "True", "reason": "Scheduled", "message": suffix}]
    group = {
        "metadata": {"name": f"g-{suffix}", "uid": f"g-{suffix}", "ownerReferences": owner},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"all": {}}},
        "status": {"conditions": said},
    }
    return {"jobs": [job], "pods": pods, "podgroups": [group], **more}


def test_names_uids_nodes_and_words_are_chance() -> None:
    assert differences(normalised(state("a")), normalised(state("b"))) == []


def test_a_pod_that_is_missing_or_unbound_is_a_difference() -> None:
    changed = state("a")
    del changed["pods"][0]
    (told,) = differences(normalised(changed), normalised(state("b")))
    assert told.startswith("pods: 1 missing of of jobs/train 0 bound Running")
    unbound = state("a")
    unbound["pods"][1]["spec"] = {}
    assert len(differences(normalised(unbound), normalised(state("b")))) == 2


def test_a_group_too_many_or_another_minimum_is_a_difference() -> None:
    twice = state("a")
    twice["podgroups"].append(copy.deepcopy(twice["podgroups"][0]))
    assert [each.partition(" of ")[0] for each in differences(normalised(twice), normalised(state("b")))] == [
        "podgroups: 1 too many"
    ]
    smaller = state("a")
    smaller["podgroups"][0]["spec"]["schedulingPolicy"] = {"gang": {"minCount": 1}}
    assert len(differences(normalised(smaller), normalised(state("b")))) == 2


def test_a_gang_that_was_degraded_differs_until_it_is_well_again() -> None:
    for status, count in (("False", 2), ("True", 0)):
        degraded = state("a")
        degraded["podgroups"][0]["status"]["conditions"].append({"type": "PodGroupSatisfied", "status": status})
        assert len(differences(normalised(degraded), normalised(state("b")))) == count


def test_a_gate_that_was_not_opened_is_a_difference() -> None:
    gated = state("a")
    gated["jobs"][0]["spec"]["suspend"] = True
    gated["jobs"][0]["metadata"]["annotations"] = {"tutti.scheduler/gate": "pod-group"}
    assert len(differences(normalised(gated), normalised(state("b")))) == 2


def test_what_is_left_of_an_owner_that_is_gone_is_a_difference() -> None:
    left = {"podgroups": state("a")["podgroups"]}
    (told,) = differences(normalised(left), normalised({}))
    assert "of somebody who is gone" in told
