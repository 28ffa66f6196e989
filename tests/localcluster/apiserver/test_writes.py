"""Creating, updating and patching anything: identity, versions, names, metadata."""

import asyncio

import pytest

from tests.localcluster.apiserver.rest import JSON_PATCH, MERGE, PODS, STRATEGIC, Rest, pod

MAPS = "/api/v1/namespaces/default/configmaps"


async def test_a_name_is_taken_once(rest: Rest) -> None:
    await rest.create(PODS, pod())
    answer = await rest.ask("POST", PODS, pod())
    assert (answer.code, answer.body["reason"], answer.message) == (409, "AlreadyExists", 'pods "p" already exists')
    assert answer.body["details"] == {"name": "p", "kind": "pods"}


async def test_generated_names_differ(rest: Rest) -> None:
    body = {**pod(), "metadata": {"generateName": "g-"}}
    names = {(await rest.create(PODS, body))["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5
    assert all(name.startswith("g-") and len(name) == 7 for name in names)


async def test_a_given_name_that_is_taken_is_not_replaced_by_a_generated_one(rest: Rest) -> None:
    body = {**pod(), "metadata": {"name": "g-0", "generateName": "g-"}}
    await rest.create(PODS, body)
    refused = await rest.ask("POST", PODS, body)
    assert (refused.code, refused.body["reason"]) == (409, "AlreadyExists")
    assert [each["metadata"]["name"] for each in (await rest.ask("GET", PODS)).body["items"]] == ["g-0"]


async def test_of_two_updates_from_one_version_one_is_refused(rest: Rest) -> None:
    made = await rest.create(MAPS, {"metadata": {"name": "m"}, "data": {"a": "1"}})
    answers = await asyncio.gather(
        *(rest.ask("PUT", f"{MAPS}/m", {**made, "data": {"a": str(number)}}) for number in (2, 3))
    )
    assert sorted(each.code for each in answers) == [200, 409]
    refused = next(each for each in answers if each.code == 409)
    assert refused.message == (
        'Operation cannot be fulfilled on configmaps "m": the object has been modified; please apply your changes to '
        "the latest version and try again"
    )


async def test_an_update_that_changes_nothing_keeps_the_version(rest: Rest) -> None:
    made = await rest.create(MAPS, {"metadata": {"name": "m"}, "data": {"a": "1"}})
    same = await rest.ask("PUT", f"{MAPS}/m", made)
    assert same.body["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_an_update_for_another_uid_is_a_conflict_and_a_patch_of_it_invalid(rest: Rest) -> None:
    await rest.create(MAPS, {"metadata": {"name": "m"}})
    put = await rest.ask("PUT", f"{MAPS}/m", {"metadata": {"name": "m", "uid": "x"}})
    assert put.code == 409
    assert "Precondition failed: UID in precondition: x" in put.message
    patch = await rest.patch(f"{MAPS}/m", {"metadata": {"uid": "x"}})
    assert (patch.code, patch.fields) == (422, ["metadata.uid"])


async def test_a_lease_is_made_by_a_put_and_updated_from_a_known_version_only(rest: Rest) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"
    made = await rest.ask("PUT", path, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}})
    assert made.code == 201
    blind = await rest.ask("PUT", path, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "b"}})
    assert blind.code == 422
    assert blind.message.endswith("metadata.resourceVersion: Invalid value: 0: must be specified for an update")
    assert (await rest.ask("PUT", path, {**made.body, "spec": {"holderIdentity": "b"}})).code == 200


async def test_the_name_in_the_path_counts(rest: Rest) -> None:
    await rest.create(MAPS, {"metadata": {"name": "m"}})
    answer = await rest.ask("PUT", f"{MAPS}/m", {"metadata": {"name": "other"}})
    assert answer.message == "the name of the object (other) does not match the name on the URL (m)"
    elsewhere = await rest.ask("POST", MAPS, {"metadata": {"name": "n", "namespace": "other"}})
    assert "does not match the namespace sent on the request" in elsewhere.message
    nowhere = await rest.ask("POST", "/api/v1/namespaces/nope/configmaps", {"metadata": {"name": "n"}})
    assert (nowhere.code, nowhere.message) == (404, 'namespaces "nope" not found')


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"name": "X_"}, "a lowercase RFC 1123 subdomain must consist of"),
        ({"name": "x" * 300}, "must be no more than 253 characters"),
        ({}, "metadata.name: Required value: name or generateName is required"),
        ({"name": "m", "labels": {"a b": "c"}}, 'metadata.labels: Invalid value: "a b": name part must consist of'),
        ({"name": "m", "labels": {"a": "c d"}}, "a valid label must be an empty string or consist of"),
        ({"name": "m", "annotations": {"a": "x" * 263_000}}, "Too long: may not be more than 262144 bytes"),
        (
            {"name": "m", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]},
            "metadata.ownerReferences[0].uid: Required value",
        ),
        ({"name": "m", "finalizers": ["foo"]}, "name is neither a standard finalizer name nor is it fully qualified"),
    ],
)
async def test_bad_metadata_are_refused(rest: Rest, metadata: dict[str, object], message: str) -> None:
    answer = await rest.ask("POST", MAPS, {"metadata": metadata})
    assert (answer.code, answer.body["reason"]) == (422, "Invalid")
    assert message in answer.message


