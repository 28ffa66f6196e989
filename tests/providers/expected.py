"""What each gang scheduler has to be told, literally: one row per provider.

Written from the schedulers' own documentation, not from our code. `job` is a Job of four pods; `created` and `ready` are a leader
and three workers under the startup policies LeaderCreated and LeaderReady.
"""

from dataclasses import dataclass, field
from typing import Any

from providers.base import MinMemberRule
from tests.providers.gangs import GROUP, JOB_OWNER, LEADER_OWNER, REPLICA

Manifest = dict[str, Any]

JOB_RESOURCES = {"cpu": "13200m", "memory": "4416Mi", "nvidia.com/gpu": "32"}
"""Four times 3300m, 1104Mi and 8 devices."""

REPLICA_RESOURCES = {"cpu": "10400m", "memory": "3568Mi", "nvidia.com/gpu": "24"}
"""Once 500m and 256Mi, three times 3300m, 1104Mi and 8 devices."""

OURS = {"tutti.scheduler/managed-by": "tutti"}


@dataclass(frozen=True)
class Told:
    """Labels and annotations of a pod."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """What is expected for one gang: of the leader, of a worker, and which objects."""

    worker: Told = field(default_factory=Told)
    leader: Told = field(default_factory=Told)
    objects: list[Manifest] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """Everything that is expected of one provider."""

    scheduler_name: str
    ready_rule: MinMemberRule
    job: Case = field(default_factory=Case)
    created: Case = field(default_factory=Case)
    ready: Case = field(default_factory=Case)
    crd_file: str = ""


def manifest(api_version: str, name: str, owner: Manifest, spec: Manifest) -> Manifest:
    return {
        "apiVersion": api_version,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "team", "annotations": OURS, "ownerReferences": [owner]},
        "spec": spec,
    }


def everywhere(told: Told, objects: list[Manifest]) -> Case:
    return Case(worker=told, leader=told, objects=objects)


def volcano(minimum: int, resources: dict[str, str]) -> Manifest:
    return {"minMember": minimum, "minResources": resources, "priorityClassName": "high"}


VOLCANO = "scheduling.volcano.sh/v1beta1"
COSCHEDULING = "scheduling.x-k8s.io/v1alpha1"
KAI = "scheduling.run.ai/v2alpha2"
KOORDINATOR = "scheduling.sigs.k8s.io/v1alpha1"

VOLCANO_REPLICA = Told(annotations={"scheduling.k8s.io/group-name": REPLICA})
COSCHEDULING_REPLICA = Told(labels={"scheduling.x-k8s.io/pod-group": REPLICA})
KOORDINATOR_REPLICA = Told(labels={"pod-group.scheduling.sigs.k8s.io": REPLICA})


def kai_pod(name: str) -> Told:
    return Told(
        labels={"kai.scheduler/queue": "default-queue"},
        annotations={
            "pod-group-name": name,
            "kai.scheduler/skip-podgrouper": "true",
            "kai.scheduler/ignore-workload-api": "true",
        },
    )


def kai(minimum: int) -> Manifest:
    return {"minMember": minimum, "priorityClassName": "high", "queue": "default-queue"}


WORKER_GROUP = (
    '{"minMember": %d, "minResource": {"cpu": "3300m", "memory": "1104Mi", "nvidia.com/gpu": "8"}, "name": "worker", '
    '"nodeSelector": {"pool": "gpu"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]}'
)
LEADER_GROUP = '{"minMember": 1, "minResource": {"cpu": "500m", "memory": "256Mi"}, "name": "leader"}'


def yunikorn_pod(application: str, role: str, groups: str) -> Told:
    return Told(
        labels={"yunikorn.apache.org/app-id": application},
        annotations={"yunikorn.apache.org/task-group-name": role, "yunikorn.apache.org/task-groups": groups},
    )


YUNIKORN_REPLICA = Case(
    leader=yunikorn_pod(f"team-{REPLICA}", "leader", f"[{LEADER_GROUP}, {WORKER_GROUP % 3}]"),
    worker=yunikorn_pod(f"team-{REPLICA}", "worker", f"[{LEADER_GROUP}, {WORKER_GROUP % 3}]"),
)


def pfnet_pod(name: str, size: int) -> Told:
    prefix = "gang-scheduling.preferred.jp/gang"
    return Told(annotations={f"{prefix}-name": name, f"{prefix}-size": str(size)})


TABLE = {
    "kube-scheduler": Row(
        scheduler_name="default-scheduler",
        ready_rule=MinMemberRule.LEADER_APART,
        ready=Case(
            leader=Told(annotations={"tutti.scheduler/pod-group": f"{REPLICA}-leader"}),
            objects=[
                manifest(
                    "scheduling.k8s.io/v1beta1",
                    f"{REPLICA}-leader",
                    LEADER_OWNER,
                    {"schedulingPolicy": {"basic": {}}, "priorityClassName": "high"},
                )
            ],
        ),
    ),
    "volcano": Row(
        scheduler_name="volcano",
        ready_rule=MinMemberRule.LEADER_ONLY,
        crd_file="volcano-podgroups.yaml",
        job=Case(
            worker=Told(annotations={"scheduling.k8s.io/group-name": GROUP}),
            objects=[manifest(VOLCANO, GROUP, JOB_OWNER, volcano(4, JOB_RESOURCES))],
        ),
        created=everywhere(VOLCANO_REPLICA, [manifest(VOLCANO, REPLICA, LEADER_OWNER, volcano(4, REPLICA_RESOURCES))]),
        ready=everywhere(VOLCANO_REPLICA, [manifest(VOLCANO, REPLICA, LEADER_OWNER, volcano(1, REPLICA_RESOURCES))]),
    ),
    "coscheduling": Row(
        scheduler_name="scheduler-plugins-scheduler",
        ready_rule=MinMemberRule.LEADER_ONLY,
        crd_file="coscheduling-podgroups.yaml",
        job=Case(
            worker=Told(labels={"scheduling.x-k8s.io/pod-group": GROUP}),
            objects=[manifest(COSCHEDULING, GROUP, JOB_OWNER, {"minMember": 4, "minResources": JOB_RESOURCES})],
        ),
        created=everywhere(
            COSCHEDULING_REPLICA,
            [manifest(COSCHEDULING, REPLICA, LEADER_OWNER, {"minMember": 4, "minResources": REPLICA_RESOURCES})],
        ),
        ready=everywhere(
            COSCHEDULING_REPLICA,
            [manifest(COSCHEDULING, REPLICA, LEADER_OWNER, {"minMember": 1, "minResources": REPLICA_RESOURCES})],
        ),
    ),
    "yunikorn": Row(
        scheduler_name="yunikorn",
        ready_rule=MinMemberRule.WHOLE_GROUP,
        job=Case(worker=yunikorn_pod(f"team-{GROUP}", "worker", f"[{WORKER_GROUP % 4}]")),
        created=YUNIKORN_REPLICA,
        ready=YUNIKORN_REPLICA,
    ),
    "kai": Row(
        scheduler_name="kai-scheduler",
        ready_rule=MinMemberRule.LEADER_FIRST,
        crd_file="kai-podgroups.yaml",
        job=Case(worker=kai_pod(GROUP), objects=[manifest(KAI, GROUP, JOB_OWNER, kai(4))]),
        created=everywhere(kai_pod(REPLICA), [manifest(KAI, REPLICA, LEADER_OWNER, kai(4))]),
        ready=everywhere(kai_pod(REPLICA), [manifest(KAI, REPLICA, LEADER_OWNER, kai(1))]),
    ),
    "koordinator": Row(
        scheduler_name="koord-scheduler",
        ready_rule=MinMemberRule.LEADER_APART,
        crd_file="koordinator-podgroups.yaml",
        job=Case(
            worker=Told(labels={"pod-group.scheduling.sigs.k8s.io": GROUP}),
            objects=[manifest(KOORDINATOR, GROUP, JOB_OWNER, {"minMember": 4})],
        ),
        created=everywhere(KOORDINATOR_REPLICA, [manifest(KOORDINATOR, REPLICA, LEADER_OWNER, {"minMember": 4})]),
        ready=Case(
            leader=Told(labels={"pod-group.scheduling.sigs.k8s.io": f"{REPLICA}-leader"}),
            worker=Told(labels={"pod-group.scheduling.sigs.k8s.io": f"{REPLICA}-workers"}),
            objects=[
                manifest(KOORDINATOR, f"{REPLICA}-leader", LEADER_OWNER, {"minMember": 1}),
                manifest(KOORDINATOR, f"{REPLICA}-workers", LEADER_OWNER, {"minMember": 3}),
            ],
        ),
    ),
    "kueue": Row(scheduler_name="", ready_rule=MinMemberRule.WHOLE_GROUP),
    "pfnet": Row(
        scheduler_name="",
        ready_rule=MinMemberRule.LEADER_APART,
        job=Case(worker=pfnet_pod(GROUP, 4)),
        created=everywhere(pfnet_pod(REPLICA, 4), []),
        ready=Case(worker=pfnet_pod(REPLICA, 3)),
    ),
}
