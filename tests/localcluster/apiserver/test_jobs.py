"""Jobs and CronJobs: what the server makes of them, refuses, and lets change."""

from typing import Any

import pytest

from tests.localcluster.apiserver.rest import JOBS, Rest, job

Object = dict[str, Any]


async def test_a_job_gets_its_own_selector_and_all_defaults(rest: Rest) -> None:
    made = await rest.create(JOBS, job())
    uid, spec = made["metadata"]["uid"], made["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert spec["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "job-name": "j",
    }
    assert made["metadata"]["labels"] == spec["template"]["metadata"]["labels"]
    settings = ("parallelism", "completions", "backoffLimit", "completionMode", "suspend", "podReplacementPolicy")
    assert [spec[key] for key in settings] == [1, 1, 6, "NonIndexed", False, "TerminatingOrFailed"]
    assert made["status"] == {}


async def test_labels_of_a_jobs_own_stay_its_own_even_when_its_template_has_the_same(rest: Rest) -> None:
    sent = job()
    sent["metadata"]["labels"] = {"app": "train"}
    sent["spec"]["template"]["metadata"] = {"labels": {"app": "train"}}
    made = await rest.create(JOBS, sent)
    assert made["metadata"]["labels"] == {"app": "train"}
    assert "job-name" in made["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"parallelism": -1}, "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"),
        (
            {"completionMode": "Foo"},
            'spec.completionMode: Unsupported value: "Foo": supported values: "NonIndexed", "Indexed"',
        ),
        (
            {"completionMode": "Indexed", "parallelism": 1},
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        ({"backoffLimitPerIndex": 1}, "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"),
        (
            {"managedBy": "x"},
            'spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
        ),
        (
            {"podFailurePolicy": {"rules": [{"action": "FailJob"}]}},
            "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
        ),
        (
            {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
            'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
    ],
)
async def test_an_invalid_job_is_refused_in_the_real_words(rest: Rest, spec: Object, message: str) -> None:
    answer = await rest.ask("POST", JOBS, job(**spec))
    assert answer.code == 422
    assert answer.message == f'Job.batch "j" is invalid: {message}'


async def test_a_selector_of_ones_own_must_fit_the_template(rest: Rest) -> None:
    bare = await rest.ask("POST", JOBS, job(manualSelector=True))
    assert bare.fields == ["spec.selector", "spec.template.metadata.labels"]
    template = {**job()["spec"]["template"], "metadata": {"labels": {"a": "b"}}}
    spec: Object = {"manualSelector": True, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    made = await rest.create(JOBS, job(**spec))
    assert made["spec"]["template"]["metadata"]["labels"] == {"a": "b"}


async def test_names_that_make_bad_pods_are_refused(rest: Rest) -> None:
    indexed = await rest.ask("POST", JOBS, job("b" * 63, completionMode="Indexed", completions=2))
    assert "will not able to create pod with invalid DNS label" in indexed.message
    longer = await rest.ask("POST", JOBS, job("b" * 64))
    assert set(longer.fields) == {"spec.template.labels"}
    longest = await rest.ask("POST", JOBS, job("b" * 300))
    assert "must be no more than 253 characters" in longest.message


async def test_most_of_a_job_never_changes(rest: Rest) -> None:
    await rest.create(JOBS, job())
    for spec in ({"completions": 5}, {"completionMode": "Indexed"}, {"managedBy": "x/y"}):
        answer = await rest.patch(f"{JOBS}/j", {"spec": spec})
        assert answer.code == 422, spec
        assert answer.message.endswith("field is immutable"), spec
    assert (await rest.patch(f"{JOBS}/j", {"spec": {"parallelism": 3}})).body["metadata"]["generation"] == 2


async def test_an_indexed_job_scales_in_both_numbers_at_once(rest: Rest) -> None:
    await rest.create(JOBS, job(completionMode="Indexed", completions=2, parallelism=2))
    assert (await rest.patch(f"{JOBS}/j", {"spec": {"completions": 3}})).code == 422
    assert (await rest.patch(f"{JOBS}/j", {"spec": {"completions": 3, "parallelism": 3}})).code == 200


LABEL = {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}


async def test_the_template_is_closed_while_the_job_runs(rest: Rest) -> None:
    await rest.create(JOBS, job())
    answer = await rest.patch(f"{JOBS}/j", LABEL)
    assert answer.code == 422
    assert answer.fields == ["spec.template"]


async def test_the_template_of_a_suspended_job_opens_for_scheduling_only(rest: Rest) -> None:
    await rest.create(JOBS, job(suspend=True))
    assert (await rest.patch(f"{JOBS}/j", LABEL)).code == 200
    open_parts: list[Object] = [
        {"nodeSelector": {"a": "b"}},
        {"tolerations": [{"operator": "Exists"}]},
        {"schedulingGates": [{"name": "g"}]},
        {"containers": [{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "1"}}}]},
    ]
    for part in open_parts:
        assert (await rest.patch(f"{JOBS}/j", {"spec": {"template": {"spec": part}}})).code == 200, part
    for closed in ({"schedulerName": "x"}, {"containers": [{"name": "c", "image": "i:2"}]}):
        answer = await rest.patch(f"{JOBS}/j", {"spec": {"template": {"spec": closed}}})
        assert (answer.code, answer.fields) == (422, ["spec.template.spec"]), closed


async def test_a_job_that_ran_opens_once_it_says_it_is_suspended(rest: Rest) -> None:
    await rest.create(JOBS, job())
    started = {"status": {"startTime": "2026-01-01T00:00:00Z", "active": 1}}
    assert (await rest.patch(f"{JOBS}/j/status", started)).code == 200
    await rest.patch(f"{JOBS}/j", {"spec": {"suspend": True}})
    assert (await rest.patch(f"{JOBS}/j", LABEL)).code == 422
    suspended = {"active": 0, "conditions": [{"type": "Suspended", "status": "True"}]}
    await rest.patch(f"{JOBS}/j/status", {"status": suspended})
    assert (await rest.patch(f"{JOBS}/j", LABEL)).code == 200


COMPLETE: Object = {
    "startTime": "2026-01-01T00:00:00Z",
    "completionTime": "2026-01-01T00:01:00Z",
    "conditions": [{"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}],
}


async def test_a_finished_status_is_whole_and_stays(rest: Rest) -> None:
    await rest.create(JOBS, job())
    half = await rest.patch(f"{JOBS}/j/status", {"status": {"conditions": [{"type": "Complete", "status": "True"}]}})
    assert set(half.fields) == {"status.completionTime", "status.conditions", "status.startTime"}
    assert (await rest.patch(f"{JOBS}/j/status", {"status": COMPLETE})).code == 200
    undone = await rest.patch(f"{JOBS}/j/status", {"status": {"conditions": [], "completionTime": None}})
    assert "cannot disable or remove the Complete=True condition" in undone.message


async def test_deleting_a_job_keeps_its_pods_unless_told_otherwise(rest: Rest) -> None:
    await rest.create(JOBS, job())
    answer = await rest.ask("DELETE", f"{JOBS}/j")
    assert answer.body["metadata"]["finalizers"] == ["orphan"]
    assert "child pods are preserved by default" in answer.headers["Warning"]
    await rest.create(JOBS, job("k"))
    gone = await rest.ask("DELETE", f"{JOBS}/k", {"propagationPolicy": "Background"})
    assert gone.body["status"] == "Success"
    assert gone.body["details"]["kind"] == "jobs"


async def test_a_cron_job_has_defaults_and_a_schedule_of_five_fields(rest: Rest) -> None:
    path = "/apis/batch/v1/namespaces/default/cronjobs"
    template = {"spec": {"template": job()["spec"]["template"]}}
    made = await rest.create(
        path, {"metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": template}}
    )
    assert made["spec"]["concurrencyPolicy"] == "Allow"
    assert "completions" not in made["spec"]["jobTemplate"]["spec"]
    bad = await rest.ask("POST", path, {"metadata": {"name": "d"}, "spec": {"schedule": "x", "jobTemplate": template}})
    assert 'spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]' in bad.message
