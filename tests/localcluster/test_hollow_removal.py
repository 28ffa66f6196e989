"""A hollow kubelet and a server that could not carry out a deletion at once."""

import msgspec

from api.meta import Metadata
from kube.client.client import Client
from kube.client.errors import ServerError
from kube.client.resources import PODS, Resource
from localcluster.kubelet import HollowNode, Kubelet
from localcluster.lifecycle import REMOVE_AGAIN_SECONDS, HollowPod

NODE = "node-1"
LONG_AGO = "2026-01-02T03:04:05Z"
KEY = ("ns", "p")


class OverloadedServer(Client):
    """Notes deletions, and answers the first of them with 504."""

    def __init__(self) -> None:
        self.deleted: list[tuple[str, str, int | None]] = []

    async def delete(self, resource: Resource, name: str, namespace: str | None = None, **options: object) -> None:
        assert resource is PODS
        grace = options["grace_seconds"]
        self.deleted.append((name, str(options["uid"]), grace if isinstance(grace, int) else None))
        if len(self.deleted) == 1:
            raise ServerError(504, "Timeout", "request did not complete within the allotted timeout")


def kubelet_on(server: OverloadedServer) -> Kubelet:
    kubelet = Kubelet(server)
    kubelet.nodes.store.put(HollowNode(Metadata(name=NODE)))
    return kubelet


def ended(grace_seconds: int) -> HollowPod:
    deleted = {"deletionTimestamp": LONG_AGO, "deletionGracePeriodSeconds": grace_seconds}
    metadata = {"namespace": KEY[0], "name": KEY[1], "uid": "u", **deleted}
    return msgspec.convert({"metadata": metadata, "spec": {"nodeName": NODE}, "status": {"phase": "Failed"}}, HollowPod)


async def test_a_removal_that_was_answered_504_is_asked_for_again_although_the_server_has_noted_it() -> None:
    server = OverloadedServer()
    kubelet = kubelet_on(server)
    kubelet.pods.store.put(ended(30))
    try:
        await kubelet._reconcile(KEY)
    except ServerError:
        kubelet.pods.store.put(ended(0))  # the first half of the deletion has happened
    await kubelet._reconcile(KEY)
    assert server.deleted == [("p", "u", 0), ("p", "u", 0)]


async def test_a_pod_whose_removal_is_noted_just_now_is_looked_at_later() -> None:
    server = OverloadedServer()
    kubelet = kubelet_on(server)
    leaving = ended(0)
    soon = msgspec.structs.replace(leaving.metadata, deletion_timestamp="2999-01-01T00:00:00Z")
    kubelet.pods.store.put(msgspec.structs.replace(leaving, metadata=soon))
    assert await kubelet._reconcile(KEY) == REMOVE_AGAIN_SECONDS
    assert server.deleted == []
