"""Tables: the server-side printing that `kubectl get` asks for by its Accept header.

One Table for a list, for one object, or for the object of a watch event. Printers are chosen by kind; custom resources
get theirs from their CRD, made once per stored CRD object.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from localcluster.apiserver.discovery.tables import admin, apps, batch, core, devices, events, nodes, pods, storage
from localcluster.apiserver.discovery.tables.cells import Object, Printer
from localcluster.apiserver.discovery.tables.custom import custom_printer
from localcluster.apiserver.kinds.kind import KindInfo
from localcluster.apiserver.status import bad_request

PRINTERS: Mapping[tuple[str, str], Printer] = {
    ("", "configmaps"): core.CONFIG_MAP,
    ("", "events"): events.EVENT,
    ("", "limitranges"): core.CREATED,
    ("", "namespaces"): core.NAMESPACE,
    ("", "nodes"): nodes.NODE,
    ("", "persistentvolumeclaims"): storage.CLAIM,
    ("", "persistentvolumes"): storage.VOLUME,
    ("", "pods"): pods.POD,
    ("", "replicationcontrollers"): apps.REPLICATION_CONTROLLER,
    ("", "resourcequotas"): core.QUOTA,
    ("", "secrets"): core.SECRET,
    ("", "services"): apps.SERVICE,
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): admin.WEBHOOKS,
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): admin.POLICY,
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"): admin.POLICY_BINDING,
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): admin.WEBHOOKS,
    ("apiextensions.k8s.io", "customresourcedefinitions"): admin.DEFINITION,
    ("apps", "daemonsets"): apps.DAEMON_SET,
    ("apps", "deployments"): apps.DEPLOYMENT,
    ("apps", "replicasets"): apps.REPLICA_SET,
    ("apps", "controllerrevisions"): apps.CONTROLLER_REVISION,
    ("apps", "statefulsets"): apps.STATEFUL_SET,
    ("batch", "cronjobs"): batch.CRON_JOB,
    ("batch", "jobs"): batch.JOB,
    ("coordination.k8s.io", "leases"): core.LEASE,
    ("events.k8s.io", "events"): events.EVENT,
    ("policy", "poddisruptionbudgets"): core.DISRUPTION_BUDGET,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): admin.ROLE_BINDING,
    ("rbac.authorization.k8s.io", "clusterroles"): core.CREATED,
    ("rbac.authorization.k8s.io", "rolebindings"): admin.ROLE_BINDING,
    ("rbac.authorization.k8s.io", "roles"): core.CREATED,
    ("resource.k8s.io", "deviceclasses"): devices.AGED,
    ("resource.k8s.io", "devicetaintrules"): devices.TAINT_RULE,
    ("resource.k8s.io", "resourceclaims"): devices.CLAIM,
    ("resource.k8s.io", "resourceclaimtemplates"): devices.AGED,
    ("resource.k8s.io", "resourceslices"): devices.SLICE,
    ("scheduling.k8s.io", "priorityclasses"): core.PRIORITY_CLASS,
    ("storage.k8s.io", "csidrivers"): storage.DRIVER,
    ("storage.k8s.io", "csinodes"): storage.NODE,
    ("storage.k8s.io", "csistoragecapacities"): core.CREATED,
    ("storage.k8s.io", "storageclasses"): storage.CLASS,
    ("storage.k8s.io", "volumeattachments"): storage.ATTACHMENT,
}

INCLUDE_OBJECT = ("", "Metadata", "Object", "None")
_BAD_INCLUDE = """Invalid value: "{}": must be 'Metadata', 'Object', 'None', or empty"""
CARRIED_OVER = ("resourceVersion", "continue", "remainingItemCount", "selfLink")


class Tables:
    """Makes Tables; `clock` gives seconds since the epoch."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._custom: dict[tuple[str, str, str], tuple[Object, Printer]] = {}

    def printer(self, kind: KindInfo) -> Printer:
        """How this kind is shown."""
        if kind.definition is None:
            return PRINTERS.get(kind.resource, core.PLAIN)
        key = (kind.group, kind.plural, kind.version)
        made = self._custom.get(key)
        if made is None or made[0] is not kind.definition:
            made = self._custom[key] = kind.definition, custom_printer(kind.definition, kind.version)
        return made[1]

    def render(
        self,
        kind: KindInfo,
        objects: Sequence[Object],
        *,
        list_metadata: Object | None,
        include_object: str = "Metadata",
        with_columns: bool = True,
    ) -> dict[str, Any]:
        """One Table of these objects; `list_metadata` is None for a single object, whose version the Table then has.

        `with_columns` is False for all but the first event of a watch: clients keep the columns of the first.

        Raises:
            StatusError: `include_object` is not one of INCLUDE_OBJECT.
        """
        if include_object not in INCLUDE_OBJECT:
            raise bad_request(
                f"Unable to convert to Table as requested: includeObject: {_BAD_INCLUDE.format(include_object)}"
            )
        printer, now = self.printer(kind), self._clock()
        metadata = list_metadata if list_metadata is not None else _version_of(objects)
        columns = [column.definition() for column in printer.columns] if with_columns else None
        return {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": {key: metadata[key] for key in CARRIED_OVER if metadata.get(key)},
            "columnDefinitions": columns,
            "rows": [_row(printer, each, now, include_object) for each in objects],
        }


def _version_of(objects: Sequence[Object]) -> dict[str, Any]:
    return {"resourceVersion": objects[0]["metadata"].get("resourceVersion", "")} if objects else {}


def _row(printer: Printer, obj: Object, now: float, include_object: str) -> dict[str, Any]:
    row: dict[str, Any] = {"cells": printer.cells(obj, now)}
    if printer.conditions is not None and (conditions := printer.conditions(obj)):
        row["conditions"] = conditions
    row["object"] = _shown(obj, include_object)
    return row


def _shown(obj: Object, include_object: str) -> Object | None:
    if include_object == "None":
        return None
    if include_object == "Object":
        return obj
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
