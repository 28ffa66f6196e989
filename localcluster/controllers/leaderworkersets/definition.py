"""The CustomResourceDefinition of LeaderWorkerSets, for clusters that have none. Pure.

It has a schema for whatever the controller and admission read, and takes pod templates as they come: what is wrong with
those the StatefulSets say.
"""

from typing import Any, Final

from kube.client.resources import LEADER_WORKER_SETS
from localcluster.controllers.definition_schema import column, fields, namespaced, whole
from localcluster.controllers.definitions import Schema

NAME: Final = f"{LEADER_WORKER_SETS.plural}.{LEADER_WORKER_SETS.group}"
MOST_REPLICAS: Final = 1_000_000


def definition() -> dict[str, Any]:
    """The CustomResourceDefinition."""
    return namespaced(
        LEADER_WORKER_SETS,
        whole("Groups of pods, each of which is a leader with its workers.", _spec(), _status()),
        [
            column("Ready", "integer", ".status.readyReplicas", "Groups that are ready."),
            column("Desired", "integer", ".spec.replicas", "Groups that are wanted."),
            column(
                "Up-to-date", "integer", ".status.updatedReplicas", "Groups made from the templates as they are now."
            ),
        ],
        scale={
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.hpaPodSelector",
        },
        short_names=["lws"],
    )


def _spec() -> Schema:
    schema = fields(
        "How many groups, of which pods.",
        replicas=_number("How many groups.", default=1, minimum=0, maximum=MOST_REPLICAS),
        leaderWorkerTemplate=_template(),
        rolloutStrategy=fields(
            "How groups are replaced when their templates change.",
            type=_choice("RollingUpdate", about="The only way there is.", default="RollingUpdate"),
            rollingUpdateConfiguration=fields(
                "How many groups at a time, and which.",
                partition=_number("Groups below this index stay as they are.", default=0),
                maxUnavailable=_amount("Groups that may be missing, or a percentage of all.", 1),
                maxSurge=_amount("Groups that there may be too many, or a percentage of all.", 0),
            ),
        ),
        startupPolicy=_choice("LeaderCreated", "LeaderReady", about="When workers are made.", default="LeaderCreated"),
        networkConfig=fields(
            "How pods find each other.",
            subdomainPolicy=_choice(
                "Shared", "UniquePerReplica", about="One headless service for all groups, or one each."
            ),
        ),
    )
    schema["required"] = ["leaderWorkerTemplate"]
    return schema


def _template() -> Schema:
    schema = fields(
        "The pods of one group.",
        leaderTemplate=_pods("The leader; like a worker when left out."),
        workerTemplate=_pods("The workers."),
        size=_number("Pods of a group, its leader included.", default=1),
        restartPolicy=_choice(
            "Default",
            "RecreateGroupOnPodRestart",
            "RecreateGroupAfterStart",
            "None",
            about="What becomes of a group one of whose pods restarts or goes.",
            default="RecreateGroupOnPodRestart",
        ),
        subGroupPolicy=fields(
            "How a group is divided.",
            subGroupPolicyType=_choice(
                "LeaderWorker", "LeaderExcluded", about="Whether the leader is in a subgroup.", default="LeaderWorker"
            ),
            subGroupSize=_number("Pods of a subgroup."),
        ),
        volumeClaimTemplates={"type": "array", "description": "Claims that each pod gets.", "items": _open()},
        persistentVolumeClaimRetentionPolicy=fields(
            "What becomes of claims.", whenDeleted={"type": "string"}, whenScaled={"type": "string"}
        ),
    )
    schema["required"] = ["workerTemplate"]
    return schema


def _pods(about: str) -> Schema:
    ports = {"type": "array", "items": {**_open(), "properties": {"protocol": {"type": "string", "default": "TCP"}}}}
    containers = {"type": "array", "items": {**_open(), "properties": {"ports": ports}}}
    spec = {**_open(), "properties": dict.fromkeys(("containers", "initContainers"), containers)}
    return fields(about, metadata=_open(), spec=spec)


def _status() -> Schema:
    text = {"type": "string"}
    condition = fields(
        "One thing that holds or does not.",
        type=text,
        status=_choice("True", "False", "Unknown", about="Whether it holds."),
        reason=text,
        message=text,
        lastTransitionTime={"type": "string", "format": "date-time"},
        observedGeneration={"type": "integer", "format": "int64"},
    )
    condition["required"] = ["type", "status", "reason", "message", "lastTransitionTime"]
    conditions = {"type": "array", "items": condition}
    conditions |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    return fields(
        "What there is.",
        conditions=conditions,
        hpaPodSelector={"type": "string", "description": "The leaders, for autoscalers."},
        observedGeneration={"type": "integer", "format": "int64"},
        readyReplicas=_number("Groups that are ready."),
        replicas=_number("Groups that were made."),
        updatedReplicas=_number("Groups made from the templates as they are now."),
    )


def _open() -> Schema:
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _number(about: str, **limits: int) -> Schema:
    return {"type": "integer", "format": "int32", "description": about, **limits}


def _amount(about: str, default: int) -> Schema:
    kinds = [{"type": "integer"}, {"type": "string"}]
    return {"anyOf": kinds, "x-kubernetes-int-or-string": True, "default": default, "description": about}


def _choice(*values: str, about: str, default: str | None = None) -> Schema:
    schema: Schema = {"type": "string", "enum": list(values), "description": about}
    return schema if default is None else {**schema, "default": default}