async def test_only_one_owner_controls(rest: Rest) -> None:
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": n, "uid": n, "controller": True} for n in ("a", "b")]
    answer = await rest.ask("POST", MAPS, {"metadata": {"name": "m", "ownerReferences": owners}})
    assert "Only one reference can have Controller set to true" in answer.message


async def test_unknown_fields_are_told_of_or_refused(rest: Rest) -> None:
    body = {**pod(foo=1), "bar": 2}
    warned = await rest.ask("POST", PODS, body)
    assert warned.headers.getall("Warning") == [
        '299 - "unknown field \\"spec.foo\\""',
        '299 - "unknown field \\"bar\\""',
    ]
    assert "foo" not in warned.body["spec"]
    strict = await rest.ask("POST", f"{PODS}?fieldValidation=Strict", body)
    assert strict.code == 400
    assert 'strict decoding error: unknown field "spec.foo", unknown field "bar"' in strict.message
    silent = await rest.ask("POST", f"{PODS}?fieldValidation=Ignore&dryRun=All", {**pod("q"), "bar": 2})
    assert "Warning" not in silent.headers


async def test_a_value_of_the_wrong_type_is_a_bad_request(rest: Rest) -> None:
    answer = await rest.ask("POST", PODS, pod(terminationGracePeriodSeconds="x"))
    assert answer.code == 400
    assert (
        "cannot unmarshal string into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64"
        in answer.message
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"name": 5},
        {"name": "m", "finalizers": "x"},
        {"name": "m", "ownerReferences": [1]},
        {"name": "m", "labels": []},
        7,
    ],
)
@pytest.mark.parametrize("path", [MAPS, "/apis/storage.k8s.io/v1/csinodes"])
async def test_metadata_of_the_wrong_type_are_a_bad_request(rest: Rest, path: str, metadata: object) -> None:
    answer = await rest.ask("POST", path, {"metadata": metadata})
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")


async def test_three_kinds_of_patch(rest: Rest) -> None:
    await rest.create(PODS, pod())
    merged = await rest.patch(f"{PODS}/p", {"metadata": {"labels": {"a": "1"}}}, MERGE)
    assert merged.body["metadata"]["labels"] == {"a": "1"}
    operations = [
        {"op": "test", "path": "/metadata/labels/a", "value": "1"},
        {"op": "remove", "path": "/metadata/labels/a"},
    ]
    removed = await rest.patch(f"{PODS}/p", operations, JSON_PATCH)
    assert not removed.body["metadata"].get("labels")
    failed = await rest.patch(f"{PODS}/p", operations, JSON_PATCH)
    assert (failed.code, failed.message) == (422, "the server rejected our request due to an error in our request")
    condition = {"type": "Ready", "status": "True"}
    first = await rest.patch(f"{PODS}/p/status", {"status": {"conditions": [condition]}}, STRATEGIC)
    second = await rest.patch(
        f"{PODS}/p/status", {"status": {"conditions": [{"type": "X", "status": "True"}]}}, STRATEGIC
    )
    assert len(first.body["status"]["conditions"]) == 1
    assert len(second.body["status"]["conditions"]) == 2


async def test_a_patch_without_a_version_never_conflicts(rest: Rest) -> None:
    await rest.create(MAPS, {"metadata": {"name": "m"}})
    answers = await asyncio.gather(*(rest.patch(f"{MAPS}/m", {"data": {str(n): "x"}}) for n in range(20)))
    assert {each.code for each in answers} == {200}
    assert len((await rest.get(f"{MAPS}/m"))["data"]) == 20


async def test_a_patch_that_names_an_old_version_conflicts(rest: Rest) -> None:
    await rest.create(MAPS, {"metadata": {"name": "m"}})
    assert (await rest.patch(f"{MAPS}/m", {"metadata": {"resourceVersion": "1"}})).code == 409


async def test_apply_is_refused_with_a_clear_word(rest: Rest) -> None:
    answer = await rest.patch(f"{MAPS}/m", {}, "application/apply-patch+yaml")
    assert answer.code == 415
    assert "server-side apply is not supported by this server" in answer.message


async def test_a_dry_run_stores_nothing(rest: Rest) -> None:
    answer = await rest.ask("POST", f"{PODS}?dryRun=All", pod())
    assert answer.code == 201
    assert answer.body["metadata"]["uid"]
    assert (await rest.ask("GET", f"{PODS}/p")).code == 404


async def test_replicas_are_read_and_changed_through_scale(rest: Rest) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    await rest.create(
        path, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
    )
    scale = await rest.get(f"{path}/d/scale")
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == ("Scale", {"replicas": 1}, "app=a")
    assert (await rest.patch(f"{path}/d/scale", {"spec": {"replicas": 3}})).body["spec"] == {"replicas": 3}
    assert (await rest.get(f"{path}/d"))["spec"]["replicas"] == 3
    assert (await rest.ask("GET", "/apis/batch/v1/namespaces/default/jobs/x/scale")).code == 404
