"""The CustomResourceDefinition of JobSets, for clusters that have none.

It has a schema for whatever the stand-in reads, and takes Job templates as they come: what is wrong with those the Jobs say.
Most of what the real one's webhooks default, the schema does; the rest, and what is refused, is in `admission`.
"""

from typing import Any

from kube.client.resources import JOB_SETS
from localcluster.controllers.definition_schema import column, fields, namespaced, whole
from localcluster.controllers.definitions import Schema


def definition() -> dict[str, Any]:
    """The CustomResourceDefinition."""
    return namespaced(
        JOB_SETS,
        whole("Jobs that make sense only together.", _spec(), _open("What there is.")),
        [
            column("TerminalState", "string", ".status.terminalState", "How it ended."),
            column("Restarts", "string", ".status.restarts", "How often it was restarted."),
            column("Completed", "string", '.status.conditions[?(@.type=="Completed")].status', "Whether it is done."),
            column("Suspended", "string", ".spec.suspend", "Whether its Jobs make no pods."),
        ],
    )


def _spec() -> Schema:
    names = {"type": "array", "items": {"type": "string"}}
    return fields(
        "Which Jobs, and how they start and end.",
        replicatedJobs={
            "type": "array",
            "items": _part(),
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        startupPolicy=_with_default(
            fields("In which order they start.", startupPolicyOrder=_choice("AnyOrder", "InOrder")),
            {"startupPolicyOrder": "AnyOrder"},
        ),
        successPolicy=_with_default(
            fields(
                "Whose success is that of the whole.", operator=_choice("All", "Any"), targetReplicatedJobs=dict(names)
            ),
            {"operator": "All"},
        ),
        failurePolicy=fields(
            "What a failure leads to.",
            maxRestarts={"type": "integer", "format": "int32", "default": 0},
            restartStrategy={**_choice("Recreate", "BlockingRecreate"), "default": "Recreate"},
            rules={"type": "array", "items": _rule(names)},
        ),
        network=_with_default(
            fields(
                "How pods find each other.",
                enableDNSHostnames={"type": "boolean", "default": True},
                publishNotReadyAddresses={"type": "boolean", "default": True},
                subdomain={"type": "string"},
            ),
            {},
        ),
        coordinator=fields(
            "The pod that all others are told of.",
            replicatedJob={"type": "string"},
            jobIndex={"type": "integer"},
            podIndex={"type": "integer"},
        ),
        suspend={"type": "boolean"},
        ttlSecondsAfterFinished={"type": "integer", "format": "int32", "minimum": 0},
        managedBy={"type": "string"},
    )


def _part() -> Schema:
    schema = fields(
        "So many equal Jobs.",
        name={"type": "string"},
        replicas={"type": "integer", "format": "int32", "default": 1},
        groupName={"type": "string", "default": "default"},
        dependsOn={
            "type": "array",
            "items": fields("What must be there first.", name={"type": "string"}, status=_choice("Ready", "Complete")),
        },
        template=fields("The Job.", metadata=_open("Of the Job."), spec=_open("Of the Job.")),
    )
    schema["required"] = ["name", "template"]
    return schema


def _rule(names: Schema) -> Schema:
    return fields(
        "What a failure of some of them leads to.",
        name={"type": "string"},
        action=_choice(
            "FailJobSet",
            "RestartJobSet",
            "RestartJobSetAndIgnoreMaxRestarts",
            "RestartJob",
            "RestartJobAndIgnoreMaxRestarts",
        ),
        onJobFailureReasons=dict(names),
        targetReplicatedJobs=dict(names),
    )


def _open(about: str) -> Schema:
    return {"type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": True}


def _choice(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _with_default(schema: Schema, value: Any) -> Schema:
    return {**schema, "default": value}
