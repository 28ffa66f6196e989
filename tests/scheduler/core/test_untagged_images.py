"""Images that a node holds and that no name leads to: they bring no pod nearer to it."""

from api.node import ContainerImage
from scheduler.cache.node_columns import ImageTable


def test_an_image_without_any_name_is_passed_over() -> None:
    table = ImageTable()
    table.set(0, (ContainerImage(("busybox:1.37",), 5), ContainerImage(None, 7)))
    assert table.nodes_with("busybox:1.37") == 1
    table.set(0, (ContainerImage(None, 7),))
    assert table.nodes_with("busybox:1.37") == 0
    table.set(0, ())
