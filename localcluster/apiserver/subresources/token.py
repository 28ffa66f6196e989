"""`serviceaccounts/token`: tokens by which processes are known as service accounts."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from localcluster.apiserver import status
from localcluster.apiserver.core import rfc3339
from localcluster.apiserver.dispatch import Call
from localcluster.apiserver.fielderrors import FieldError, invalid_value
from localcluster.apiserver.http import Reply, json_reply
from localcluster.apiserver.kinds.kind import KindInfo
from localcluster.apiserver.kinds.plain import PlainStrategy
from localcluster.apiserver.subresources.posted import admit, posted_options
from localcluster.apiserver.tokens import ISSUER, Claims, Signer
from localcluster.apiserver.verbs import read
from localcluster.apiserver.verbs.checks import undecodable

_API_VERSION = "authentication.k8s.io/v1"
_REQUEST = KindInfo("authentication.k8s.io", "v1", "TokenRequest", "", PlainStrategy())
_SHORTEST_SECONDS = 600
_LONGEST_SECONDS = 2**32
_DEFAULT_SECONDS = 3600


def token_maker(signer: Signer, clock: Callable[[], datetime]) -> Callable[[Call], Awaitable[Reply]]:
    """Answers token requests with this key."""

    async def make(call: Call) -> Reply:
        options = posted_options(call)
        body = call.body(_API_VERSION, "TokenRequest")
        account = read.get(call.core, call.kind, call.namespace, call.info.name).obj
        spec = body.get("spec") or {}
        seconds = spec.get("expirationSeconds")
        seconds = _DEFAULT_SECONDS if seconds is None else seconds
        _check(seconds)
        body = await admit(call, body, _API_VERSION, "TokenRequest", options)
        audiences = tuple(spec.get("audiences") or [ISSUER])
        now, uid = clock(), account["metadata"]["uid"]
        expires = now + timedelta(seconds=seconds)
        claims = Claims(call.namespace, call.info.name, uid, expires.timestamp(), audiences)
        token = signer.sign(claims, issued_at=now.timestamp(), token_id=call.core.new_uid())
        metadata = {"name": call.info.name, "namespace": call.namespace, "uid": uid}
        metadata["creationTimestamp"] = rfc3339(now)
        answer = {
            "kind": "TokenRequest",
            "apiVersion": _API_VERSION,
            "metadata": metadata,
            "spec": {"audiences": list(audiences), "expirationSeconds": seconds, "boundObjectRef": None},
            "status": {"token": token, "expirationTimestamp": rfc3339(expires)},
        }
        return json_reply(201, answer)

    return make


def _check(seconds: object) -> None:
    field, errors = "spec.expirationSeconds", list[FieldError]()
    if not isinstance(seconds, int) or isinstance(seconds, bool):
        raise undecodable(_REQUEST, seconds, f"TokenRequestSpec.{field}", "int64")
    if seconds < _SHORTEST_SECONDS:
        errors.append(invalid_value(field, seconds, "may not specify a duration less than 10 minutes"))
    if seconds > _LONGEST_SECONDS:
        errors.append(invalid_value(field, seconds, "may not specify a duration larger than 2^32 seconds"))
    if errors:
        raise status.invalid(_REQUEST, "", errors)
