"""docs/nested-groups.md: the tree that it shows is one that starts whole or not at all."""

import pytest

from tests.docs.markdown import DOCS, blocks
from tests.explain.test_fit import asked
from tests.scheduler.core.world import World

TEXT = (DOCS / "nested-groups.md").read_text(encoding="utf-8")
PODS = 9


@pytest.mark.parametrize(("pods", "starts"), [(PODS, True), (PODS - 1, False)])
def test_its_tree_starts_with_room_for_all_its_pods_and_not_with_less(pods: int, starts: bool) -> None:
    (manifests,) = (block.text for block in blocks(TEXT) if block.language == "yaml")
    world = World()
    world.node("n", cpu=8, pods=pods)
    found = asked(world.state, manifests)
    assert [(one.name, one.fits) for one in found.items] == [("compositepodgroup/training", starts)]
    assert sum(share.pods for share in found.items[0].nodes) == (PODS if starts else 0)
