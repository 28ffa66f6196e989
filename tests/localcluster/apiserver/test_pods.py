"""Pods: defaults, validation, and the little that an update may change."""

from typing import Any

import pytest

from tests.localcluster.apiserver.rest import PODS, STRATEGIC, Rest, pod


async def test_a_new_pod_is_pending_and_has_all_defaults(rest: Rest) -> None:
    made = await rest.create(PODS, pod())
    assert made["status"]["phase"] == "Pending"
    assert made["metadata"]["generation"] == 1
    assert made["spec"]["restartPolicy"] == "Always"
    assert made["spec"]["terminationGracePeriodSeconds"] == 30
    assert made["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert {each["tolerationSeconds"] for each in made["spec"]["tolerations"]} == {300}


async def test_limits_are_requests_where_none_are_given(rest: Rest) -> None:
    made = await rest.create(PODS, pod(container={"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}))
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert made["status"]["qosClass"] == "Guaranteed"


async def test_fields_behind_gates_that_are_off_are_dropped_in_silence(rest: Rest) -> None:
    answer = await rest.ask("POST", PODS, pod(schedulingGroup={"podGroupName": "g"}))
    assert "schedulingGroup" not in answer.body["spec"]
    assert "Warning" not in answer.headers


@pytest.mark.parametrize(
    ("container", "spec", "message"),
    [
        ({"image": ""}, {}, "spec.containers[0].image: Required value"),
        ({"name": ""}, {}, "spec.containers[0].name: Required value"),
        (
            {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
            {},
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        (
            {"resources": {"requests": {"nvidia.com/gpu": "1"}}},
            {},
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            {"volumeMounts": [{"name": "v", "mountPath": "/x"}]},
            {},
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        (
            {},
            {"restartPolicy": "x"},
            'spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"',
        ),
        (
            {},
            {"nodeName": "n", "schedulingGates": [{"name": "g"}]},
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ),
        (
            {},
            {"activeDeadlineSeconds": 0},
            "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
        ),
    ],
)
async def test_an_invalid_pod_is_refused_in_the_real_words(
    rest: Rest, container: dict[str, Any], spec: dict[str, Any], message: str
) -> None:
    answer = await rest.ask("POST", PODS, pod(container=container, **spec))
    assert (answer.code, answer.body["reason"]) == (422, "Invalid")
    assert answer.message == f'Pod "p" is invalid: {message}'


async def test_an_amount_that_is_none_is_a_bad_request(rest: Rest) -> None:
    answer = await rest.ask("POST", PODS, pod(container={"resources": {"requests": {"cpu": "many"}}}))
    assert answer.code == 400
    assert "quantities must match the regular expression" in answer.message


async def test_an_image_may_change_and_counts_as_a_generation(rest: Rest) -> None:
    await rest.create(PODS, pod())
    answer = await rest.patch(f"{PODS}/p", {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}, STRATEGIC)
    assert answer.code == 200
    assert answer.body["spec"]["containers"][0]["image"] == "i:2"
    assert answer.body["metadata"]["generation"] == 2


async def test_a_node_cannot_be_chosen_by_a_patch(rest: Rest) -> None:
    await rest.create(PODS, pod())
    answer = await rest.patch(f"{PODS}/p", {"spec": {"nodeName": "n"}})
    assert answer.code == 422
    assert "pod updates may not change fields other than `spec.containers[*].image`" in answer.message


async def test_a_gated_pod_may_narrow_its_nodes_but_gets_no_new_gate(rest: Rest) -> None:
    await rest.create(PODS, pod(schedulingGates=[{"name": "a"}, {"name": "b"}], nodeSelector={"x": "1"}))
    widened = await rest.patch(f"{PODS}/p", {"spec": {"nodeSelector": {"x": None}}})
    assert widened.code == 422
    added = await rest.patch(f"{PODS}/p", {"spec": {"schedulingGates": [{"name": "new"}]}})
    assert added.fields == ["spec.schedulingGates[0].name"]
    narrowed = await rest.patch(f"{PODS}/p", {"spec": {"nodeSelector": {"y": "2"}, "schedulingGates": [{"name": "a"}]}})
    assert narrowed.code == 200
    assert narrowed.body["spec"]["nodeSelector"] == {"x": "1", "y": "2"}


async def test_an_active_deadline_only_gets_shorter(rest: Rest) -> None:
    await rest.create(PODS, pod(activeDeadlineSeconds=10))
    assert (await rest.patch(f"{PODS}/p", {"spec": {"activeDeadlineSeconds": 20}})).code == 422
    assert (await rest.patch(f"{PODS}/p", {"spec": {"activeDeadlineSeconds": None}})).code == 422
    assert (await rest.patch(f"{PODS}/p", {"spec": {"activeDeadlineSeconds": 5}})).code == 200


async def test_status_and_spec_are_written_on_their_own(rest: Rest) -> None:
    await rest.create(PODS, pod())
    body = {"spec": {"nodeName": "n"}, "status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}
    by_status = (await rest.patch(f"{PODS}/p/status", body)).body
    assert by_status["status"]["phase"] == "Running"
    assert "nodeName" not in by_status["spec"]
    assert by_status["metadata"]["labels"] == {"a": "b"}
    by_object = (await rest.patch(f"{PODS}/p", {"status": {"phase": "Failed"}})).body
    assert by_object["status"]["phase"] == "Running"


async def test_logs_are_refused_with_a_clear_word(rest: Rest) -> None:
    await rest.create(PODS, pod(nodeName="n1"))
    answer = await rest.ask("GET", f"{PODS}/p/log?container=c")
    assert answer.code == 400
    assert "node n1 of this local cluster is hollow" in answer.message
