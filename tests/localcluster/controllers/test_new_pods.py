"""The pods that a Job's template makes."""

from typing import Any

from localcluster.controllers.jobs.newpod import LONGEST_PREFIX, pod_of
from localcluster.controllers.jobs.plan import NewPod
from localcluster.controllers.jobs.pods import COMPLETION_INDEX, TRACKING_FINALIZER


def document(name: str = "j") -> dict[str, Any]:
    container = {"name": "main", "image": "i"}
    setup = {"name": "setup", "image": "i", "env": [{"name": "JOB_COMPLETION_INDEX", "value": "mine"}]}
    template = {
        "metadata": {"labels": {"app": "x"}, "annotations": {"k": "v"}},
        "spec": {"containers": [container], "initContainers": [setup], "restartPolicy": "Never"},
    }
    return {"metadata": {"name": name, "namespace": "ns", "uid": "u"}, "spec": {"template": template}}


def test_a_plain_pod_is_the_template_with_an_owner_and_the_finalizer() -> None:
    pod = pod_of(document(), NewPod())
    assert pod["metadata"] == {
        "generateName": "j-",
        "namespace": "ns",
        "labels": {"app": "x"},
        "annotations": {"k": "v"},
        "finalizers": [TRACKING_FINALIZER],
        "ownerReferences": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": "j",
                "uid": "u",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    assert pod["spec"] == document()["spec"]["template"]["spec"]


def test_an_indexed_pod_knows_its_index() -> None:
    pod = pod_of(document(), NewPod(3, (("more", "said"),)))
    assert pod["metadata"]["generateName"] == "j-3-"
    assert pod["metadata"]["labels"] == {"app": "x", COMPLETION_INDEX: "3"}
    assert pod["metadata"]["annotations"] == {"k": "v", "more": "said", COMPLETION_INDEX: "3"}
    assert pod["spec"]["hostname"] == "j-3"
    assert pod["spec"]["containers"][0]["env"] == [
        {
            "name": "JOB_COMPLETION_INDEX",
            "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}},
        }
    ]


def test_a_variable_of_the_users_own_is_not_touched() -> None:
    assert pod_of(document(), NewPod(0))["spec"]["initContainers"][0]["env"] == [
        {"name": "JOB_COMPLETION_INDEX", "value": "mine"}
    ]


def test_a_long_name_is_cut_before_the_index() -> None:
    prefix = pod_of(document("x" * 63), NewPod(12))["metadata"]["generateName"]
    assert prefix == "x" * (LONGEST_PREFIX - 4) + "-12-"


def test_the_job_itself_is_not_changed() -> None:
    original = document()
    pod_of(original, NewPod(1))
    assert original == document()
