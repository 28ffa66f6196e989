"""Images of nodes that come many at once count like those of nodes that come one after the other."""

from contextlib import nullcontext

from hypothesis import given
from hypothesis import strategies as st

from api.node import ContainerImage
from scheduler.cache.node_columns import ImageTable

Nodes = dict[int, tuple[ContainerImage, ...]]
SLOTS = 20
NAMES = st.lists(st.sampled_from(["a:1", "b:1", "c:1", "c:2", "d@sha256:1"]), max_size=3).map(tuple)
IMAGES = st.builds(ContainerImage, names=NAMES, size_bytes=st.integers(1, 3))
NODES = st.dictionaries(st.integers(0, SLOTS - 1), st.lists(IMAGES, max_size=4).map(tuple), max_size=8)


def told(table: ImageTable) -> dict[str, tuple[int, int, list[int]]]:
    return {
        name: (size, table.nodes_with(name), table.holders(name, SLOTS).tolist())
        for name, size in sorted(table.sizes_bytes().items())
    }


def filled(nodes: Nodes, later: Nodes, *, at_once: bool) -> ImageTable:
    table = ImageTable()
    with table.many_set() if at_once else nullcontext():
        for slot, images in nodes.items():
            table.set(slot, images)
        for slot, images in later.items():
            table.set(slot, images)
    return table


@given(NODES, NODES)
def test_the_same_is_known_of_them(nodes: Nodes, later: Nodes) -> None:
    assert told(filled(nodes, later, at_once=True)) == told(filled(nodes, later, at_once=False))
