"""`pods/log`: hollow nodes run nothing, so there is nothing to read; the refusal says so."""

from localcluster.apiserver import status
from localcluster.apiserver.dispatch import Call
from localcluster.apiserver.http import Reply
from localcluster.apiserver.verbs import read


async def logs(call: Call) -> Reply:
    """Refuse.

    Raises:
        StatusError: always.
    """
    if call.info.verb != "get":
        raise status.method_not_allowed()
    pod = read.get(call.core, call.kind, call.namespace, call.info.name).obj
    node = pod["spec"].get("nodeName")
    if not node:
        raise status.bad_request(f"pod {call.info.name} does not have a host assigned")
    raise status.bad_request(
        f"no logs of pod {call.info.name}: node {node} of this local cluster is hollow, it plays pods by the clock and "
        "runs no containers"
    )
