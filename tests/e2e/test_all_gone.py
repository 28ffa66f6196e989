"""All of Tutti's pods on a node are gone at once, with no time for a word: they come back unaided.

What is created meanwhile is created: unrelated pods at once, gangs as ordinary Jobs that say so, or held where
`config/components/hold-gangs` is in force.
"""

import sys
import time
from collections.abc import Callable

from tests.e2e.containers import lone_pod
from tests.e2e.installation import wait_until_ready
from tests.e2e.node import SYSTEM, Node
from tests.e2e.stream import Stream, hollow_nodes
from tests.e2e.test_webhooks_away import QUICK_SECONDS
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Object, condition

JOBS_PER_SECOND = 5.0
RUN_SECONDS = 1.0
OUTLASTING_SECONDS = 600.0
"""Longer than the test: of a Job that has ended nothing is said any more."""

BEFORE_SECONDS = 3.0
BACK_SECONDS = 90.0
DONE_SECONDS = 200.0
EVENT_SECONDS = 60.0
LEASES = ("tutti-controllers", "tutti-scheduler")
REASON = "NotAdmittedAsGang"


class Loss:
    """The moment at which all pods go, and when what works again."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.old = {pod["metadata"]["name"] for pod in node.api.list("pods", SYSTEM)}
        assert len(self.old) == 6
        node.kubectl("-n", SYSTEM, "delete", "pods", "--all", "--grace-period=0", "--force", "--wait=false")
        self.began = time.monotonic()

    def until_back(self) -> dict[str, float]:
        """Seconds until each lease was held by a new pod, and until all pods were ready."""
        back: dict[str, float] = {}

        def look() -> bool:
            for name in LEASES:
                if self._is_held(name):
                    back.setdefault(name, time.monotonic() - self.began)
            assert len(back) == len(LEASES), f"back is only {back}"
            return True

        eventually(look, within_seconds=BACK_SECONDS, poll_seconds=0.2)
        wait_until_ready(self._node)
        back["six pods ready"] = time.monotonic() - self.began
        return back

    def _is_held(self, lease: str) -> bool:
        spec = self._node.api.get("leases", lease, SYSTEM)["spec"]
        holder = str(spec.get("holderIdentity") or "").partition("_")[0]
        return bool(holder) and holder not in self.old


def lost(node: Node, namespace: str, *, run_seconds: float, reached: Callable[[Object], bool]) -> Stream:
    """Takes all pods away under a stream of gangs; each reaches what it should, and bystanders were not held up."""
    with hollow_nodes(node):
        with Stream(node, namespace, per_second=JOBS_PER_SECOND, run_seconds=run_seconds) as stream:
            eventually(lambda: len(stream.made) > JOBS_PER_SECOND * BEFORE_SECONDS, within_seconds=BACK_SECONDS)
            loss = Loss(node)
            begin = time.monotonic()
            node.api.create("pods", lone_pod("bystander"), namespace)
            bystander = time.monotonic() - begin
            back = loss.until_back()
        gap = max((one.at + stream.began - loss.began for one in stream.having("plain")), default=0.0)
        told = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in back.items())
        sys.stdout.write(
            f"\nall six pods gone at once under {stream.rate:.0f} Jobs/s: {told}; a bystander's pod made in {bystander:.2f} s; "
            f"{len(stream.made)} Jobs, {len(stream.having('refused'))} refused, "
            f"{len(stream.having('plain'))} plain, the last of these after {gap:.1f} s\n"
        )
        assert bystander < QUICK_SECONDS
        assert not stream.having("refused")

        def all_have() -> bool:
            jobs = node.api.list("jobs", namespace)
            left = [job["metadata"]["name"] for job in jobs if not reached(job)]
            assert not left, f"not so for {len(left)}, such as {left[:3]}"
            return len(jobs) == len(stream.made)

        eventually(all_have, within_seconds=DONE_SECONDS, poll_seconds=2)
    return stream


def runs(job: Object) -> bool:
    """Whether all its pods are ready."""
    return bool(job["status"].get("ready", 0) == job["spec"]["parallelism"])


def is_complete(job: Object) -> bool:
    """Whether it has done its work."""
    return condition(job, "Complete") == "True"


def test_they_come_back_unaided_and_each_job_of_the_gap_that_still_runs_says_what_it_is(
    tutti: Node, namespace: str
) -> None:
    stream = lost(tutti, namespace, run_seconds=OUTLASTING_SECONDS, reached=runs)
    plain = {one.name for one in stream.having("plain")}
    assert plain, "nothing was created in the gap, so nothing is shown"

    def each_says_so() -> bool:
        events = tutti.api.list("events", namespace)
        told = {event["regarding"]["name"] for event in events if event["reason"] == REASON}
        assert told >= plain, f"{len(plain - told)} of {len(plain)} plain Jobs say nothing"
        return True

    eventually(each_says_so, within_seconds=EVENT_SECONDS)


def test_with_gangs_held_none_of_the_gap_is_plain(holding: Node, namespace: str) -> None:
    eventually(lambda: is_policy_there(holding), within_seconds=EVENT_SECONDS)
    stream = lost(holding, namespace, run_seconds=RUN_SECONDS, reached=is_complete)
    assert not stream.having("plain")
    groups = {
        owner["name"]
        for group in holding.api.list("podgroups", namespace)
        for owner in group["metadata"]["ownerReferences"]
    }
    assert groups >= {one.name for one in stream.made}, "each was taken in as a gang"


def is_policy_there(node: Node) -> bool:
    """Whether the policy is stored; that it is in force shows as soon as no webhook answers."""
    return "tutti" in node.kubectl("get", "mutatingadmissionpolicies", "-o", "name")
