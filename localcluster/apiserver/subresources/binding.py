"""`pods/binding`: putting a pod on a node, once."""

from dataclasses import replace
from typing import Any

from localcluster.apiserver import status
from localcluster.apiserver.dispatch import Call
from localcluster.apiserver.http import Reply, json_reply
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.subresources.posted import admit, posted_options

DONE: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(call: Call) -> Reply:
    """Bind the pod.

    Raises:
        StatusError: it is not there, not the one that is meant, bound already, gated or on its way out.
    """
    options = posted_options(call)
    body = call.body("v1", "Binding")
    _check(body, call.info.name)
    binding = await admit(call, body, "v1", "Binding", options)
    pod = call.core.store.get(call.kind.resource, call.namespace, call.info.name)
    if pod is None:
        raise status.not_found(call.kind, call.info.name)
    _check_preconditions(call, pod, binding)
    _check_state(pod.obj)
    if not options.dry_run:
        call.core.store.replace(call.kind.resource, pod, bound(pod.obj, binding, call.context.now))
    return json_reply(201, DONE)


async def bind_by_name(call: Call) -> Reply:
    """Bind the pod that the body names: the older path of the same.

    Raises:
        StatusError: as for `bind`.
    """
    if call.info.verb != "create":
        raise status.method_not_allowed()
    name = (call.body("v1", "Binding").get("metadata") or {}).get("name") or ""
    pods = call.core.registry.find("", "v1", "pods")
    if pods is None:
        raise status.no_such_path()
    return await bind(replace(call, kind=pods, info=replace(call.info, name=name, subresource="binding")))


def bound(pod: Object, binding: Object, now: str) -> Object:
    """The pod as the binding makes it."""
    metadata, wanted = pod["metadata"], binding.get("metadata") or {}
    new_metadata = dict(metadata)
    if wanted.get("annotations"):
        new_metadata["annotations"] = {**(metadata.get("annotations") or {}), **wanted["annotations"]}
    if wanted.get("labels"):
        new_metadata["labels"] = {**wanted["labels"], **(metadata.get("labels") or {})}
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    present = pod.get("status") or {}
    others = [each for each in present.get("conditions") or [] if each.get("type") != "PodScheduled"]
    return {
        **pod,
        "metadata": new_metadata,
        "spec": {**pod["spec"], "nodeName": binding["target"]["name"]},
        "status": {**present, "conditions": [*others, scheduled]},
    }


def _check(binding: Object, name: str) -> None:
    metadata, target = binding.get("metadata") or {}, binding.get("target") or {}
    if metadata.get("name") != name:
        raise status.bad_request("name in URL does not match name in Binding object")
    problems: list[str] = []
    if target.get("kind") not in {"Node", "", None}:
        problems.append(f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        problems.append("target.name: Required value")
    if problems:
        text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise status.StatusError(500, "", text)


def _check_preconditions(call: Call, pod: Stored, binding: Object) -> None:
    wanted, present = binding.get("metadata") or {}, pod.obj["metadata"]
    problem = ""
    if wanted.get("uid") and wanted["uid"] != present["uid"]:
        problem = f"UID in precondition: {wanted['uid']}, UID in object meta: {present['uid']}"
    elif wanted.get("resourceVersion") and wanted["resourceVersion"] != present["resourceVersion"]:
        problem = (
            f"ResourceVersion in precondition: {wanted['resourceVersion']}, "
            f"ResourceVersion in object meta: {present['resourceVersion']}"
        )
    if problem:
        key = f"/registry/pods/{call.namespace}/{call.info.name}"
        text = (
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
            f"AdditionalErrorMsg: Precondition failed: {problem}"
        )
        raise status.conflict(call.kind, call.info.name, text)


def _check_state(pod: dict[str, Any]) -> None:
    name, spec = pod["metadata"]["name"], pod["spec"]
    problem = ""
    if pod["metadata"].get("deletionTimestamp"):
        problem = f"pod {name} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        problem = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    elif spec.get("schedulingGates"):
        problem = f"pod {name} has non-empty .spec.schedulingGates"
    if problem:
        message = f'Operation cannot be fulfilled on pods/binding "{name}": {problem}'
        raise status.StatusError(409, "Conflict", message, {"name": name, "kind": "pods/binding"})
