"""Objects as they come to be when a manifest is submitted: with identities, priorities and labels. Names and UIDs are made up."""

import copy
import datetime as dt
from typing import Any, Final, TypeVar

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.constants import POD_GROUP
from api.pod import Pod
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass, class_in_force
from explain.admitted import Refused, admitted
from explain.manifests import Manifest
from webhooks.podgroup import default_pod_group

Kind = TypeVar("Kind", bound=msgspec.Struct)


class ObjectMaker:
    """Makes objects of manifests.

    Args:
        classes: the PriorityClasses of the cluster.
        now_seconds: since 1970.
    """

    def __init__(self, classes: tuple[PriorityClass, ...], now_seconds: float) -> None:
        self._classes: Final = classes
        self.created: Final = dt.datetime.fromtimestamp(now_seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        """When everything is made, RFC 3339."""

    def group(self, manifest: Manifest) -> PodGroup:
        """A PodGroup with its priority.

        Raises:
            Refused: admission would refuse it.
        """
        document, _ = admitted(
            self.with_identity({**manifest, "kind": "PodGroup"}),
            lambda request: default_pod_group(request, classes=self._classes),
        )
        return typed(document, PodGroup)

    def composite(self, manifest: Manifest) -> CompositePodGroup:
        """A CompositePodGroup with its priority.

        Raises:
            Refused: admission would refuse it.
        """
        document, _ = admitted(
            self.with_identity({**manifest, "kind": "CompositePodGroup"}),
            lambda request: default_pod_group(request, classes=self._classes, called="composite pod group"),
        )
        return typed(document, CompositePodGroup)

    def pod(self, manifest: Manifest) -> Pod:
        """A pod with its priority, before anybody has tried to place it.

        Raises:
            Refused: its PriorityClass does not exist, or the API server would refuse it.
        """
        document = self.with_identity(copy.deepcopy(manifest))
        spec = document.setdefault("spec", {})
        stated = spec.get("priorityClassName") or ""
        found = class_in_force(stated, self._classes)
        if found is None and stated and not stated.startswith("system-"):
            raise Refused(f"Pod {document['metadata']['name']}: no PriorityClass with name {stated} was found")
        spec["priority"] = found.value if found is not None else 0
        spec["preemptionPolicy"] = (found.preemption_policy if found is not None else None) or "PreemptLowerPriority"
        document["status"] = {"phase": "Pending"}
        return typed(document, Pod)

    def pod_of(
        self,
        template: Manifest,
        name: str,
        namespace: str,
        owner: dict[str, Any],
        labels: dict[str, str],
        group: PodGroup | None,
    ) -> Pod:
        """A pod made from a template by a controller; without a group it is in the one that the template names, if any."""
        head = template.get("metadata") or {}
        metadata: dict[str, Any] = {
            "name": name,
            "namespace": namespace,
            "labels": {**(head.get("labels") or {}), **labels},
            "annotations": dict(head.get("annotations") or {}),
        }
        if owner:
            metadata["ownerReferences"] = [owner]
        if group is not None:
            metadata["annotations"][POD_GROUP] = group.metadata.name
        return self.pod({"kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}})

    def with_identity(self, manifest: Manifest) -> Manifest:
        """The manifest with a UID and the time of its creation."""
        metadata = dict(manifest["metadata"])
        metadata.setdefault("uid", made_up_uid(manifest["kind"], metadata["namespace"], metadata["name"]))
        return {**manifest, "metadata": {**metadata, "creationTimestamp": self.created}}


def made_up_uid(kind: str, namespace: str, name: str) -> str:
    """A UID that no other object has."""
    return f"fit-{kind}-{namespace}-{name}"


def typed(document: Manifest, kind: type[Kind]) -> Kind:
    """The object of a manifest.

    Raises:
        Refused: the API server would refuse it.
    """
    try:
        return msgspec.json.decode(msgspec.json.encode(document), type=kind)
    except msgspec.ValidationError as error:
        raise Refused(f"{document['kind']} {document['metadata']['name']}: {error}") from error
