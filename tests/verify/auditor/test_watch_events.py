"""Where there is no audit log, watches tell the same history, but for authors."""

from typing import Any

from verify.auditor.auditor import Auditor
from verify.auditor.watch import WatchReader

Object = dict[str, Any]


def pod(name: str, *, node: str = "", phase: str = "Pending", cpu: str = "1") -> Object:
    metadata = {
        "namespace": "ns",
        "name": name,
        "uid": f"uid-{name}",
        "annotations": {"tutti.scheduler/pod-group": "g"},
    }
    containers = [{"resources": {"requests": {"cpu": cpu}}}]
    spec = {"schedulerName": "tutti", "containers": containers, **({"nodeName": node} if node else {})}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


NODE = {"metadata": {"name": "n", "uid": "uid-n"}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}}
GROUP = {
    "apiVersion": "tutti.scheduler/v1beta1",
    "metadata": {"namespace": "ns", "name": "g", "uid": "uid-g"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


def verdict(*events: tuple[str, str, Object, float], now: float = 100.0) -> list[str]:
    reader, auditor = WatchReader(), Auditor()
    for resource, kind, found, when in events:
        auditor.feed(reader.records(resource, kind, found, when))
    return auditor.close(now)


def begun() -> list[tuple[str, str, Object, float]]:
    return [
        ("nodes", "ADDED", NODE, 0.0),
        ("podgroups", "ADDED", GROUP, 0.1),
        ("pods", "ADDED", pod("a"), 0.2),
        ("pods", "ADDED", pod("b"), 0.2),
    ]


def test_a_gang_that_starts_whole_breaks_no_promise() -> None:
    bound = [("pods", "MODIFIED", pod(name, node="n"), 1.0) for name in "ab"]
    assert verdict(*begun(), *bound) == []


def test_a_gang_that_stays_partial_is_seen() -> None:
    (found,) = verdict(*begun(), ("pods", "MODIFIED", pod("a", node="n"), 1.0))
    assert found.startswith("I1: gang ('ns', 'g') was partial")


def test_a_node_that_holds_too_much_is_seen_until_somebody_has_ended() -> None:
    full = [("pods", "MODIFIED", pod(name, node="n"), 1.0) for name in "ab"]
    third = ("pods", "ADDED", pod("c", node="n"), 2.0)
    assert any(found.startswith("I2") for found in verdict(*begun(), *full, third))
    ended = ("pods", "MODIFIED", pod("a", node="n", phase="Succeeded"), 1.5)
    assert verdict(*begun(), *full, ended, third) == []
    deleted = ("pods", "DELETED", pod("a", node="n"), 1.5)
    assert verdict(*begun(), *full, deleted, third) == []


def test_what_a_list_repeats_happened_once() -> None:
    bound = [("pods", "MODIFIED", pod(name, node="n"), 1.0) for name in "ab"]
    again = [("pods", "ADDED", pod(name, node="n"), 5.0) for name in "ab"]
    assert verdict(*begun(), *bound, *again, ("pods", "BOOKMARK", {"metadata": {}}, 6.0)) == []


def test_a_pod_that_was_bound_before_it_was_seen_counts() -> None:
    events = [*begun()[:2], *(("pods", "ADDED", pod(name, node="n"), 0.5) for name in "ab")]
    assert verdict(*events) == []
