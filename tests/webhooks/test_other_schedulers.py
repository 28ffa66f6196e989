"""Jobs and pods of gang schedulers that are not ours: what admission adds, refuses, and keeps its hands off."""

from typing import Any

import pytest

from api.constants import ELASTIC, GATE, MANAGED, MIN_COUNT, POD_GROUP, PROVIDER, SCHEDULING_TIMEOUT, TOPOLOGY
from kube.groups.group_api import BUILT_IN
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, owner, patched, pod, request
from webhooks.admission.config import AdmissionConfig, JobIntegration
from webhooks.admission.review import ALLOWED, Response
from webhooks.job.defaulter import default_job
from webhooks.job.update_defaulter import default_updated_job
from webhooks.pod import default_pod

KNOWN = standard_providers(built_in_groups=True)
GROUP_NAME = "scheduling.k8s.io/group-name"
JOB_OWNER = {**owner("Job"), "apiVersion": "batch/v1"}


def admit(new: Object, integration: JobIntegration = "tutti", **rules: Any) -> Response:
    return default_job(request(new), AdmissionConfig(KNOWN, integration=integration, **rules))


def admitted(new: Object, integration: JobIntegration = "tutti", **rules: Any) -> Object:
    """The Job as stored; a second pass of the webhook must change nothing."""
    stored = patched(new, admit(new, integration, **rules))
    assert admit(stored, integration, **rules).patch == ()
    return stored


def label_of(stored: Object) -> str | None:
    value = stored["spec"]["template"].get("metadata", {}).get("labels", {}).get(MANAGED)
    assert value is None or isinstance(value, str)
    return value


@pytest.mark.parametrize(
    ("name", "scheduler_name"),
    [
        ("kube-scheduler", "default-scheduler"),
        ("volcano", "volcano"),
        ("coscheduling", "scheduler-plugins-scheduler"),
        ("yunikorn", "yunikorn"),
        ("kai", "kai-scheduler"),
        ("koordinator", "koord-scheduler"),
        ("kueue", "default-scheduler"),
        ("pfnet", "default-scheduler"),
    ],
)
def test_the_annotation_chooses_scheduler_name_and_label(name: str, scheduler_name: str) -> None:
    stored = admitted(job(annotations={PROVIDER: name}))
    assert stored["spec"]["template"]["spec"]["schedulerName"] == scheduler_name
    assert label_of(stored) == name
    assert stored["metadata"]["annotations"][GATE] == "pod-group"


def test_the_scheduler_name_chooses_the_provider() -> None:
    assert label_of(admitted(job(scheduler_name="volcano"))) == "volcano"


def test_the_namespace_chooses_where_the_job_says_nothing() -> None:
    namespace: dict[str, Any] = {"namespace": lambda _: {PROVIDER: "kai"}}
    assert label_of(admitted(job(), **namespace)) == "kai"
    assert label_of(admitted(job(scheduler_name="volcano"), **namespace)) == "volcano"
    assert label_of(admitted(job(annotations={PROVIDER: "yunikorn"}), **namespace)) == "yunikorn"


@pytest.mark.parametrize(
    ("key", "kind", "scheduler_name"),
    [
        (GROUP_NAME, "template_annotations", "volcano"),
        ("scheduling.x-k8s.io/pod-group", "template_labels", "scheduler-plugins-scheduler"),
        ("yunikorn.apache.org/app-id", "template_labels", "yunikorn"),
        ("pod-group-name", "template_annotations", "kai-scheduler"),
    ],
)
def test_a_job_whose_user_has_made_a_group_is_left_alone(key: str, kind: str, scheduler_name: str) -> None:
    grouped: dict[str, Any] = {kind: {key: "mine"}}
    assert admit(job(scheduler_name=scheduler_name, **grouped)) == Response()


def test_a_copy_of_an_admitted_job_loses_the_group_and_keeps_the_queue() -> None:
    copied = job(
        scheduler_name="kai-scheduler",
        template_labels={MANAGED: "kai", "kai.scheduler/queue": "team-a"},
        template_annotations={POD_GROUP: "g", "pod-group-name": "g"},
    )
    template = admitted(copied)["spec"]["template"]["metadata"]
    assert template["annotations"] == {}
    assert template["labels"] == {MANAGED: "kai", "kai.scheduler/queue": "team-a"}


def test_what_breaks_the_gang_is_refused_where_its_user_asked_for_it() -> None:
    refused = admit(job(annotations={PROVIDER: "pfnet", MIN_COUNT: "2"}))
    assert not refused.allowed
    assert refused.message.startswith("metadata.annotations[tutti.scheduler/min-count]: provider pfnet starts all pods")


def test_what_breaks_the_gang_is_left_out_where_a_default_asked_for_it() -> None:
    response = admit(job(annotations={PROVIDER: "pfnet"}), namespace=lambda _: {ELASTIC: "true"})
    assert response.allowed
    assert any("cannot resize a gang" in warning for warning in response.warnings)
    stored = admitted(job(annotations={PROVIDER: "pfnet"}), namespace=lambda _: {ELASTIC: "true"})
    assert ELASTIC not in stored["metadata"]["annotations"]


