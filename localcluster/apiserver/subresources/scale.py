"""`scale`: the number of replicas of whatever has one, as an autoscaling/v1 Scale."""

from localcluster.apiserver import status
from localcluster.apiserver.dispatch import Call
from localcluster.apiserver.fielderrors import invalid_value
from localcluster.apiserver.http import Reply, json_reply
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.patches.apply import decoded_patch, patched
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.verbs import read
from localcluster.apiserver.verbs.options import write_options
from localcluster.apiserver.verbs.update import modify

_API_VERSION = "autoscaling/v1"
_OPTIONS = {"update": "UpdateOptions", "patch": "PatchOptions"}


async def scale(call: Call) -> Reply:
    """Read or change the scale.

    Raises:
        StatusError: refused.
    """
    verb, kind = call.info.verb, call.kind
    if verb == "get":
        found = read.get(call.core, kind, call.namespace, call.info.name)
        return json_reply(200, _scale_of(kind, found.obj))
    if verb not in _OPTIONS:
        raise status.method_not_allowed()
    options = write_options(_OPTIONS[verb], call.request.query)
    call.context.dry_run = options.dry_run

    def change(stored: Stored, old: Object) -> Object:
        wanted = _wanted(call, old)
        replicas = (wanted.get("spec") or {}).get("replicas") or 0
        if not isinstance(replicas, int) or (replicas < 0 and kind.definition is None):
            error = invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
            raise status.invalid(
                KindInfo("autoscaling", "v1", "Scale", "scales", kind.strategy), call.info.name, [error]
            )
        new = read.served(kind, [stored])[0].copy()
        version = (wanted.get("metadata") or {}).get("resourceVersion")
        if version:
            new["metadata"]["resourceVersion"] = version
        kind.strategy.set_scale(new, replicas)
        return new

    stored = await modify(call.core, call.target, change, options, call.context)
    return json_reply(200, _scale_of(kind, stored.obj))


def _wanted(call: Call, old: Object) -> Object:
    if call.info.verb == "update":
        return call.body(_API_VERSION, "Scale")
    content_type = call.request.headers.get("Content-Type", "")
    media_type, patch = decoded_patch(call.kind, call.request.body, content_type)
    return patched(media_type, _scale_of(call.kind, old), patch)


def _scale_of(kind: KindInfo, obj: Object) -> Object:
    found = kind.strategy.scale(obj)
    if found is None:
        raise status.no_such_path()
    metadata = {
        key: obj["metadata"][key]
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        if key in obj["metadata"]
    }
    state: Object = {"replicas": found.status_replicas}
    if found.selector:
        state["selector"] = found.selector
    return {
        "kind": "Scale",
        "apiVersion": _API_VERSION,
        "metadata": metadata,
        "spec": {"replicas": found.replicas} if found.replicas else {},
        "status": state,
    }
