"""Which decision a request about LeaderWorkerSets or their pods asks for, and the answer to it. Pure."""

from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError
from localcluster.controllers.admission.reviews import patch, refusal, reviewed
from localcluster.controllers.leaderworkersets.admission.defaults import defaulted
from localcluster.controllers.leaderworkersets.admission.pods import Unfit, admitted
from localcluster.controllers.leaderworkersets.admission.validation import complaints, complaints_of_change

Object = dict[str, Any]

DEFAULTING_PATH: Final = "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
VALIDATING_PATH: Final = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
POD_PATH: Final = "/mutate--v1-pod"


def answer(path: str, review: Object) -> Object:
    """The AdmissionReview that answers one.

    Raises:
        KeyError: it is none, or the path is nobody's.
        TypeError: it is none.
    """
    request = review["request"]
    new = request["object"]
    if path == DEFAULTING_PATH:
        return reviewed(request, patch(new, defaulted(new)))
    if path == POD_PATH:
        return reviewed(request, _admit(request))
    if path == VALIDATING_PATH:
        old = request.get("oldObject")
        return reviewed(request, _verdict(complaints(new) if old is None else complaints_of_change(new, old)))
    raise KeyError(path)


def _admit(request: Object) -> Object:
    pod = request["object"]
    try:
        return patch(pod, admitted(pod, str(request.get("namespace", ""))))
    except Unfit as error:
        return refusal(str(error), 500, "InternalError")


def _verdict(errors: list[FieldError]) -> Object:
    if not errors:
        return {}
    texts = list(dict.fromkeys(str(error) for error in errors))
    return refusal(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]", 403, "Forbidden")