def test_a_wish_that_is_not_carried_out_is_a_warning() -> None:
    response = admit(job(annotations={PROVIDER: "volcano", TOPOLOGY: "zone"}))
    assert response.warnings == (f"metadata.annotations[{TOPOLOGY}]: provider volcano does not observe it",)


def test_a_time_that_is_none_is_refused() -> None:
    refused = admit(job(annotations={PROVIDER: "coscheduling", SCHEDULING_TIMEOUT: "soon"}))
    assert "'soon' is not a duration above zero" in refused.message


def test_the_clusters_own_job_controller_is_not_asked_to_group_pods_of_a_scheduler_that_does_not_read_its_groups() -> (
    None
):
    assert "scheduling" in admitted(job(annotations={PROVIDER: "kube-scheduler"}), "auto")["spec"]
    stored = admitted(job(annotations={PROVIDER: "volcano"}), "kubernetes")
    assert "scheduling" not in stored["spec"]
    assert label_of(stored) == "volcano"
    stated = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    stored = admitted(job(annotations={PROVIDER: "volcano"}, scheduling=stated), "auto")
    assert "scheduling" not in stored["spec"]
    assert stored["metadata"]["annotations"][MIN_COUNT] == "2"


def test_a_job_that_kueue_does_not_hold_is_told_what_that_means() -> None:
    (warning,) = admit(job(annotations={PROVIDER: "kueue"})).warnings
    assert "may start one by one" in warning
    assert admit(job(annotations={PROVIDER: "kueue"}, suspend=True)).warnings == ()


# --- later on ------------------------------------------------------------------------------------------------------------


def running(name: str, annotations: dict[str, str]) -> Object:
    stored = admitted(job(annotations={PROVIDER: name}))
    stored["spec"]["suspend"] = False
    stored["metadata"]["annotations"].pop(GATE)
    stored["spec"]["template"]["metadata"]["annotations"] = dict(annotations)
    return stored


def test_a_reapplied_manifest_gets_the_metadata_of_its_scheduler_back() -> None:
    old = running("kai", {POD_GROUP: "g", "pod-group-name": "g", "kai.scheduler/skip-podgrouper": "true"})
    old["spec"]["template"]["metadata"]["labels"]["kai.scheduler/queue"] = "default-queue"
    stored = patched(job(annotations={PROVIDER: "kai"}), default_updated_job(request(job(), old), providers=KNOWN))
    assert stored["spec"]["template"]["metadata"] == old["spec"]["template"]["metadata"]
    assert stored["spec"]["template"]["spec"]["schedulerName"] == "kai-scheduler"


@pytest.mark.parametrize(("name", "held"), [("volcano", True), ("kueue", False)])
def test_a_job_that_is_resumed_without_a_group_is_held_unless_it_needs_none(name: str, held: bool) -> None:
    old = admitted(job(annotations={PROVIDER: name}, suspend=True))
    new = {**old, "spec": {**old["spec"], "suspend": False}}
    stored = patched(new, default_updated_job(request(new, old), providers=KNOWN))
    assert stored["spec"]["suspend"] is held
    assert (GATE in stored["metadata"]["annotations"]) is held


def pod_of(name: str, **more: Any) -> Object:
    return pod(labels={MANAGED: name}, ownerReferences=[JOB_OWNER], **more)


def associate(new: Object) -> Response:
    return default_pod(request(new), group_api=BUILT_IN, providers=KNOWN)


@pytest.mark.parametrize(("name", "is_told"), [("embedded", True), ("kube-scheduler", True), ("volcano", False)])
def test_the_field_is_set_for_schedulers_that_read_it(name: str, is_told: bool) -> None:
    stored = patched(pod_of(name), associate(pod_of(name, annotations={POD_GROUP: "g"})))
    assert ("schedulingGroup" in stored["spec"]) is is_told


def test_a_pod_of_a_job_that_would_start_alone_is_refused() -> None:
    refused = associate(pod_of("kube-scheduler"))
    assert (refused.allowed, refused.code) == (False, 403)
    assert "waits for its group" in refused.message


@pytest.mark.parametrize(
    "new",
    [pod_of("embedded"), pod_of("kueue"), pod(labels={MANAGED: "kube-scheduler"}), pod_of("nobody-knows")],
    ids=["held by its scheduler", "needs no group", "no Job's", "unknown"],
)
def test_other_pods_without_a_group_are_let_through(new: Object) -> None:
    assert associate(new) == ALLOWED


def test_a_job_that_names_a_profile_of_the_embedded_scheduler_is_taken_in_and_keeps_the_name() -> None:
    known = standard_providers(profile_names=("tutti-packed",))
    new = job()
    new["spec"]["template"]["spec"]["schedulerName"] = "tutti-packed"
    stored = patched(new, default_job(request(new), AdmissionConfig(known)))
    assert label_of(stored) == "embedded"
    assert stored["spec"]["template"]["spec"]["schedulerName"] == "tutti-packed"
    assert label_of(patched(new, default_job(request(new), AdmissionConfig(standard_providers())))) is None
