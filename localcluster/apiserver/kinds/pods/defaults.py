"""What a pod or a pod template says when it does not say.

Pure; changes its argument, which belongs to the request.
"""

import re

from localcluster.apiserver.kinds.kind import Object

EVICTION_SECONDS = 300
_EVICTING_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_VOLUME_MODES = {
    "secret": "defaultMode",
    "configMap": "defaultMode",
    "downwardAPI": "defaultMode",
    "projected": "defaultMode",
}
_DEFAULT_MODE = 420
_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST = "[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]+)?"
_IMAGE = re.compile(
    rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::(?P<tag>\w[\w.-]{{0,127}}))?(?P<digest>@[A-Za-z0-9+.:_-]+)?", re.ASCII
)
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def default_pod_spec(spec: Object) -> None:
    """Defaults that pods and templates share."""
    spec.pop("schedulingGroup", None)
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    if spec.get("serviceAccountName") and not spec.get("serviceAccount"):
        spec["serviceAccount"] = spec["serviceAccountName"]
    for key in ("containers", "initContainers"):
        for container in _objects(spec.get(key)):
            _default_container(container)
    for volume in _objects(spec.get("volumes")):
        _default_volume(volume)


def default_pod(pod: Object, *, is_new: bool) -> None:
    """Defaults of pods that templates do not have."""
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        spec = pod["spec"] = {}
    default_pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for container in [*_objects(spec.get("containers")), *_objects(spec.get("initContainers"))]:
        resources = container["resources"]
        if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}
    if is_new:
        _tolerate_bad_nodes(spec)


def default_template(template: Object) -> None:
    """Defaults of a template; the metadata are there afterwards."""
    if not isinstance(template.get("metadata"), dict):
        template["metadata"] = {}
    template["metadata"].pop("creationTimestamp", None)
    if not isinstance(template.get("spec"), dict):
        template["spec"] = {}
    default_pod_spec(template["spec"])


def quality_of_service(spec: Object) -> str:
    """`status.qosClass`: Guaranteed when all limits equal the requests, BestEffort when there are none."""
    containers = [*_objects(spec.get("containers")), *_objects(spec.get("initContainers"))]
    requests = [_basic(each, "requests") for each in containers]
    limits = [_basic(each, "limits") for each in containers]
    if not any(requests) and not any(limits):
        return "BestEffort"
    guaranteed = all(len(limit) == 2 and limit == request for limit, request in zip(limits, requests, strict=True))
    return "Guaranteed" if guaranteed else "Burstable"


def _basic(container: Object, key: str) -> Object:
    amounts = (container.get("resources") or {}).get(key) or {}
    return {name: amounts[name] for name in ("cpu", "memory") if name in amounts}


def _default_container(container: Object) -> None:
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = "Always" if _is_latest(str(container.get("image") or "")) else "IfNotPresent"
    if container.get("resources") is None:
        container["resources"] = {}
    for port in _objects(container.get("ports")):
        port.setdefault("protocol", "TCP")
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(key)
        if isinstance(probe, dict):
            for name, value in _PROBE.items():
                probe.setdefault(name, value)
            if isinstance(probe.get("httpGet"), dict):
                probe["httpGet"].setdefault("path", "/")
                probe["httpGet"].setdefault("scheme", "HTTP")
    for variable in _objects(container.get("env")):
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if isinstance(reference, dict):
            reference.setdefault("apiVersion", "v1")


def _is_latest(image: str) -> bool:
    """Whether the image's tag is `latest`, which it is without a tag, unless a digest stands for it or it is no image at all."""
    match = _IMAGE.fullmatch(image)
    return match is not None and (match["tag"] == "latest" or not (match["tag"] or match["digest"]))


def _default_volume(volume: Object) -> None:
    sources = [key for key in volume if key != "name"]
    if not sources:
        volume["emptyDir"] = {}
    for source in sources:
        if source in _VOLUME_MODES and isinstance(volume[source], dict):
            volume[source].setdefault(_VOLUME_MODES[source], _DEFAULT_MODE)


def _tolerate_bad_nodes(spec: Object) -> None:
    tolerations = list(spec.get("tolerations") or [])
    for key in _EVICTING_TAINTS:
        if not any(_tolerates(each, key) for each in _objects(tolerations)):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": EVICTION_SECONDS}
            )
    spec["tolerations"] = tolerations


def _tolerates(toleration: Object, key: str) -> bool:
    return toleration.get("key") in {key, None, ""} and toleration.get("effect") in {"NoExecute", None, ""}


def _objects(value: object) -> list[Object]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
