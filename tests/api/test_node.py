"""Nodes as kubelets describe them."""

import msgspec

from api.node import ContainerImage, Node
from kube.cache.decoding import ListDecoder

SAID = {
    "metadata": {"name": "node", "uid": "u", "resourceVersion": "1"},
    "status": {
        "allocatable": {"cpu": "2"},
        "images": [{"names": ["busybox:1.37"], "sizeBytes": 5}, {"names": None, "sizeBytes": 7}],
    },
}


def test_a_node_that_holds_an_image_without_any_name_is_readable() -> None:
    """Pulling a tag again leaves the image that had it before without one."""
    node = ListDecoder(Node).item(msgspec.Raw(msgspec.json.encode(SAID)))
    assert node.status.images == (ContainerImage(("busybox:1.37",), 5), ContainerImage(None, 7))
