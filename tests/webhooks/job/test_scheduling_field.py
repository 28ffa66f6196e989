"""`spec.scheduling` of a Job: translated where we act, written where the cluster's Job controller does."""

from typing import Any

import pytest

from api.constants import DISRUPTION_MODE, ELASTIC, GATE, MANAGED, MIN_COUNT, POLICY, PROVIDER, TOPOLOGY
from api.errors import ConfigurationError
from kube.groups.group_api import BUILT_IN, OWN
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, owner, patched, request
from webhooks.admission.config import AdmissionConfig, JobIntegration
from webhooks.admission.review import ALLOWED, Response
from webhooks.cronjob import validate_cron_job
from webhooks.job.defaulter import default_job
from webhooks.job.scheduling_field import integration_in_force

GANG: Object = {"schedulingPolicy": {"gang": {}}}


def admit(new: Object, integration: JobIntegration) -> Response:
    return default_job(request(new), AdmissionConfig(standard_providers(), integration=integration))


def admitted(new: Object, integration: JobIntegration) -> Object:
    stored = patched(new, admit(new, integration))
    assert admit(stored, integration).patch == ()
    return stored


def settings_of(stored: Object) -> dict[str, str]:
    return {key: value for key, value in stored["metadata"].get("annotations", {}).items() if key != GATE}


@pytest.mark.parametrize(
    ("scheduling", "said"),
    [
        ({}, {POLICY: "basic", DISRUPTION_MODE: "single"}),
        ({"schedulingPolicy": {"basic": {}}}, {POLICY: "basic", DISRUPTION_MODE: "single"}),
        (GANG, {POLICY: "gang", DISRUPTION_MODE: "single", ELASTIC: "true"}),
        (
            {"schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"all": {}}},
            {POLICY: "gang", DISRUPTION_MODE: "all", ELASTIC: "true", MIN_COUNT: "2"},
        ),
        (
            {**GANG, "schedulingConstraints": {"topology": [{"key": "rack"}]}},
            {POLICY: "gang", DISRUPTION_MODE: "single", ELASTIC: "true", TOPOLOGY: "rack"},
        ),
        ({"schedulingPolicy": {"gang": None, "basic": {}}}, {POLICY: "basic", DISRUPTION_MODE: "single"}),
    ],
)
@pytest.mark.parametrize("indexed", [True, False])
def test_74_where_we_make_the_groups_the_field_becomes_annotations(
    scheduling: Object, said: dict[str, str], indexed: bool
) -> None:
    stored = admitted(job(scheduling=scheduling, indexed=indexed), "tutti")
    assert settings_of(stored) == said
    assert "scheduling" not in stored["spec"]
    assert stored["spec"]["suspend"] is True
    assert MANAGED in stored["spec"]["template"]["metadata"]["labels"]


def test_the_field_wins_over_annotations() -> None:
    contrary = {POLICY: "gang", MIN_COUNT: "3", TOPOLOGY: "zone", DISRUPTION_MODE: "all"}
    stored = admitted(job(scheduling={}, annotations=contrary), "tutti")
    assert settings_of(stored) == {POLICY: "basic", DISRUPTION_MODE: "single"}


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (job(scheduling=GANG, annotations={POLICY: "none"}), "opted out"),
        (job(scheduling=GANG, owners=[owner("JobSet")]), "of a parent"),
        (job(scheduling=GANG, scheduler_name="somebody-else"), "another scheduler"),
        (job(scheduling=GANG, managedBy="kueue.x-k8s.io/multikueue"), "run by somebody else"),
    ],
)
@pytest.mark.parametrize("integration", ["tutti", "auto", "kubernetes"])
def test_the_field_of_a_job_that_is_not_ours_is_left_alone(new: Object, why: str, integration: JobIntegration) -> None:
    assert admit(new, integration).patch == (), why


