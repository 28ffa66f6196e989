"""With `config/components/hold-gangs` a gang whose start is somebody else's to say starts when they say so, and as a gang.

Whether our webhooks answer or not: Kueue alone resumes what is in its queue, nothing of ours does, and Kueue has nobody to suspend.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from install.manifests import load
from tests.conformance.kueue import QUEUE, Kueue
from tests.conformance.kueue_webhook import KueueWebhook, kueue_webhook
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import GATE, Jobs, indexed_job, is_gang
from verify.clusters.tutti_process import Tutti

SOON_SECONDS = 60
QUIET_SECONDS = 3
UP, AWAY = "up", "away"

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.since(36, "MutatingAdmissionPolicies"),
    pytest.mark.real_only("a MutatingAdmissionPolicy holds the gangs"),
]


@pytest.fixture
def policy(control_plane: ControlPlane) -> Iterator[None]:
    """The component, as it is shipped."""
    api, made = control_plane.admin, load("components/hold-gangs")
    for each in made:
        api.create(each.resource.plural, each.body)
    yield
    for each in made:
        api.delete(each.resource.plural, each.name)


class Scene:
    """Jobs between Kueue and Tutti."""

    def __init__(self, plane: ControlPlane, tutti: Tutti, jobs: Jobs, auditor: Auditor, folder: Path) -> None:
        self._plane, self._tutti, self._auditor, self._folder = plane, tutti, auditor, folder
        self.jobs = jobs

    @contextmanager
    def between(self, webhooks: str, webhook: KueueWebhook, *, manages_all: bool = False) -> Iterator[Kueue]:
        """Kueue without quota, the policy in force, our webhooks up or away."""
        api, namespace = self._plane.admin, self.jobs.namespace
        with (
            Kueue(api, namespace, manages_all=manages_all) as kueue,
            kueue_webhook(api, namespace, self._folder, webhook),
        ):
            kueue.has_quota = False
            if webhooks == AWAY:
                self._tutti.lose_child("webhooks", signal.SIGKILL)
                eventually(lambda: "webhooks" not in self._tutti.children(), within_seconds=SOON_SECONDS)
            yield kueue

    def let_start(self, name: str, webhooks: str) -> None:
        """Waits until the gang is whole. With our own CRDs it gets its group when a webhook can look at that group's priority."""
        if webhooks == AWAY and self._plane.group_api == "own":
            self.allow_members_first()
            throughout(lambda: self.jobs.bound(name) == 0, seconds=QUIET_SECONDS)
            self._tutti.ensure_running()
        eventually(lambda: self.jobs.whole(name), within_seconds=SOON_SECONDS)
        assert self.jobs.group(name)["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}

    def allow_members_first(self) -> None:
        """A Job may be started by somebody else before our controllers could make its group; its pods wait for that."""
        self._auditor.windows.allows_members_first = True

    def rests(self, name: str) -> bool:
        """Whether the Job is suspended and has no pods."""
        return bool(self.jobs.get(name)["spec"].get("suspend")) and not self.jobs.pods(name)


@pytest.fixture
def scene(
    tutti: Tutti,
    policy: None,
    control_plane: ControlPlane,
    nodes: HollowNodes,
    jobs: Jobs,
    auditor: Auditor,
    tmp_path: Path,
) -> Scene:
    nodes.add(cpu="4")
    return Scene(control_plane, tutti, jobs, auditor, tmp_path)


@pytest.mark.parametrize("webhooks", [UP, AWAY])
@pytest.mark.parametrize("default_queue", ["", "default"], ids=["its queue", "a default queue"])
def test_a_gang_in_a_queue_is_started_by_kueue_alone_and_whole(scene: Scene, webhooks: str, default_queue: str) -> None:
    job = indexed_job("queued", 2)
    if not default_queue:
        job["metadata"]["labels"] = {QUEUE: "team"}
    with scene.between(webhooks, KueueWebhook(default_queue=default_queue)) as kueue:
        made = scene.jobs.create(job)
        assert is_gang(made)
        assert made["metadata"]["labels"][QUEUE] == (default_queue or "team")
        throughout(lambda: scene.rests("queued"), seconds=QUIET_SECONDS)
        kueue.has_quota = True
        eventually(lambda: kueue.resumed, within_seconds=SOON_SECONDS)
        scene.let_start("queued", webhooks)
        assert (kueue.resumed, kueue.evicted) == ({"queued": 1}, {})
        marks = scene.jobs.get("queued")["metadata"].get("annotations", {})
        assert GATE not in marks


def test_a_queue_of_nobodys_holds_up_no_gang(scene: Scene) -> None:
    """Kueue is not there, or leaves the namespace alone, and neither are our webhooks."""
    with scene.between(AWAY, KueueWebhook()):
        pass
    job = indexed_job("labelled", 2)
    job["metadata"]["labels"] = {QUEUE: "team"}
    scene.allow_members_first()
    assert is_gang(scene.jobs.create(job))
    scene.let_start("labelled", AWAY)


def test_a_gang_that_its_user_suspended_while_our_webhooks_were_away_is_one_when_it_is_resumed(scene: Scene) -> None:
    with scene.between(AWAY, KueueWebhook()):
        pass
    assert is_gang(scene.jobs.create(indexed_job("later", 2, suspend=True)))
    throughout(lambda: scene.rests("later"), seconds=QUIET_SECONDS)
    scene.jobs.api.patch("jobs", "later", {"spec": {"suspend": False}}, scene.jobs.namespace)
    scene.let_start("later", AWAY)


@pytest.mark.parametrize("webhooks", [UP, AWAY])
def test_where_kueue_manages_jobs_without_a_queue_it_has_to_suspend_one_once_and_loses_none(
    scene: Scene, webhooks: str
) -> None:
    """Its namespaces are to be left out of the policy; where they are not, Kueue has its way in the end."""
    with scene.between(webhooks, KueueWebhook(manages_all=True), manages_all=True) as kueue:
        assert is_gang(scene.jobs.create(indexed_job("stray", 2)))
        if webhooks == UP or scene.jobs.api.path("podgroups").startswith("/apis/scheduling.k8s.io"):
            eventually(lambda: kueue.evicted == {"stray": 1}, within_seconds=SOON_SECONDS)
        eventually(lambda: scene.rests("stray"), within_seconds=SOON_SECONDS)
        throughout(lambda: scene.rests("stray"), seconds=QUIET_SECONDS)
        kueue.has_quota = True
        scene.jobs.api.patch("jobs", "stray", {"metadata": {"labels": {QUEUE: "team"}}}, scene.jobs.namespace)
        eventually(lambda: kueue.resumed, within_seconds=SOON_SECONDS)
        scene.let_start("stray", webhooks)
