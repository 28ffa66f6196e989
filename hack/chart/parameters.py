"""Which fields of which objects the values decide."""

from collections.abc import Callable
from typing import Any, Final

from hack.chart.nodes import MORE, Expression, Guarded, Optional, Subtree

PROCESSES: Final = ("scheduler", "controllers", "webhooks")

NAMES: Final = {
    "tutti-system": ".Release.Namespace",
    "tutti-scheduler-settings": 'include "tutti.settingsName" .',
}
"""What an installation calls otherwise, wherever it is written in `config/`."""

KEEP_CRDS: Final = ".Values.crds.keep"
"""Who removes the chart keeps everybody's gangs, unless he says otherwise."""


def parametrize(body: dict[str, Any]) -> None:
    """Put expressions into the object's fields that the values decide."""
    change = _BY_KIND.get(body["kind"])
    if change is not None:
        change(body)


def _deployment(body: dict[str, Any]) -> None:
    process = f".Values.{body['metadata']['labels']['app.kubernetes.io/component']}"
    spec, pod = body["spec"], body["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    spec["replicas"] = Expression(f"{process}.replicas")
    # As config/components/one-replica: a process that is alone is replaced before it goes.
    rolling = spec["strategy"]["rollingUpdate"]
    rolling["maxUnavailable"] = Expression(f"ternary 0 {rolling['maxUnavailable']} (eq (int {process}.replicas) 1)")
    container["image"] = Expression('include "tutti.image" .')
    container["resources"] = Subtree(f"{process}.resources")
    container["imagePullPolicy"] = Guarded(".Values.image.pullPolicy", Expression(".Values.image.pullPolicy"))
    pod["priorityClassName"] = Guarded(".Values.priorityClassName", Expression(".Values.priorityClassName"))
    pod["imagePullSecrets"] = Optional(".Values.image.pullSecrets")
    for field in ("nodeSelector", "tolerations", "affinity"):
        pod[field] = Optional(f".Values.nodePlacement.{field}")


def _webhook_configuration(body: dict[str, Any]) -> None:
    authority = ".Values.certificates.caBundle"
    for webhook in body["webhooks"]:
        webhook["clientConfig"]["caBundle"] = Guarded(authority, Expression(authority))


def _definition(body: dict[str, Any]) -> None:
    keep = {"helm.sh/resource-policy": "keep"}
    annotations = body["metadata"].setdefault("annotations", {})
    if annotations:
        annotations.update({key: Guarded(KEEP_CRDS, value) for key, value in keep.items()})
    else:
        body["metadata"]["annotations"] = Guarded(KEEP_CRDS, keep)


def _network_policy(body: dict[str, Any]) -> None:
    for rule in body["spec"]["ingress"]:
        for peer in rule["from"]:
            if "ipBlock" in peer:
                family = "ipv6" if ":" in peer["ipBlock"]["cidr"] else "ipv4"
                peer["ipBlock"] = Subtree(f".Values.networkPolicy.callers.{family}")
            if "namespaceSelector" in peer:
                labels = peer["namespaceSelector"]["matchLabels"]
                labels["kubernetes.io/metadata.name"] = Expression(".Values.networkPolicy.monitoringNamespace")


def _followed(body: dict[str, Any]) -> None:
    # Prometheus finds what it is to read by labels of its owner's choice.
    body["metadata"]["labels"][MORE] = Subtree(".Values.monitoring.labels")


_BY_KIND: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
    "Deployment": _deployment,
    "MutatingWebhookConfiguration": _webhook_configuration,
    "ValidatingWebhookConfiguration": _webhook_configuration,
    "CustomResourceDefinition": _definition,
    "NetworkPolicy": _network_policy,
    "PodMonitor": _followed,
    "PrometheusRule": _followed,
}
