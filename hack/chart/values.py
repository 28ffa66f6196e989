"""The values of the chart: what each is by default, what it may be, and what it is good for."""

from dataclasses import dataclass
from typing import Any, Final

import yaml
from pydantic import BaseModel

from controllers.settings import ControllersSettings
from hack.chart.parameters import PROCESSES
from install.manifests import CONFIG_FOLDER, load
from kube.process.settings import ProcessSettings
from providers.selection import standard_providers
from scheduler.profiles import ProfileSettings
from scheduler.settings import SchedulerSettings
from webhooks.settings import WebhooksSettings

Schema = dict[str, Any]

NEED_MORE_THAN_A_FILE: Final = frozenset(
    {"listen", "url", "certificates_folder", "given_certificates", "client_authority", "client_names"}
)
"""Settings of admission that the pod must have a port or a folder for."""

NOT_IN_FILES: Final = {
    *ProcessSettings.model_fields,
    *("scheduler_name", "profiles", "profile_names", "default_provider", "why_address", "why_certificates"),
}
"""Settings that the chart itself gives, or that are of one process and not of an installation."""

IN_FILES: Final = {"group_api", "log_level"}
"""Those of every process that an installation may choose."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value.

    Attributes:
        default: what it is when nobody says anything.
        schema: what it may be, as JSON schema.
        text: what it is good for, a line or more.
    """

    default: Any
    schema: Schema
    text: str


def table() -> dict[str, Any]:
    """All values, in the order in which they are shown."""
    return {
        "image": {
            "repository": Value("tutti", _text(1), "Where the image is; built from the Dockerfile."),
            "tag": Value("", _text(), "Its tag; empty: the version of the chart."),
            "digest": Value("", _text(pattern="^(sha256:[0-9a-f]{64})?$"), "Its digest, before any tag."),
            "pullPolicy": Value("", _one_of("", "Always", "IfNotPresent", "Never"), "Empty: what Kubernetes does."),
            "pullSecrets": Value([], _list(_named()), "Secrets by which nodes may read it: `[{name: …}]`."),
        },
        **{name: _process(name) for name in PROCESSES},
        "priorityClassName": Value("system-cluster-critical", _text(), "Of all pods; empty: none."),
        "nodePlacement": {
            "nodeSelector": Value({}, _map({"type": "string"}), "Labels of the nodes that may run Tutti's pods."),
            "tolerations": Value([], _list({"type": "object"}), "Taints that they bear."),
            "affinity": Value({}, {"type": "object"}, "Affinity of all of them."),
        },
        "certificates": {
            "source": Value(
                "own",
                _one_of("own", "cert-manager", "given"),
                "Who makes the certificate of admission: `own`: the webhooks; `cert-manager`; `given`: somebody else, in the\n"
                "Secret tutti-webhooks-tls.",
            ),
            "caBundle": Value("", _text(), "With `given`: who signed it, PEM in base64."),
        },
        "holdGangs": Value(
            False,
            _switch(),
            "Whether the API server itself holds a gang Job that is created while no webhook answers (from Kubernetes 1.36 on).\n"
            "It suspends Jobs whether or not Tutti is there: take it off before the rest.",
        ),
        "networkPolicy": _network_policy(),
        "monitoring": {
            "prometheus": Value(False, _switch(), "Objects of the Prometheus operator: PodMonitor and alerts."),
            "labels": Value({}, _map({"type": "string"}), "Labels by which your Prometheus finds them."),
            "grafana": Value(False, _switch(), "The dashboard, as a ConfigMap for Grafana's sidecar."),
        },
        "metrics": {
            "authentication": Value(
                True, _switch(), "Whether metrics are for those only who may `get` the path /metrics."
            ),
        },
        "logLevels": {
            "enabled": Value(
                True, _switch(), "Whether levels may change without a restart, by the ConfigMap tutti-log-levels."
            ),
            "levels": Value(
                {},
                _map(_one_of("debug", "info", "warning", "error")),
                "Levels of single loggers, each with all below it: `scheduler.preemption: debug`, `trace: warning`.",
            ),
        },
        "why": {
            "enabled": Value(
                False,
                _switch(),
                "Whether people who may see one namespace are told why their objects wait (`kubectl gang why`). They show the\n"
                "scheduler their token, through the API server.",
            ),
        },
        "defaultProvider": Value("embedded", _one_of(*_providers()), "The gang scheduler of objects that name none."),
        "profiles": Value(
            [], _list({"$ref": "#/$defs/ProfileSettings"}), "Profiles of the scheduler, see docs/profiles.md."
        ),
        "settings": {
            "scheduler": Value({}, _settings(SchedulerSettings), "Further settings of the scheduler."),
            "shared": Value(
                {}, _settings(WebhooksSettings, ControllersSettings), "Those of admission and controllers."
            ),
            "controllers": Value(
                {}, _settings_alone(ControllersSettings, WebhooksSettings), "Those of the controllers alone."
            ),
            "webhooks": Value(
                {},
                _settings_alone(WebhooksSettings, ControllersSettings),
                "Those of admission alone, such as `defaults`: what gangs are when nobody says anything.",
            ),
        },
        "crds": {
            "install": Value(
                True, _switch(), "Our own kinds; a server with the built-in ones needs none, and they do no harm."
            ),
            "keep": Value(True, _switch(), "Whether they outlive the chart. When they go, so does everybody's gang."),
        },
    }


