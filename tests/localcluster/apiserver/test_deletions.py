"""Deleting: preconditions, grace, finalizers, dependents, namespaces."""

from typing import Any

from tests.localcluster.apiserver.rest import PODS, Rest, pod

NAMES = "/api/v1/namespaces"
MAPS = "/api/v1/namespaces/default/configmaps"


async def test_a_pod_on_no_node_goes_at_once(rest: Rest) -> None:
    await rest.create(PODS, pod())
    answer = await rest.ask("DELETE", f"{PODS}/p")
    assert answer.body["kind"] == "Pod"
    assert (await rest.ask("GET", f"{PODS}/p")).code == 404


async def test_a_bound_pod_is_given_time_and_may_be_hurried(rest: Rest) -> None:
    await rest.create(PODS, pod(nodeName="n1"))
    marked = (await rest.ask("DELETE", f"{PODS}/p")).body["metadata"]
    assert marked["deletionGracePeriodSeconds"] == 30
    assert marked["generation"] == 2
    longer = (await rest.ask("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 60})).body["metadata"]
    assert longer["deletionTimestamp"] == marked["deletionTimestamp"]
    shorter = (await rest.ask("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 5})).body["metadata"]
    assert shorter["deletionTimestamp"] < marked["deletionTimestamp"]
    await rest.ask("DELETE", f"{PODS}/p", {"gracePeriodSeconds": 0})
    assert (await rest.ask("GET", f"{PODS}/p")).code == 404


async def test_a_finalizer_holds_the_object_until_it_is_taken_off(rest: Rest) -> None:
    await rest.create(MAPS, {"metadata": {"name": "m", "finalizers": ["x/y"]}})
    held = (await rest.ask("DELETE", f"{MAPS}/m")).body
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    late = await rest.patch(f"{MAPS}/m", {"metadata": {"finalizers": ["x/y", "z/z"]}})
    assert "no new finalizers can be added if the object is being deleted" in late.message
    assert (await rest.patch(f"{MAPS}/m", {"metadata": {"finalizers": None}})).code == 200
    assert (await rest.ask("GET", f"{MAPS}/m")).code == 404


async def test_the_wrong_uid_or_version_deletes_nothing(rest: Rest) -> None:
    made = await rest.create(PODS, pod())
    for key, value in (("uid", "another"), ("resourceVersion", "1")):
        answer = await rest.ask("DELETE", f"{PODS}/p", {"preconditions": {key: value}})
        assert (answer.code, answer.body["reason"]) == (409, "Conflict")
    right = {"preconditions": {"uid": made["metadata"]["uid"]}}
    assert (await rest.ask("DELETE", f"{PODS}/p", right)).code == 200


async def test_propagation_leaves_the_collector_its_marks(rest: Rest) -> None:
    marks: dict[str, Any] = {"Foreground": ["foregroundDeletion"], "Orphan": ["orphan"]}
    for policy, finalizers in marks.items():
        name = policy.lower()
        await rest.create(MAPS, {"metadata": {"name": name}})
        answer = await rest.ask("DELETE", f"{MAPS}/{name}", {"propagationPolicy": policy})
        assert answer.body["metadata"]["finalizers"] == finalizers
    odd = await rest.ask("DELETE", f"{MAPS}/orphan", {"propagationPolicy": "Sideways"})
    assert odd.message == (
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: '
        '"Foreground", "Background", "Orphan", "nil"'
    )


async def test_a_dry_run_deletes_nothing(rest: Rest) -> None:
    await rest.create(PODS, pod())
    assert (await rest.ask("DELETE", f"{PODS}/p", {"dryRun": ["All"]})).code == 200
    assert (await rest.ask("GET", f"{PODS}/p")).code == 200


async def test_a_collection_is_deleted_by_selector(rest: Rest) -> None:
    for name, value in (("a", "1"), ("b", "1"), ("c", "2")):
        await rest.create(MAPS, {"metadata": {"name": name, "labels": {"x": value}}})
    assert (await rest.ask("DELETE", f"{MAPS}?labelSelector=x%3D1")).code == 200
    assert [each["metadata"]["name"] for each in (await rest.get(MAPS))["items"]] == ["c"]


async def test_options_that_cannot_be_read_delete_nothing(rest: Rest) -> None:
    await rest.create(MAPS, {"metadata": {"name": "m"}})
    answer = await rest.ask("DELETE", f"{MAPS}/m", b"k8s\x00abc", content_type="application/vnd.kubernetes.protobuf")
    assert answer.code == 400
    assert (await rest.ask("GET", f"{MAPS}/m")).code == 200


async def test_a_namespace_takes_nothing_new_while_it_goes_and_goes_when_finalized(rest: Rest) -> None:
    await rest.create(NAMES, {"metadata": {"name": "n"}})
    going = (await rest.ask("DELETE", f"{NAMES}/n")).body
    assert going["status"]["phase"] == "Terminating"
    answer = await rest.ask("POST", f"{NAMES}/n/configmaps", {"metadata": {"name": "m"}})
    assert answer.code == 403
    assert answer.message == (
        'configmaps "m" is forbidden: unable to create new content in namespace n because it is being terminated'
    )
    finalized = {**going, "spec": {"finalizers": []}}
    assert (await rest.ask("PUT", f"{NAMES}/n/finalize", finalized)).code == 200
    assert (await rest.ask("GET", f"{NAMES}/n")).code == 404
