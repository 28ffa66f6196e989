"""Priority and default tolerations of pods, as the real server's own admission gives them."""

from typing import Any

import pytest

from localcluster.apiserver.extension.admission.pods import admit_pod, check_default_class
from localcluster.apiserver.status import StatusError
from tests.localcluster.extension.crds import POD, PRIORITY_CLASS, Object, asked

HIGH: Object = {"metadata": {"name": "high"}, "value": 100, "preemptionPolicy": "Never"}
DEFAULT: Object = {"metadata": {"name": "def"}, "value": 7, "globalDefault": True}
OUTAGES = [
    {"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for why in ("not-ready", "unreachable")
]


def admitted(classes: list[Object], **spec: Any) -> Object:
    pod: Object = {"metadata": {"name": "p"}, "spec": {"containers": [], **spec}}
    admit_pod(asked(kind=POD, obj=pod), classes)
    changed: Object = pod["spec"]
    return {key: value for key, value in changed.items() if key != "containers"}


def test_a_pod_without_a_class_gets_the_default_or_zero() -> None:
    assert admitted([HIGH]) == {"priority": 0, "preemptionPolicy": "PreemptLowerPriority", "tolerations": OUTAGES}
    assert admitted([HIGH, DEFAULT])["priorityClassName"] == "def"
    assert admitted([HIGH, DEFAULT])["priority"] == 7


def test_a_class_gives_its_value_and_policy() -> None:
    spec = admitted([HIGH, DEFAULT], priorityClassName="high")
    assert (spec["priority"], spec["preemptionPolicy"]) == (100, "Never")
    assert admitted([], priorityClassName="system-node-critical")["priority"] == 2_000_001_000


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"priorityClassName": "nope"}, "no PriorityClass with name nope was found"),
        (
            {"priority": 5},
            (
                "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 "
                "from the given PriorityClass name"
            ),
        ),
        (
            {"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"},
            (
                "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority "
                "admission controller computed Never from the given PriorityClass name"
            ),
        ),
    ],
)
def test_numbers_that_the_class_does_not_give_are_refused(spec: Object, told: str) -> None:
    with pytest.raises(StatusError) as caught:
        admitted([HIGH], **spec)
    assert (caught.value.code, caught.value.message) == (403, f'pods "p" is forbidden: {told}')


def test_a_pod_keeps_its_own_tolerations() -> None:
    everything = [{"operator": "Exists"}]
    assert admitted([], tolerations=everything)["tolerations"] == everything
    own = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}]
    assert admitted([], tolerations=own)["tolerations"] == [*own, OUTAGES[1]]


def test_an_updated_pod_keeps_its_priority() -> None:
    new: Object = {"metadata": {"name": "p"}, "spec": {}}
    old: Object = {"metadata": {"name": "p"}, "spec": {"priority": 9, "preemptionPolicy": "Never"}}
    admit_pod(asked("UPDATE", kind=POD, obj=new, old=old), [])
    assert (new["spec"]["priority"], new["spec"]["preemptionPolicy"]) == (9, "Never")


def test_there_is_one_default_class_at_most() -> None:
    second: Object = {"metadata": {"name": "def2"}, "value": 8, "globalDefault": True}
    check_default_class(asked(kind=PRIORITY_CLASS, obj=DEFAULT), [HIGH, DEFAULT])
    with pytest.raises(StatusError, match="PriorityClass def is already marked as default"):
        check_default_class(asked(kind=PRIORITY_CLASS, obj=second), [HIGH, DEFAULT])
