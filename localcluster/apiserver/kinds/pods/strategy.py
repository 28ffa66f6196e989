"""Pods: their rules put together, and how long they may take to go."""

from localcluster.apiserver.fielderrors import FieldError, invalid_value
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.names import subdomain_problems
from localcluster.apiserver.kinds.plain import put_back
from localcluster.apiserver.kinds.pods.claims import validate_claim_statuses
from localcluster.apiserver.kinds.pods.defaults import default_pod, quality_of_service
from localcluster.apiserver.kinds.pods.placement import validate_unbound_while_gated
from localcluster.apiserver.kinds.pods.spec import validate_pod_spec
from localcluster.apiserver.kinds.pods.states import complete_pod_status
from localcluster.apiserver.kinds.pods.updates import validate_pod_update
from localcluster.apiserver.kinds.typed import TypedStrategy

_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "lastProbeTime": None,
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
_KEPT_CLAIMS = ("resourceClaimStatuses", "extendedResourceClaimStatus")
_ENDED = frozenset({"Succeeded", "Failed"})


class PodStrategy(TypedStrategy):
    """The rules of pods."""

    def default(self, obj: Object) -> None:
        """Defaults; a new pod also tolerates nodes that fail for a while."""
        default_pod(obj, is_new="uid" not in obj["metadata"])
        if isinstance(obj.get("status"), dict):
            complete_pod_status(obj["status"])

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new pod is pending."""
        super().prepare_create(obj, context)
        obj["status"] = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
        if obj["spec"].get("schedulingGates"):
            obj["status"]["conditions"] = [{**_GATED, "lastTransitionTime": context.now}]

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """The status does not forget the class of service, nor claims of which the sender knows nothing."""
        super().prepare_update(new, old, subresource, context)
        if subresource == "status" and isinstance(new.get("status"), dict):
            before = old.get("status") or {}
            put_back(new["status"], before, "qosClass")
            for key in _KEPT_CLAIMS:
                if new["status"].get(key) is None:
                    put_back(new["status"], before, key)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What is wrong with the pod, or with the change."""
        if subresource == "status":
            node = (new.get("status") or {}).get("nominatedNodeName")
            problems = subdomain_problems(node) if node else []
            errors = [invalid_value("status.nominatedNodeName", node, each) for each in problems]
            return errors + validate_claim_statuses(new.get("status") or {}, new["spec"])
        errors = validate_pod_spec(new["spec"], "spec")
        return errors + (validate_unbound_while_gated(new["spec"]) if old is None else validate_pod_update(new, old))

    def grace_seconds(self, obj: Object, asked: int | None) -> int:
        """How long the pod may take to go: nothing runs of one that is not bound or has ended."""
        period = asked
        if period is None:
            period = obj["spec"].get("terminationGracePeriodSeconds", 0)
        if not obj["spec"].get("nodeName") or (obj.get("status") or {}).get("phase") in _ENDED:
            return 0
        return 1 if period < 0 else int(period)
