"""What admission makes of LeaderWorkerSets, and what it refuses."""

import copy
from typing import Any

import pytest

from localcluster.controllers.leaderworkersets.admission.amounts import canonical_amount
from localcluster.controllers.leaderworkersets.admission.defaults import defaulted
from localcluster.controllers.leaderworkersets.admission.review import DEFAULTING_PATH, VALIDATING_PATH, answer
from localcluster.controllers.leaderworkersets.admission.validation import complaints, complaints_of_change
from tests.localcluster.leaderworkersets.values import PREFIX, Object, stored

SUBGROUP = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"


def sent(**spec: Any) -> Object:
    """A LeaderWorkerSet as a user sends it, after the schema's defaults."""
    lws = stored(**spec)
    if "networkConfig" not in spec:
        del lws["spec"]["networkConfig"]
    return lws


def test_what_is_left_out_is_filled_in() -> None:
    spec = defaulted(sent())["spec"]
    assert spec["leaderWorkerTemplate"]["restartPolicy"] == "RecreateGroupOnPodRestart"
    assert spec["networkConfig"] == {"subdomainPolicy": "Shared"}
    assert spec["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
    }


def test_what_is_said_stays() -> None:
    said = sent(
        networkConfig={"subdomainPolicy": "UniquePerReplica"},
        rolloutStrategy={"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": 2}},
        template={"restartPolicy": "None"},
    )
    spec = defaulted(said)["spec"]
    assert spec["networkConfig"] == {"subdomainPolicy": "UniquePerReplica"}
    assert spec["rolloutStrategy"]["rollingUpdateConfiguration"] == {"maxSurge": 2}
    assert spec["leaderWorkerTemplate"]["restartPolicy"] == "None"


def test_the_deprecated_policy_is_none() -> None:
    spec = defaulted(sent(template={"restartPolicy": "Default"}))["spec"]
    assert spec["leaderWorkerTemplate"]["restartPolicy"] == "None"


