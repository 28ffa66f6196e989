"""What a Namespace and the configuration say where the Job says nothing."""

from collections.abc import Mapping
from typing import Any

import pytest

from api.constants import DISRUPTION_MODE, ELASTIC, GATE, MANAGED, POLICY, PROVIDER, TOPOLOGY
from api.errors import ConfigurationError
from kube.process.settings import load_settings
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, owner, patched, request
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.gang_defaults import GangDefaults
from webhooks.admission.review import ALLOWED, Response
from webhooks.job.defaulter import default_job
from webhooks.settings import WebhooksSettings


def admit(
    new: Object, *, namespace: Mapping[str, str] | None = None, cluster: GangDefaults | None = None, **rules: Any
) -> Response:
    spaces = {"team": namespace or {}}
    defaults = (cluster or GangDefaults()).annotations
    found = AdmissionConfig(
        standard_providers(), defaults=defaults, namespace=lambda name: spaces.get(name, {}), **rules
    )
    response = default_job(request(new), found)
    again = default_job(request(patched(new, response)), found)
    assert again.patch == ()
    return response


def annotations(new: Object, response: Response) -> dict[str, str]:
    found = dict(patched(new, response)["metadata"].get("annotations", {}))
    found.pop(GATE, None)
    return found


def is_taken_in(new: Object, response: Response) -> bool:
    return MANAGED in patched(new, response)["spec"]["template"].get("metadata", {}).get("labels", {})


CLUSTER = GangDefaults(disruption_mode="single", topology="rack", elastic=True)


def test_without_defaults_nothing_is_added() -> None:
    assert annotations(job(), admit(job())) == {}


def test_the_configuration_fills_what_the_job_leaves_out() -> None:
    assert annotations(job(), admit(job(), cluster=CLUSTER)) == {
        DISRUPTION_MODE: "single",
        TOPOLOGY: "rack",
        ELASTIC: "true",
    }


def test_the_namespace_comes_before_the_configuration_and_the_job_before_both() -> None:
    new = job(annotations={ELASTIC: "false"})
    found = annotations(new, admit(new, namespace={TOPOLOGY: "zone", ELASTIC: "true"}, cluster=CLUSTER))
    assert found == {DISRUPTION_MODE: "single", TOPOLOGY: "zone", ELASTIC: "false"}


@pytest.mark.parametrize("where", ["namespace", "cluster"])
def test_gangs_can_be_made_a_choice(where: str) -> None:
    opt_in: dict[str, Any] = (
        {"namespace": {POLICY: "none"}} if where == "namespace" else {"cluster": GangDefaults(policy="none")}
    )
    response = admit(job(), **opt_in)
    assert annotations(job(), response) == {POLICY: "none"}
    assert not is_taken_in(job(), response)
    assert patched(job(), response)["spec"]["suspend"] is False
    chosen = job(annotations={POLICY: "gang"})
    assert is_taken_in(chosen, admit(chosen, **opt_in))


def test_a_namespace_opts_in_again_where_the_cluster_opts_out() -> None:
    response = admit(job(), namespace={POLICY: "gang"}, cluster=GangDefaults(policy="none"))
    assert is_taken_in(job(), response)


def test_a_basic_default_leaves_out_what_needs_a_gang() -> None:
    cluster = GangDefaults(policy="basic", disruption_mode="all", topology="rack")
    response = admit(job(), cluster=cluster)
    assert annotations(job(), response) == {POLICY: "basic", TOPOLOGY: "rack"}
    assert "a default of the configuration was left out" in response.warnings[0]


@pytest.mark.parametrize(
    "new",
    [job(indexed=False), job(parallelism=1, completions=1), job(owners=[owner("JobSet")])],
    ids=["not indexed", "one pod", "of a parent"],
)
def test_a_default_makes_no_gang_of_a_job_that_is_none(new: Object) -> None:
    assert admit(new, namespace={POLICY: "gang", TOPOLOGY: "zone"}, cluster=CLUSTER) == ALLOWED


def test_a_broken_default_of_a_namespace_is_told_and_refuses_nobody() -> None:
    response = admit(job(), namespace={TOPOLOGY: "no label key", PROVIDER: "nobody"})
    assert is_taken_in(job(), response)
    assert annotations(job(), response) == {}
    assert len(response.warnings) == 2
    assert all("a default of the namespace was left out" in warning for warning in response.warnings)


def test_a_provider_of_the_namespace_takes_no_pods_from_a_scheduler_that_was_named() -> None:
    new = job(scheduler_name="somebody-else")
    assert admit(new, namespace={PROVIDER: "embedded"}) == ALLOWED


def test_with_gang_jobs_switched_off_new_jobs_stay_plain() -> None:
    assert admit(job(), gang_jobs=False) == ALLOWED
    asked = job(annotations={POLICY: "gang"})
    response = admit(asked, gang_jobs=False)
    assert response.patch == ()
    assert "gang Jobs are switched off" in response.warnings[0]


def test_a_copy_of_a_gated_gang_runs_plain_once_gang_jobs_are_switched_off() -> None:
    copied = job(annotations={GATE: "pod-group"}, template_labels={MANAGED: "embedded"}, suspend=True)
    response = admit(copied, gang_jobs=False)
    assert patched(copied, response)["spec"]["suspend"] is False
    assert not is_taken_in(copied, response)


def test_defaults_and_gates_are_settings() -> None:
    given = {"defaults": {"policy": "none", "topology": "rack"}, "feature_gates": {"gangJobs": False}}
    settings = load_settings(WebhooksSettings, None, **given)
    assert settings.defaults.annotations == {POLICY: "none", TOPOLOGY: "rack"}
    assert not settings.feature_gates.gang_jobs


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"defaults": {"topology": "no label"}}, "is not a label key"),
        ({"defaults": {"policy": "gangs"}}, "defaults.policy"),
        ({"feature_gates": {"gangjobs": False}}, "unknown setting 'feature_gates.gangjobs'"),
        ({"job_integration": "both"}, "job_integration"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_at_the_start(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        load_settings(WebhooksSettings, None, **given)
