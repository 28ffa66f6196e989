"""Jobs and CronJobs, without anybody who runs them."""

from typing import Any

from tests.parity.scripts.objects import condition, job
from tests.parity.steps import Script, delete, get, patch, post, put, table, watch

JOBS = "/apis/batch/v1/namespaces/{ns}/jobs"
ONE = f"{JOBS}/one"
CRON_JOBS = "/apis/batch/v1/namespaces/{ns}/cronjobs"
INDEXED = {"parallelism": 3, "completions": 3, "completionMode": "Indexed"}
CRON_JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "nightly"},
    "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": job("x")["spec"]}},
}
POLICY = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}

JOBS_SCRIPT = Script(
    "jobs",
    [
        post(
            "create",
            JOBS,
            job("one", spec=INDEXED | {"suspend": True}),
            keep={"version": "metadata.resourceVersion", "uid": "metadata.uid"},
        ),
        post("create a second time", JOBS, job("one")),
        post("create with defaults", JOBS, job("plain")),
        post(
            "create with a failure policy",
            JOBS,
            job("careful", spec=INDEXED | {"podFailurePolicy": POLICY, "backoffLimitPerIndex": 1}),
        ),
        post("create by a generated name", JOBS, {**job(""), "metadata": {"generateName": "many-"}}),
        post("create without a restart policy", JOBS, job("bad", template={"restartPolicy": "Always"})),
        post("create indexed without completions", JOBS, job("bad", spec={"completionMode": "Indexed"})),
        post("create with a negative parallelism", JOBS, job("bad", spec={"parallelism": -1})),
        post(
            "create without a template",
            JOBS,
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bad"}, "spec": {}},
        ),
        post("create with a long name", JOBS, job("n" * 300)),
        post("create indexed with too long a name", JOBS, job("n" * 62, spec=INDEXED)),
        post(
            "create with an unknown field",
            JOBS,
            job("strict", spec={"parallelizm": 2}),
            query={"fieldValidation": "Strict"},
        ),
        post(
            "create with an unknown field, warned",
            JOBS,
            job("warned", spec={"parallelizm": 2}),
            query={"fieldValidation": "Warn", "dryRun": "All"},
        ),
        post(
            "create with an unknown field, ignored",
            JOBS,
            job("ignored", spec={"parallelizm": 2}),
            query={"fieldValidation": "Ignore", "dryRun": "All"},
        ),
        post("create with a wrong type", JOBS, job("bad", spec={"parallelism": "two"})),
        get("get", ONE),
        table("get as a table", ONE),
        table(
            "list as a table",
            JOBS,
            query={"limit": "500", "labelSelector": "!nothing", "fieldSelector": "metadata.name=one"},
        ),
        patch("change the parallelism", ONE, {"spec": {"parallelism": 2}}),
        patch("change the completions", ONE, {"spec": {"completions": 4}}),
        patch("change both together", ONE, {"spec": {"completions": 4, "parallelism": 4}}),
        patch("change the completion mode", ONE, {"spec": {"completionMode": "NonIndexed"}}),
        patch(
            "change the template while suspended",
            ONE,
            {
                "spec": {
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"schedulingGates": [{"name": "x.org/g"}]}}
                }
            },
        ),
        patch(
            "change the image while suspended",
            ONE,
            {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}},
            "strategic",
        ),
        patch("resume", ONE, {"spec": {"suspend": False}}),
        patch("change the template while running", ONE, {"spec": {"template": {"metadata": {"labels": {"a": "c"}}}}}),
        patch("start", f"{ONE}/status", {"status": {"startTime": "2026-01-15T08:00:00Z", "active": 4, "ready": 0}}),
        patch("count more successes than completions", f"{ONE}/status", {"status": {"succeeded": 9}}),
        patch("complete without counting", f"{ONE}/status", {"status": {"conditions": [condition("Complete")]}}),
        patch(
            "fail",
            f"{ONE}/status",
            {
                "status": {
                    "active": 0,
                    "ready": 0,
                    "failed": 1,
                    "conditions": [condition("FailureTarget"), condition("Failed")],
                }
            },
        ),
        table("get failed as a table", ONE),
        patch("annotate", ONE, {"metadata": {"annotations": {"a": "b"}}}),
        patch(
            "set owners and finalizers",
            ONE,
            {
                "metadata": {
                    "finalizers": ["example.org/keep"],
                    "ownerReferences": [
                        {
                            "apiVersion": "v1",
                            "kind": "ConfigMap",
                            "name": "c",
                            "uid": "11111111-1111-1111-1111-111111111111",
                        }
                    ],
                }
            },
        ),
        put("replace with a stale version", ONE, job("one", spec=INDEXED, resourceVersion="${version}")),
        get("scale does not exist", f"{ONE}/scale"),
        patch("scaling is refused", f"{ONE}/scale", {"spec": {"replicas": 3}}),
        delete("delete what has a finalizer", ONE, {"propagationPolicy": "Background"}),
        get("it waits for its finalizer", ONE),
        patch("let it go", ONE, {"metadata": {"finalizers": None}}),
        get("it is gone", ONE),
        delete("delete in the foreground", f"{JOBS}/plain", {"propagationPolicy": "Foreground"}),
        delete("delete without a policy", f"{JOBS}/careful"),
        watch("watch", JOBS, query={"fieldSelector": "metadata.name=plain"}),
    ],
)

CRON_JOBS_SCRIPT = Script(
    "cron-jobs",
    [
        post("create", CRON_JOBS, CRON_JOB),
        post(
            "create with a bad schedule",
            CRON_JOBS,
            {**CRON_JOB, "metadata": {"name": "bad"}, "spec": {**CRON_JOB["spec"], "schedule": "never"}},
        ),
        table("get as a table", f"{CRON_JOBS}/nightly"),
        patch("suspend", f"{CRON_JOBS}/nightly", {"spec": {"suspend": True}}, "strategic"),
        patch("note a run", f"{CRON_JOBS}/nightly/status", {"status": {"lastScheduleTime": "2026-01-15T08:00:00Z"}}),
        table("list as a table", CRON_JOBS),
        delete("delete", f"{CRON_JOBS}/nightly"),
    ],
)

SCRIPTS = [JOBS_SCRIPT, CRON_JOBS_SCRIPT]
