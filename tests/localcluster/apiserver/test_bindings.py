"""`pods/binding` and `pods/eviction`."""

from typing import Any

import pytest

from tests.localcluster.apiserver.rest import PODS, Rest, binding, pod


async def test_a_binding_places_the_pod_once(rest: Rest) -> None:
    made = await rest.create(PODS, pod())
    wanted = binding("p", uid=made["metadata"]["uid"], annotations={"why": "because"})
    answer = await rest.ask("POST", f"{PODS}/p/binding", wanted)
    assert (answer.code, answer.body["status"]) == (201, "Success")
    bound = await rest.get(f"{PODS}/p")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["annotations"] == {"why": "because"}
    (scheduled,) = bound["status"]["conditions"]
    assert (scheduled["type"], scheduled["status"]) == ("PodScheduled", "True")
    again = await rest.ask("POST", f"{PODS}/p/binding", binding("p", "n2"))
    assert (again.code, again.body["reason"]) == (409, "Conflict")
    assert again.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'
    )


async def test_a_binding_for_another_uid_is_a_conflict(rest: Rest) -> None:
    await rest.create(PODS, pod())
    answer = await rest.ask("POST", f"{PODS}/p/binding", binding("p", uid="another"))
    assert answer.code == 409
    assert "Precondition failed: UID in precondition: another" in answer.message
    assert "nodeName" not in (await rest.get(f"{PODS}/p"))["spec"]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (binding("other"), 400, "name in URL does not match name in Binding object"),
        (binding("p", ""), 500, "target.name: Required value"),
        ({**binding("p"), "target": {"kind": "Pod", "name": "n"}}, 500, "target.kind: Unsupported value"),
    ],
)
async def test_a_senseless_binding_is_refused(rest: Rest, body: dict[str, Any], code: int, message: str) -> None:
    await rest.create(PODS, pod())
    answer = await rest.ask("POST", f"{PODS}/p/binding", body)
    assert answer.code == code
    assert answer.message.startswith(message)


async def test_a_gated_or_going_pod_is_not_bound(rest: Rest) -> None:
    await rest.create(PODS, pod("gated", schedulingGates=[{"name": "g"}]))
    gated = await rest.ask("POST", f"{PODS}/gated/binding", binding("gated"))
    assert "pod gated has non-empty .spec.schedulingGates" in gated.message
    await rest.create(PODS, {**pod(), "metadata": {"name": "going", "finalizers": ["x/y"]}})
    await rest.ask("DELETE", f"{PODS}/going")
    going = await rest.ask("POST", f"{PODS}/going/binding", binding("going"))
    assert "pod going is being deleted, cannot be assigned to a host" in going.message


@pytest.mark.parametrize("subresource", ["binding", "eviction"])
async def test_nothing_is_posted_to_a_pod_whose_namespace_is_going(rest: Rest, subresource: str) -> None:
    await rest.create("/api/v1/namespaces", {"metadata": {"name": "going"}})
    await rest.create("/api/v1/namespaces/going/pods", pod())
    await rest.ask("DELETE", "/api/v1/namespaces/going")
    body = binding("p") if subresource == "binding" else {"metadata": {"name": "p"}}
    answer = await rest.ask("POST", f"/api/v1/namespaces/going/pods/p/{subresource}", body)
    assert (answer.code, answer.body["reason"]) == (403, "Forbidden")
    assert answer.body["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace going is being terminated",
            "field": "metadata.namespace",
        }
    ]


async def test_a_dry_run_binds_nothing(rest: Rest) -> None:
    await rest.create(PODS, pod())
    assert (await rest.ask("POST", f"{PODS}/p/binding?dryRun=All", binding("p"))).code == 201
    assert "nodeName" not in (await rest.get(f"{PODS}/p"))["spec"]


def eviction(name: str) -> dict[str, Any]:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}


async def test_an_eviction_respects_the_disruption_budget(rest: Rest) -> None:
    labelled = {**pod(nodeName="n1"), "metadata": {"name": "p", "labels": {"app": "a"}}}
    await rest.create(PODS, labelled)
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}
    await rest.create(budgets, {"metadata": {"name": "b"}, "spec": spec})
    answer = await rest.ask("POST", f"{PODS}/p/eviction", eviction("p"))
    assert (answer.code, answer.body["reason"]) == (429, "TooManyRequests")
    status = {"disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1}
    assert (await rest.patch(f"{budgets}/b/status", {"status": status})).code == 200
    assert (await rest.ask("POST", f"{PODS}/p/eviction", eviction("p"))).code == 201
    assert (await rest.get(f"{PODS}/p"))["metadata"]["deletionGracePeriodSeconds"] == 30
    assert (await rest.get(f"{budgets}/b"))["status"]["disruptionsAllowed"] == 0
