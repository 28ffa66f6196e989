"""Namespaces, nodes and priority classes: kinds of the whole cluster with a rule or two."""

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.plain import put_back
from localcluster.apiserver.kinds.typed import TypedStrategy

FINALIZER = "kubernetes"
NAME_LABEL = "kubernetes.io/metadata.name"
HIGHEST_USER_PRIORITY = 1_000_000_000
_NODE_INFO = dict.fromkeys(
    (
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    ),
    "",
)
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class NamespaceStrategy(TypedStrategy):
    """Namespaces go in two steps: marked by a deletion, gone when the last finalizer of their spec is."""

    precondition_failed = "Precondition failed"

    def default(self, obj: Object) -> None:
        """Every namespace carries its name as a label."""
        metadata = obj["metadata"]
        if not isinstance(obj.get("spec"), dict):
            obj["spec"] = {}
        if metadata.get("name"):
            metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new namespace is active and has our finalizer."""
        super().prepare_create(obj, context)
        finalizers = obj["spec"].get("finalizers") or []
        obj["spec"]["finalizers"] = finalizers if FINALIZER in finalizers else [*finalizers, FINALIZER]
        obj["status"] = {"phase": "Active"}
        self.default(obj)

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """The spec's finalizers change through `finalize` only."""
        if subresource == "finalize":
            for key in ("metadata", "status"):
                put_back(new, old, key)
            new["metadata"] = dict(new["metadata"])
            return
        super().prepare_update(new, old, subresource, context)
        put_back(new, old, "spec")

    def mark_deleted(self, obj: Object, context: RequestContext) -> None:
        """A namespace that is going says so."""
        metadata = obj["metadata"]
        if not metadata.get("deletionTimestamp"):
            metadata["deletionTimestamp"] = context.now
        metadata.pop("deletionGracePeriodSeconds", None)
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}


class NodeStrategy(TypedStrategy):
    """Nodes bring their status with them; afterwards it is written on its own."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """The status stays."""
        status = obj.get("status")
        super().prepare_create(obj, context)
        obj["spec"] = obj.get("spec") or {}
        obj["status"] = _whole_status(status or {})

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """What can be allocated is what is there, unless it is said."""
        super().prepare_update(new, old, subresource, context)
        new["spec"] = new.get("spec") or {}
        if subresource == "status":
            new["status"] = _whole_status(new.get("status") or {})

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Taints."""
        errors: list[FieldError] = []
        for number, taint in enumerate(new["spec"].get("taints") or []):
            effect = taint.get("effect") or ""
            if effect not in _TAINT_EFFECTS:
                field = f"metadata.taints[{number}].effect"
                errors.append(FieldError("Unsupported value", field, effect, _supported(_TAINT_EFFECTS)))
        return errors


def _supported(names: tuple[str, ...]) -> str:
    return "supported values: " + ", ".join(f'"{name}"' for name in names)


def _whole_status(status: Object) -> Object:
    """The status with what a real server always writes, and with all of the capacity to allocate unless it is said."""
    whole = {
        **status,
        "daemonEndpoints": status.get("daemonEndpoints") or {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {**_NODE_INFO, **(status.get("nodeInfo") or {})},
    }
    if status.get("capacity") and not status.get("allocatable"):
        whole["allocatable"] = dict(status["capacity"])
    for condition in whole.get("conditions") or []:
        for key in ("lastHeartbeatTime", "lastTransitionTime"):
            condition.setdefault(key, None)
    return whole


class PriorityClassStrategy(TypedStrategy):
    """The value of a priority class never changes."""

    def default(self, obj: Object) -> None:
        """Pods of a class preempt, unless it says otherwise."""
        if not obj.get("preemptionPolicy"):
            obj["preemptionPolicy"] = "PreemptLowerPriority"
        obj.setdefault("value", 0)

    def meaning_changed(self, new: Object, old: Object) -> bool:
        """What may change of it means nothing to anybody."""
        del new, old
        return False

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """System values are for system classes; nothing that pods have read changes."""
        if old is not None:
            return [
                invalid_value(key, new.get(key), "field is immutable")
                if key == "preemptionPolicy"
                else forbidden_field(key, "may not be changed in an update.")
                for key in ("value", "preemptionPolicy")
                if new.get(key) != old.get(key)
            ]
        name = new["metadata"].get("name") or ""
        if name.startswith("system-"):
            text = (
                "priority class names with 'system-' prefix are reserved for system use only. "
                f"error: {name} is not a known system priority class"
            )
            return [forbidden_field("metadata.name", text)]
        if new["value"] > HIGHEST_USER_PRIORITY:
            text = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
            return [forbidden_field("value", text)]
        return []
