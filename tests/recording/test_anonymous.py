"""Made-up names: nothing that people have named is left, and the same is decided."""

import re
from typing import Any

import msgspec
import pytest

from scheduler.recording.anonymous import anonymous, readable_in, with_words
from scheduler.recording.capture import take
from scheduler.recording.file import Recording, lines_of
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.listed import from_manifests
from scheduler.recording.replay import decide_queue
from tests.placement.storage import claim, mounts
from tests.recording.life import Life
from tests.scheduler.core.build import NAMESPACE


def inputs_of(seed: int) -> DecisionInputs:
    life = Life(seed)
    life.live(60)
    return take(life.core, life.moment()).inputs()


@pytest.mark.parametrize("seed", range(4))
def test_the_same_is_decided_with_other_names(seed: int) -> None:
    inputs = inputs_of(seed)
    hidden, made = with_words(inputs)
    names = {made_up: true for true, made_up in made.items()}

    def true_names(value: Any) -> Any:
        plain = msgspec.json.encode(value).decode()
        return re.sub(r"n\d{7}", lambda found: names[found[0]], plain)

    was = [_without_texts(answer) for answer in decide_queue(inputs).values()]
    now = [_without_texts(answer) for answer in decide_queue(hidden).values()]
    assert was
    assert true_names(now) == msgspec.json.encode(was).decode()


def _without_texts(answer: Any) -> Any:
    """Texts name taints and labels, and sort them by their words."""
    plain = msgspec.to_builtins(answer)
    for part in filter(None, plain.values()):
        part.pop("message", None)
        by_message = part.pop("pods_by_message", {})
        part["pods"] = sorted(uid for uids in by_message.values() for uid in uids)
    return plain


@pytest.mark.parametrize("seed", range(4))
def test_no_name_of_a_busy_cluster_is_left(seed: int) -> None:
    text = b"".join(lines_of(Recording(anonymous(inputs_of(seed))))).decode()
    assert MADE_BY_LIFE.findall(text) == []


MADE_BY_LIFE = re.compile(r"\b(?:uid-of-)?[gpr]\d+(?:-\d+)?\b|@\w+|team-[ab]|app:\d")


NAMED = [
    {
        "kind": "Pod",
        "metadata": {
            "name": "payroll-0",
            "namespace": "acme-finance",
            "uid": "0a1b",
            "labels": {"app": "payroll", "tier": "gold-customers"},
            "annotations": {"tutti.scheduler/pod-group": "payroll-group"},
        },
        "spec": {
            "schedulerName": "tutti",
            "containers": [{"image": "registry.acme.example/payroll:2", "resources": {"requests": {"cpu": "1"}}}],
            "nodeSelector": {"room": "vault"},
            "tolerations": [{"key": "room", "value": "vault", "effect": "NoSchedule"}],
            "volumes": [{"name": "books", "persistentVolumeClaim": {"claimName": "ledger"}}],
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {
                                "matchExpressions": [{"key": "app", "operator": "In", "values": ["payroll"]}]
                            },
                            "namespaces": ["acme-finance"],
                        }
                    ]
                }
            },
        },
    },
    {
        "kind": "Node",
        "metadata": {"name": "vault-1.acme.example", "labels": {"kubernetes.io/hostname": "vault-1.acme.example"}},
        "spec": {"taints": [{"key": "room", "value": "vault", "effect": "NoSchedule"}]},
        "status": {
            "images": [{"names": ["registry.acme.example/payroll:2"], "sizeBytes": 5}],
            "allocatable": {"cpu": "4"},
        },
    },
    {"kind": "PersistentVolumeClaim", "metadata": {"name": "ledger", "namespace": "acme-finance"}, "spec": {}},
    {"kind": "Namespace", "metadata": {"name": "acme-finance", "labels": {"team": "finance-people"}}},
]


def test_nothing_that_people_have_named_is_left() -> None:
    inputs = DecisionInputs(epoch_seconds=1.0, objects=from_manifests(NAMED))
    text = b"".join(lines_of(Recording(anonymous(inputs)))).decode()
    for word in ("payroll", "acme", "finance", "gold", "vault", "ledger", "books", "0a1b", "example"):
        assert word not in text
    assert "kubernetes.io/hostname" in text


def compared(number: str, key: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "Gt", "values": [number]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_whole_numbers_are_hidden_unless_a_selector_compares_them() -> None:
    names = {"name": "111", "namespace": "222", "uid": "333", "labels": {"employee": "444", "floor": "5"}}
    pod = {
        "kind": "Pod",
        "metadata": names,
        "spec": {"schedulerName": "tutti", "affinity": compared("666", "floor"), "nodeSelector": {"cage": "777"}},
    }
    status = {"allocatable": {"cpu": "9", "pods": "9"}}
    nodes = [
        {
            "kind": "Node",
            "metadata": {"name": f"88{floor}", "labels": {"floor": floor, "cage": "777"}},
            "spec": {},
            "status": status,
        }
        for floor in ("555", "999")
    ]
    inputs = DecisionInputs(epoch_seconds=1.0, objects=from_manifests([pod, *nodes]))
    hidden = anonymous(inputs)
    text = b"".join(lines_of(Recording(hidden))).decode()
    for word in ("111", "222", "333", "444", "777", "88"):
        assert word not in text, word
    for word in ("666", "555", "999"):
        assert f'"{word}"' in text, word
    (was,), (now,) = decide_queue(inputs).values(), decide_queue(hidden).values()
    assert [len(one.decision.bindings) for one in (was, now)] == [1, 1]


def of_two_tenants(seed: int = 3) -> DecisionInputs:
    """A busy namespace, and another one beside it."""
    life = Life(seed)
    life.live(50)
    for number in range(3):
        name = f"rival-{number}"
        labels = {"app": f"rival-app-{number}"}
        life.put_pod(name, namespace="rivals", labels=labels, on="@n2", spec=mounts("rival-claim"))
        life.put_pod(f"{name}-waits", namespace="rivals", labels=labels, cpu=4)
    wanted = claim("rival-claim")
    life.stored({**wanted, "metadata": {**wanted["metadata"], "namespace": "rivals"}})
    life.put_node("@n2", cpu=8, images=[{"names": ["rival-image:1"], "sizeBytes": 100_000_000}])
    life.apply(life.state.upsert_namespace("rivals", {"owner": "rival-people"}))
    return take(life.core, life.moment()).inputs()


def test_who_may_see_one_namespace_reads_no_names_of_another() -> None:
    inputs = of_two_tenants()
    own = b"".join(lines_of(Recording(readable_in(inputs, NAMESPACE)))).decode()
    assert "rival" in b"".join(lines_of(Recording(inputs))).decode()
    assert "rival" not in own
    assert NAMESPACE in own
    assert "@n2" in own
    others = b"".join(lines_of(Recording(readable_in(inputs, "rivals")))).decode()
    assert not re.search(r"\b(uid-of-)?[gpr]\d+(-\d+)?\b", others)
    assert NAMESPACE not in others
    assert "rival-0" in others


def test_the_same_is_decided_for_who_may_see_one_namespace() -> None:
    inputs = of_two_tenants()
    was = {key: answer for key, answer in decide_queue(inputs).items() if key.namespace == NAMESPACE}
    now = decide_queue(readable_in(inputs, NAMESPACE))
    assert was
    assert {key: now[key].decision for key in was} == {key: answer.decision for key, answer in was.items()}