@pytest.mark.parametrize(
    ("scheduling", "words"),
    [
        ({"schedulingPolicy": {"gang": {"minCount": 4}}}, "'4' is not a whole number from 1 to 3"),
        ({"schedulingPolicy": {"gang": {"minCount": 0}}}, "'0' is not a whole number from 1 to 3"),
        ({"schedulingPolicy": {"gang": {}, "basic": {}}}, "must specify exactly one of: `basic`, `gang`"),
        ({"disruptionMode": {"all": {}}}, "all needs a gang"),
        ({**GANG, "schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}}, "at most 1 item"),
        ({**GANG, "schedulingConstraints": {"topology": [{}]}}, "spec.scheduling.schedulingConstraints.topology"),
        ({"schedulingPolicy": 3}, "spec.scheduling.schedulingPolicy"),
    ],
)
def test_99_a_field_that_cannot_be_used_is_refused(scheduling: Object, words: str) -> None:
    response = admit(job(scheduling=scheduling), "tutti")
    assert not response.allowed
    assert words in response.message


def test_where_the_server_decides_the_field_is_written_and_the_job_is_gated_all_the_same() -> None:
    stored = admitted(job(), "auto")
    assert stored["spec"]["scheduling"] == {"schedulingPolicy": {"gang": {}}, "disruptionMode": {"all": {}}}
    assert stored["spec"]["suspend"] is True
    assert MANAGED in stored["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize(
    ("annotations", "field"),
    [
        ({}, {"schedulingPolicy": {"gang": {}}, "disruptionMode": {"all": {}}}),
        ({MIN_COUNT: "2"}, {"schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"all": {}}}),
        ({POLICY: "basic"}, {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"single": {}}}),
        (
            {TOPOLOGY: "rack", DISRUPTION_MODE: "single"},
            {
                "schedulingPolicy": {"gang": {}},
                "disruptionMode": {"single": {}},
                "schedulingConstraints": {"topology": [{"key": "rack"}]},
            },
        ),
    ],
)
def test_where_the_cluster_makes_the_groups_only_the_field_and_the_scheduler_are_written(
    annotations: dict[str, str], field: Object
) -> None:
    stored = admitted(job(annotations=annotations), "kubernetes")
    assert stored["spec"]["scheduling"] == field
    assert stored["spec"]["suspend"] is False
    assert stored["spec"]["template"]["spec"]["schedulerName"] == "tutti"
    assert "metadata" not in stored["spec"]["template"]


def test_a_field_its_user_wrote_is_kept_where_it_may_count() -> None:
    for integration in ("auto", "kubernetes"):
        mode: JobIntegration = "auto" if integration == "auto" else "kubernetes"
        assert admitted(job(scheduling=GANG), mode)["spec"]["scheduling"] == GANG


def test_with_our_own_crds_it_is_always_we() -> None:
    assert integration_in_force("auto", OWN) == "tutti"
    assert integration_in_force("auto", BUILT_IN) == "auto"
    with pytest.raises(ConfigurationError, match="needs the built-in group API"):
        integration_in_force("kubernetes", OWN)


def cron_job(annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    template = job(annotations=annotations, **spec)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "team"},
        "spec": {"schedule": "0 0 * * *", "jobTemplate": {"metadata": template["metadata"], "spec": template["spec"]}},
    }


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (cron_job({MIN_COUNT: "4"}), f"spec.jobTemplate.metadata.annotations[{MIN_COUNT}]: '4' is not a whole number"),
        (cron_job({PROVIDER: "nomad"}), f"spec.jobTemplate.metadata.annotations[{PROVIDER}]: 'nomad' is not one of"),
        (
            cron_job({PROVIDER: "pfnet", MIN_COUNT: "2"}),
            f"spec.jobTemplate.metadata.annotations[{MIN_COUNT}]: provider pfnet starts all pods",
        ),
        (cron_job({POLICY: "gangs"}), f"spec.jobTemplate.metadata.annotations[{POLICY}]"),
        (
            cron_job(scheduling={"schedulingPolicy": {"gang": {}, "basic": {}}}),
            "spec.jobTemplate.spec.scheduling.schedulingPolicy",
        ),
    ],
)
def test_99_settings_in_a_cron_job_are_refused_where_they_are_written(new: Object, words: str) -> None:
    response = validate_cron_job(request(new), providers=standard_providers())
    assert not response.allowed
    assert response.message.startswith(words)


@pytest.mark.parametrize("new", [cron_job(), cron_job({MIN_COUNT: "2"}), cron_job(scheduling=GANG)])
def test_good_settings_in_a_cron_job_pass(new: Object) -> None:
    assert validate_cron_job(request(new), providers=standard_providers()) == ALLOWED
