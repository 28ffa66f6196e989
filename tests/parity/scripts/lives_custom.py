"""The ordinary lives of custom resources: our own, LeaderWorkerSets, JobSets, and the groups of other gang schedulers."""

from tests.conformance.kueue import CRD as KUEUE_CRD
from tests.conformance.kueue import DEFINITION as KUEUE_DEFINITION
from tests.parity.life import Kind, lives
from tests.parity.scripts.custom import DEFINITIONS
from tests.parity.scripts.objects import Object, condition, of
from tests.parity.steps import Script, delete, get, post, quiet

SCOPE = "namespaces/{ns}"
OWN = f"/apis/tutti.scheduler/v1beta1/{SCOPE}"
GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
TEMPLATE = {"spec": {"containers": [{"name": "main", "image": "none:1"}]}}


def conditions(kind: str) -> Object:
    """A status of one condition."""
    return {"status": {"conditions": [condition(kind, reason="Told", message="Told.")]}}


OWN_LIVES = Script(
    "lives-own",
    lives(
        Kind(
            f"{OWN}/podgroups",
            of("tutti.scheduler/v1beta1", "PodGroup", "", spec=GANG),
            {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}},
            status=conditions("PodGroupInitiallyScheduled"),
        ),
        Kind(
            f"{OWN}/workloads",
            of(
                "tutti.scheduler/v1beta1",
                "Workload",
                "",
                spec={
                    "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
                    "podGroupTemplates": [{"name": "j-pgt-0", **GANG}],
                },
            ),
            {"metadata": {"annotations": {"tutti.scheduler/managed-by": "somebody"}}},
        ),
    ),
)
TREES_LIVES = Script(
    "lives-trees",
    lives(
        Kind(
            f"{OWN}/compositepodgroups",
            of(
                "tutti.scheduler/v1beta1",
                "CompositePodGroup",
                "",
                spec={
                    "schedulingPolicy": {"gang": {"minGroupCount": 2}},
                    "workloadRef": {"workloadName": "w", "templateName": "t"},
                },
            ),
            {"spec": {"schedulingPolicy": {"gang": {"minGroupCount": 3}}}},
            status=conditions("CompositePodGroupInitiallyScheduled"),
        )
    ),
)
SETS_LIVES = Script(
    "lives-leader-worker-sets",
    lives(
        Kind(
            f"/apis/leaderworkerset.x-k8s.io/v1/{SCOPE}/leaderworkersets",
            of(
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                "",
                spec={"replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": TEMPLATE}},
            ),
            {"spec": {"replicas": 3}},
            status={"status": {"replicas": 1, "readyReplicas": 1, **conditions("Available")["status"]}},
            replicas=True,
        )
    ),
    foreign=("leaderworkersets.yaml",),
)
JOB_SETS_LIVES = Script(
    "lives-job-sets",
    lives(
        Kind(
            f"/apis/jobset.x-k8s.io/v1alpha2/{SCOPE}/jobsets",
            of(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                "",
                spec={
                    "replicatedJobs": [
                        {
                            "name": "workers",
                            "replicas": 2,
                            "template": {"spec": {"parallelism": 2, "template": TEMPLATE}},
                        }
                    ]
                },
            ),
            {"spec": {"suspend": True}},
            status={"status": {"restarts": 1, **conditions("Suspended")["status"]}},
        )
    ),
    foreign=("jobsets.yaml",),
)
SCHEDULERS_LIVES = Script(
    "lives-other-schedulers",
    lives(
        *(
            Kind(
                f"/apis/{group}/{version}/{SCOPE}/podgroups",
                of(f"{group}/{version}", "PodGroup", "", spec=spec),
                {"spec": {"minMember": 3}},
                called=group,
            )
            for group, version, spec in (
                ("scheduling.volcano.sh", "v1beta1", {"minMember": 2, "minResources": {"cpu": "2"}}),
                ("scheduling.x-k8s.io", "v1alpha1", {"minMember": 2, "minResources": {"cpu": "2"}}),
                ("scheduling.run.ai", "v2alpha2", {"minMember": 2, "queue": "q"}),
                ("scheduling.sigs.k8s.io", "v1alpha1", {"minMember": 2}),
            )
        )
    ),
    foreign=(
        "volcano-podgroups.yaml",
        "coscheduling-podgroups.yaml",
        "kai-podgroups.yaml",
        "koordinator-podgroups.yaml",
    ),
)

KUEUE_WORKLOADS = f"/apis/kueue.x-k8s.io/v1beta2/{SCOPE}/workloads"
KUEUE_LIVES = Script(
    "lives-kueue",
    [
        get("topologies where there is no Kueue", "/apis/kueue.x-k8s.io/v1beta2/topologies"),
        quiet(post("define", DEFINITIONS, KUEUE_DEFINITION)),
        quiet(get("wait until it is served", KUEUE_WORKLOADS, until=("kind", "WorkloadList"))),
        *lives(
            Kind(
                KUEUE_WORKLOADS,
                of("kueue.x-k8s.io/v1beta2", "Workload", "", spec={"active": True, "queueName": "team"}),
                {"spec": {"active": False}},
            )
        ),
        quiet(delete("take the definition away", f"{DEFINITIONS}/{KUEUE_CRD}")),
    ],
)

SCRIPTS = [OWN_LIVES, TREES_LIVES, SETS_LIVES, JOB_SETS_LIVES, SCHEDULERS_LIVES, KUEUE_LIVES]