def definitions() -> dict[str, Schema]:
    """What the schema refers to."""
    found: dict[str, Schema] = {}
    for model in (ProfileSettings, SchedulerSettings, ControllersSettings, WebhooksSettings):
        found |= model.model_json_schema().get("$defs", {})
    return {**found, "ProfileSettings": _without_defs(ProfileSettings.model_json_schema())}


def _without_defs(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "$defs"}


def _process(name: str) -> dict[str, Value]:
    (deployment,) = [each.body for each in load("manager") if each.title == f"Deployment tutti-{name}"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return {
        "replicas": Value(
            deployment["spec"]["replicas"],
            {"type": "integer", "minimum": 1},
            "How many pods; one, for tiny clusters, is replaced before it goes.",
        ),
        "resources": Value(container["resources"], {"type": "object"}, "What each pod asks for, and its limits."),
    }


def _network_policy() -> dict[str, Any]:
    folder = CONFIG_FOLDER / "components" / "network-policy"
    (policy, _) = yaml.safe_load_all((folder / "network-policy.yaml").read_text(encoding="utf-8"))
    blocks = [peer["ipBlock"] for peer in policy["spec"]["ingress"][0]["from"]]
    block = {
        "type": "object",
        "additionalProperties": False,
        "required": ["cidr"],
        "properties": {"cidr": _text(1), "except": _list(_text(1))},
    }
    text = "Who may call admission: everybody outside the network of your pods, or better your control plane alone."
    return {
        "enabled": Value(False, _switch(), "Whether network policies keep strangers from our pods."),
        "callers": {
            "ipv4": Value(blocks[0], block, text),
            "ipv6": Value(blocks[1], block, "The same."),
        },
        "monitoringNamespace": Value("monitoring", _text(1), "The namespace of who reads the metrics."),
    }


def _providers() -> list[str]:
    return sorted(provider.name for provider in standard_providers().all)


def _settings(*models: type[BaseModel]) -> Schema:
    """What a settings file may hold that all of these processes read, beside what the chart puts into it."""
    schemas = [model.model_json_schema()["properties"] for model in models]
    common = set.intersection(*(set(each) for each in schemas)) - (NOT_IN_FILES - IN_FILES)
    properties = {name: schemas[0][name] for name in schemas[0] if name in common}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _settings_alone(model: type[BaseModel], other: type[BaseModel]) -> Schema:
    """What a settings file may hold that the first of these processes reads and the other does not."""
    schema = _settings(model)
    left_out = set(other.model_json_schema()["properties"]) | NEED_MORE_THAN_A_FILE
    schema["properties"] = {name: each for name, each in schema["properties"].items() if name not in left_out}
    return schema


def _text(shortest: int = 0, *, pattern: str | None = None) -> Schema:
    schema: Schema = {"type": "string"}
    if shortest:
        schema["minLength"] = shortest
    if pattern is not None:
        schema["pattern"] = pattern
    return schema


def _one_of(*names: str) -> Schema:
    return {"type": "string", "enum": list(names)}


def _switch() -> Schema:
    return {"type": "boolean"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _named() -> Schema:
    return {"type": "object", "additionalProperties": False, "required": ["name"], "properties": {"name": _text(1)}}
