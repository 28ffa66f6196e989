"""Which decision a request about JobSets or their pods asks for, and the answer to it."""

from typing import Any, Final

from api.constants import JOB_COMPLETION_INDEX
from kube.client.client import Client
from kube.client.errors import KubeError, NotFound
from kube.client.resources import NODES, PODS
from localcluster.apiserver.fielderrors import FieldError
from localcluster.controllers.admission.reviews import patch, refusal, reviewed
from localcluster.controllers.jobsets.admission.pods import (
    JOB_KEY,
    LEADER,
    admitted,
    complaint,
    followed_topology,
)
from localcluster.controllers.jobsets.admission.sets import complaints, complaints_of_change, defaulted

Object = dict[str, Any]

DEFAULTING_PATH: Final = "/mutate-jobset-x-k8s-io-v1alpha2-jobset"
VALIDATING_PATH: Final = "/validate-jobset-x-k8s-io-v1alpha2-jobset"
POD_DEFAULTING_PATH: Final = "/mutate--v1-pod"
POD_VALIDATING_PATH: Final = "/validate--v1-pod"


class Reviewer:
    """Answers reviews. Where the leader of a pod runs it asks the server, which knows best."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, path: str, review: Object) -> Object:
        """The AdmissionReview that answers one.

        Raises:
            KeyError: it is none, or the path is nobody's.
            TypeError: it is none.
        """
        request = review["request"]
        new = request["object"]
        if path == DEFAULTING_PATH:
            return reviewed(request, patch(new, defaulted(new)))
        if path == VALIDATING_PATH:
            old = request.get("oldObject")
            return reviewed(request, _verdict(new, complaints(new) if old is None else complaints_of_change(new, old)))
        if path not in {POD_DEFAULTING_PATH, POD_VALIDATING_PATH}:
            raise KeyError(path)
        try:
            domain = await self._domain(new, str(request.get("namespace", "")))
        except KubeError as error:
            return reviewed(request, refusal(f"nobody knows where its leader is: {error}", 500, "InternalError"))
        if path == POD_DEFAULTING_PATH:
            return reviewed(request, patch(new, admitted(new, domain)))
        text = complaint(new, domain)
        return reviewed(request, {} if text is None else refusal(text, 403, "Forbidden"))

    async def _domain(self, pod: Object, namespace: str) -> str | None:
        """The domain in which the leader of a pod runs; None when it has no node yet, or the pod follows nobody."""
        topology = followed_topology(pod)
        key = (pod["metadata"].get("labels") or {}).get(JOB_KEY)
        if topology is None or not key:
            return None
        chosen = f"{JOB_KEY}={key},{JOB_COMPLETION_INDEX}={LEADER}"
        found = await self._client.list(PODS, namespace, label_selector=chosen)
        for leader in found.get("items") or ():
            node = leader["spec"].get("nodeName")
            # A Job that is made again has the key of the former one.
            if node and _owners(leader) == _owners(pod) and not leader["metadata"].get("deletionTimestamp"):
                return await self._label(node, topology)
        return None

    async def _label(self, node: str, topology: str) -> str | None:
        try:
            labels = (await self._client.get(NODES, node))["metadata"].get("labels") or {}
        except NotFound:
            return None
        return labels.get(topology)


def _owners(pod: Object) -> set[str]:
    return {str(owner["uid"]) for owner in pod["metadata"].get("ownerReferences") or ()}


def _verdict(jobset: Object, errors: list[FieldError]) -> Object:
    if not errors:
        return {}
    told = ", ".join(str(error) for error in errors)
    text = f"[{told}]" if len(errors) > 1 else told
    name = jobset["metadata"].get("name", "")
    return refusal(f'JobSet.jobset.x-k8s.io "{name}" is invalid: {text}', 422, "Invalid")