def test_templates_are_kept_in_one_form() -> None:
    container = {"name": "w", "image": "x", "env": [], "resources": {"limits": {"cpu": "1000m", "example.com/gpu": 8}}}
    volume = {"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}
    template = {"spec": {"containers": [container, {"name": "v", "image": "y"}], "volumes": [volume]}}
    made = defaulted(sent(template={"leaderTemplate": template}))["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
    assert made == {
        "metadata": {},
        "spec": {
            "containers": [
                {"name": "w", "image": "x", "resources": {"limits": {"cpu": "1", "example.com/gpu": "8"}}},
                {"name": "v", "image": "y", "resources": {}},
            ],
            "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}],
        },
    }


def test_filling_in_twice_changes_nothing_more() -> None:
    claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": "10240Mi"}}}}
    once = defaulted(sent(template={"volumeClaimTemplates": [claim]}))
    assert defaulted(once) == once
    assert once["spec"]["leaderWorkerTemplate"]["volumeClaimTemplates"][0]["spec"]["resources"] == {
        "requests": {"storage": "10Gi"}
    }


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000Ki", "1000Ki"),
        ("512", "512"),
        ("2000M", "2G"),
        ("0", "0"),
        ("0.0", "0"),
        ("1e3", "1e3"),
        ("100u", "100u"),
        ("-2", "-2"),
        ("+2", "2"),
        ("0.5Ki", "512"),
        ("many", "many"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_amounts_have_one_spelling(text: str, canonical: str) -> None:
    assert canonical_amount(text) == canonical


def refusals(lws: Object) -> list[str]:
    return [str(error) for error in complaints(defaulted(lws))]


def test_a_proper_set_is_fine() -> None:
    assert refusals(sent()) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"replicas": -1}, "spec.replicas: Invalid value: -1: replicas must be equal or greater than 0"),
        (
            {"template": {"size": 0}},
            "spec.leaderWorkerTemplate.size: Invalid value: 0: size must be equal or greater than 1",
        ),
        (
            {"replicas": 1_000_000, "template": {"size": 3000}},
            "spec.replicas: Invalid value: 1000000: the product of replicas and worker replicas must not exceed 2147483647",
        ),
        (
            {"template": {"size": 4, "subGroupPolicy": {"subGroupSize": 0}}},
            f"{SUBGROUP}: Invalid value: 0: subGroupSize must be equal or greater than 1",
        ),
        (
            {"template": {"size": 6, "subGroupPolicy": {"subGroupSize": 4}}},
            f"{SUBGROUP}: Invalid value: 4: size or size - 1 must be divisible by subGroupSize",
        ),
        (
            {"template": {"size": 4, "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}}},
            f"{SUBGROUP}: Invalid value: 2: size-1 must be divisible by subGroupSize when using LeaderExcluded",
        ),
    ],
)
def test_a_set_that_makes_no_sense_is_refused(spec: Object, message: str) -> None:
    assert refusals(sent(**spec)) == [message]


@pytest.mark.parametrize(
    ("rolling", "field", "reason"),
    [
        ({"partition": -1}, "partition", "-1: must be greater than or equal to 0"),
        ({"maxUnavailable": -1}, "maxUnavailable", "-1: must be greater than or equal to 0"),
        ({"maxSurge": "101%"}, "maxSurge", '"101%": must not be greater than 100%'),
        ({"maxUnavailable": 0, "maxSurge": 0}, "maxUnavailable", "0: must not be 0 when `maxSurge` is 0"),
        ({"maxUnavailable": "1%", "maxSurge": "0%"}, "maxUnavailable", '"1%": must not be 0 when `maxSurge` is 0'),
    ],
)
def test_a_rollout_that_makes_no_sense_is_refused(rolling: Object, field: str, reason: str) -> None:
    found = refusals(sent(rolloutStrategy={"type": "RollingUpdate", "rollingUpdateConfiguration": rolling}))
    assert found == [f"spec.rolloutStrategy.rollingUpdateConfiguration.{field}: Invalid value: {reason}"]


def test_a_percentage_must_be_one() -> None:
    (found,) = refusals(sent(rolloutStrategy={"rollingUpdateConfiguration": {"maxSurge": "many"}}))
    assert "a valid percent string must be a numeric string" in found


def test_nothing_may_be_unavailable_when_there_is_nothing() -> None:
    limits = {"maxUnavailable": 0, "maxSurge": 0}
    assert refusals(sent(replicas=0, rolloutStrategy={"rollingUpdateConfiguration": limits})) == []


def test_a_partition_above_the_replicas_is_fine() -> None:
    assert refusals(sent(rolloutStrategy={"rollingUpdateConfiguration": {"partition": 99}})) == []


def test_a_name_must_do_for_a_service() -> None:
    lws = sent()
    lws["metadata"]["name"] = "9-lives"
    (found,) = refusals(lws)
    assert found.startswith('metadata.name: Invalid value: "9-lives": a DNS-1035 label')


def test_subgroups_cannot_be_kept_apart_without_any() -> None:
    lws = sent()
    lws["metadata"]["annotations"] = {f"{PREFIX}subgroup-exclusive-topology": "rack"}
    (found,) = refusals(lws)
    assert found.startswith(f'metadata.annotations.{PREFIX}subgroup-exclusive-topology: Invalid value: "rack": ')
    assert found.endswith("cannot have subgroup-exclusive-topology without subGroupSize set")


def changed(old: Object, new: Object) -> list[str]:
    return [error.detail for error in complaints_of_change(defaulted(new), defaulted(old))]


def test_subgroups_stay_as_they_are() -> None:
    def sized(step: int | None) -> Object:
        policy = {} if step is None else {"subGroupPolicy": {"subGroupSize": step}}
        return sent(template={"size": 5, **policy})

    assert changed(sized(2), sized(2)) == []
    assert changed(sized(2), sized(4)) == ["field is immutable"]
    assert changed(sized(None), sized(2)) == ["cannot enable subGroupSize after the lws is already created"]
    assert changed(sized(2), sized(None)) == ["cannot remove subGroupSize after enabled"]


def test_size_templates_and_subdomains_may_change() -> None:
    new = sent(replicas=9, template={"size": 7}, networkConfig={"subdomainPolicy": "UniquePerReplica"})
    assert changed(sent(), new) == []


def test_a_subdomain_policy_may_not_be_taken_away() -> None:
    old = defaulted(sent())
    new = copy.deepcopy(old)
    new["spec"]["networkConfig"] = {}
    assert [error.detail for error in complaints_of_change(new, old)] == ["cannot set subdomainPolicy as null"]


def review(**request: Any) -> Object:
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1", **request}}


def test_a_refusal_names_all_that_is_wrong() -> None:
    lws = defaulted(sent(replicas=-1, template={"size": 0}))
    response = answer(VALIDATING_PATH, review(object=lws))["response"]
    assert (response["uid"], response["allowed"], response["status"]["code"]) == ("1", False, 403)
    assert response["status"]["message"].startswith("[spec.replicas: Invalid value: -1")


def test_nothing_to_change_is_no_patch() -> None:
    lws = defaulted(sent())
    assert answer(DEFAULTING_PATH, review(object=lws))["response"] == {"uid": "1", "allowed": True}


def test_a_path_of_nobody_is_told() -> None:
    with pytest.raises(KeyError):
        answer("/elsewhere", review(object={}))
