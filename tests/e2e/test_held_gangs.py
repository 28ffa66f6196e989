"""With `config/components/hold-gangs` no gang is lost: what is created while no webhook answers waits for one."""

from tests.e2e.containers import gang, started_at
from tests.e2e.node import SLOTS, Node
from tests.e2e.test_webhooks_away import down
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import GATE, Jobs, is_gang

HELD = "tutti.scheduler/held"
IN_FORCE_SECONDS = 20.0
RUN_SECONDS = 60.0
TOGETHER_SECONDS = 5.0


def is_held(node: Node, namespace: str) -> bool:
    """Whether the policy is in force; nothing is stored."""
    made = node.api.create("jobs", gang("probe", 2, "true"), namespace, dry_run=True)
    return HELD in made["metadata"].get("annotations", {})


def test_a_gang_made_while_no_webhook_answers_starts_together_when_one_does(holding: Node, jobs: Jobs) -> None:
    with down(holding):
        eventually(lambda: is_held(holding, jobs.namespace), within_seconds=IN_FORCE_SECONDS)
        assert is_gang(jobs.create(gang("early", SLOTS, "sleep 2")))
        throughout(lambda: not jobs.pods("early"), seconds=3)
    eventually(lambda: jobs.succeeded("early"), within_seconds=RUN_SECONDS)
    starts = sorted(started_at(pod) for pod in jobs.pods("early"))
    assert (starts[-1] - starts[0]).total_seconds() <= TOGETHER_SECONDS
    assert jobs.group("early")["spec"]["schedulingPolicy"] == {"gang": {"minCount": SLOTS}}


def test_with_webhooks_that_answer_nobody_notices_the_policy(holding: Node, jobs: Jobs) -> None:
    made = jobs.create(gang("usual", 2, "sleep 1"))
    assert is_gang(made)
    assert GATE in made["metadata"]["annotations"]
    assert HELD not in made["metadata"]["annotations"]
    plain = gang("opted-out", 2, "sleep 1")
    plain["metadata"]["annotations"] = {"tutti.scheduler/policy": "none"}
    assert not is_gang(jobs.create(plain))
    for name in ("usual", "opted-out"):
        eventually(lambda: jobs.succeeded(name), within_seconds=RUN_SECONDS)  # noqa: B023
