"""What admission adds to a LeaderWorkerSet: what it left out, and the form in which its templates are kept.

Pure. The templates are brought into the one form that the API server keeps pod templates in (amounts in their canonical
spelling, no fields that hold nothing, the objects that are always there), because revisions are compared and named by it.
"""

import copy
from typing import Any, Final

from localcluster.apiserver.kinds.empties import drop_empty_fields
from localcluster.controllers.leaderworkersets.admission.amounts import canonical_amounts
from localcluster.controllers.leaderworkersets.model import RECREATE, SHARED

Object = dict[str, Any]

ROLLING: Final = "RollingUpdate"
_DEPRECATED: Final = "Default"
_TEMPLATES: Final = ("leaderTemplate", "workerTemplate")


def defaulted(lws: Object) -> Object:
    """The LeaderWorkerSet with everything filled in."""
    made = copy.deepcopy(lws)
    spec: Object = made["spec"]
    template: Object = spec["leaderWorkerTemplate"]
    if not template.get("restartPolicy"):
        template["restartPolicy"] = RECREATE
    if template["restartPolicy"] == _DEPRECATED:
        template["restartPolicy"] = "None"
    rollout = spec.setdefault("rolloutStrategy", {})
    if not rollout.get("type"):
        rollout["type"] = ROLLING
    if rollout["type"] == ROLLING and rollout.get("rollingUpdateConfiguration") is None:
        rollout["rollingUpdateConfiguration"] = {"partition": 0, "maxUnavailable": 1, "maxSurge": 0}
    network = spec.get("networkConfig")
    if network is None:
        spec["networkConfig"] = network = {}
    if network.get("subdomainPolicy") is None:
        network["subdomainPolicy"] = SHARED
    for name in _TEMPLATES:
        if template.get(name) is not None:
            template[name] = kept_template(template[name])
    if template.get("volumeClaimTemplates"):
        template["volumeClaimTemplates"] = [_kept_claim(each) for each in template["volumeClaimTemplates"]]
    return made


def kept_template(template: Object) -> Object:
    """A pod template in the form it is kept in."""
    made = copy.deepcopy(template)
    drop_empty_fields("core.v1.PodTemplateSpec", made)
    made.setdefault("metadata", {})
    spec = made.setdefault("spec", {})
    for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
        canonical_amounts(container.setdefault("resources", {}), "limits", "requests")
    canonical_amounts(spec, "overhead")
    for volume in spec.get("volumes") or []:
        canonical_amounts({"emptyDir": volume.get("emptyDir")}, "emptyDir", only=("sizeLimit",))
    return made


def _kept_claim(claim: Object) -> Object:
    made = copy.deepcopy(claim)
    drop_empty_fields("core.v1.PersistentVolumeClaim", made)
    made.setdefault("metadata", {})
    spec = made.setdefault("spec", {})
    canonical_amounts(spec.setdefault("resources", {}), "limits", "requests")
    made.setdefault("status", {})
    return made
