"""Pods, claims, revisions and status of a StatefulSet as values."""

import datetime
from typing import Any

from api.names import safe_encode
from localcluster.controllers.revisions import canonical, fingerprint, fnv1_32
from localcluster.controllers.statefulsets.model import status_document
from localcluster.controllers.statefulsets.newpod import claims_of, pod_of
from localcluster.controllers.statefulsets.plan import Revisions
from localcluster.controllers.statefulsets.revisions import (
    holds_same,
    new_revision,
    next_number,
    superfluous,
    template_of,
)
from localcluster.controllers.statefulsets.status import status_of
from tests.localcluster.statefulsets.builders import NEW, OLD, document, pod, stateful_set

NOW = datetime.datetime(2026, 1, 1, 0, 1, tzinfo=datetime.UTC)
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "name": "web",
    "uid": "u",
    "controller": True,
    "blockOwnerDeletion": True,
}
CLAIM: dict[str, Any] = {"metadata": {"name": "data", "labels": {"l": "1"}}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def made(**spec: Any) -> dict[str, Any]:
    whole = document(**spec)
    return pod_of(whole, whole["spec"]["template"], 2, "web-abc")


def test_a_pod_has_its_place_in_its_name_labels_and_host_name() -> None:
    pod = made()
    assert pod["metadata"] == {
        "name": "web-2",
        "generateName": "web-",
        "namespace": "ns",
        "labels": {
            "app": "web",
            "statefulset.kubernetes.io/pod-name": "web-2",
            "apps.kubernetes.io/pod-index": "2",
            "controller-revision-hash": "web-abc",
        },
        "annotations": {"n": "1"},
        "ownerReferences": [OWNER],
    }
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("web-2", "svc")


def test_claims_come_first_among_the_volumes_and_stand_for_those_of_their_name() -> None:
    whole = document(volumeClaimTemplates=[CLAIM])
    whole["spec"]["template"]["spec"]["volumes"].append({"name": "data", "emptyDir": {}})
    volumes = pod_of(whole, whole["spec"]["template"], 0, "r")["spec"]["volumes"]
    assert volumes == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}},
        {"name": "tmp", "emptyDir": {}},
    ]


def test_a_claim_carries_the_selector_and_outlives_the_set_unless_told_otherwise() -> None:
    (kept,) = claims_of(document(volumeClaimTemplates=[CLAIM]), 1)
    assert kept["metadata"] == {"name": "data-web-1", "namespace": "ns", "labels": {"l": "1", "app": "web"}}
    assert kept["spec"] == CLAIM["spec"]
    (gone,) = claims_of(
        document(volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}), 1
    )
    assert [owner["uid"] for owner in gone["metadata"]["ownerReferences"]] == ["u"]


def test_a_template_is_not_changed_by_the_pods_made_from_it() -> None:
    whole = document()
    before = canonical(whole)
    pod_of(whole, whole["spec"]["template"], 0, "r")
    assert canonical(whole) == before


def test_a_revision_holds_the_template_and_is_named_by_it() -> None:
    whole = document()
    revision = new_revision(whole, 4, 0)
    digest = revision["metadata"]["labels"]["controller.kubernetes.io/hash"]
    assert revision["metadata"] == {
        "name": f"web-{digest}",
        "namespace": "ns",
        "labels": {"app": "web", "controller.kubernetes.io/hash": digest},
        "annotations": {"a": "b"},
        "ownerReferences": [OWNER],
    }
    assert revision["revision"] == 4
    assert template_of(revision) == whole["spec"]["template"]
    assert digest == fingerprint(canonical(revision["data"]) + b"0")


def test_only_the_template_makes_another_revision() -> None:
    revision = new_revision(document(), 1, 0)
    assert holds_same(revision, new_revision(document(replicas=9), 2, 3))
    other = document()
    other["spec"]["template"]["metadata"]["labels"]["x"] = "y"
    assert not holds_same(revision, new_revision(other, 1, 0))


def test_another_name_is_found_when_a_name_is_taken() -> None:
    first, second = new_revision(document(), 1, 0), new_revision(document(), 1, 1)
    assert first["metadata"]["name"] != second["metadata"]["name"]


def test_hashes_are_those_of_the_stock_controllers() -> None:
    assert canonical({"b": "<&>", "a": [1, None, True]}) == b'{"a":[1,null,true],"b":"\\u003c\\u0026\\u003e"}'
    assert [fnv1_32(text) for text in (b"", b"a", b"foobar")] == [0x811C9DC5, 0x050C5D7E, 0x31F0B262]
    assert fingerprint(b"") == safe_encode("2166136261")


def test_old_revisions_go_when_nobody_names_them_and_there_are_too_many() -> None:
    history = [{"metadata": {"name": f"r{number}"}, "revision": number} for number in range(1, 6)]
    assert next_number(history) == 6
    assert next_number([]) == 1
    gone = superfluous(history, frozenset({"r1", "r5"}), 2)
    assert [each["metadata"]["name"] for each in gone] == ["r2"]


def test_the_status_counts_pods_of_each_revision() -> None:
    view = stateful_set(replicas=4, parallel=True)
    pods = [pod(0, OLD), pod(1, OLD, going=True), pod(2), pod(3, ready=False)]
    status = status_of(view, pods, Revisions(OLD, NEW), 1, NOW)
    assert status_document(status) == {
        "observedGeneration": 3,
        "replicas": 4,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "currentReplicas": 1,
        "updatedReplicas": 2,
        "currentRevision": OLD,
        "updateRevision": NEW,
        "collisionCount": 1,
    }


def test_a_finished_update_makes_the_new_revision_the_current_one() -> None:
    status = status_of(stateful_set(replicas=2), [pod(0), pod(1)], Revisions(OLD, NEW), 0, NOW)
    assert (status.current_revision, status.current_replicas) == (NEW, 2)
    waiting = status_of(stateful_set(replicas=2), [pod(0), pod(1, ready=False)], Revisions(OLD, NEW), 0, NOW)
    assert (waiting.current_revision, waiting.current_replicas) == (OLD, 0)


def test_a_status_of_nothing_still_says_none() -> None:
    status = status_of(stateful_set(replicas=0), [], Revisions(NEW, NEW), 0, NOW)
    assert status_document(status) | {} == {
        "observedGeneration": 3,
        "replicas": 0,
        "availableReplicas": 0,
        "currentRevision": NEW,
        "updateRevision": NEW,
        "collisionCount": 0,
    }
