"""What a click on a gang shows of what it asks for."""

from api.podgroup import PodGroup
from tests.scheduler.core import build
from tests.views.builders import cluster, composite, group, pod, refused, tree_refused
from views.model.objects import Objects
from views.page.details import details_of


def _topology(group: PodGroup) -> object:
    return details_of(group, Objects(), can_explain=False)["topology"]


def test_the_topology_of_a_gang_is_told_level_by_level() -> None:
    said = {
        "tutti.scheduler/topology": "example.com/block, preferred:example.com/rack",
        "tutti.scheduler/slice-size": "4",
        "tutti.scheduler/slice-topology": "example.com/rack",
    }
    assert _topology(build.group("g", 8, annotations=said)) == (
        "inside one example.com/block, in few example.com/rack, slices of 4 inside one example.com/rack"
    )
    assert _topology(build.group("g", 8, topology="example.com/rack")) == "inside one example.com/rack"
    assert _topology(build.group("g", 8)) == ""


def test_the_groups_of_groups_above_a_gang_are_told_from_the_root_down() -> None:
    composites = [composite("all", tree_refused(), need=1), composite("part", parent="all", need=1)]
    leaf = group("g", refused(), need=1, parent="part")
    levels = details_of(leaf, cluster([leaf], [pod("p")], composites=composites), can_explain=False)["levels"]
    assert [(one["name"], one["state"], one["said"]) for one in levels] == [
        ("all", "waiting", "0 of 1 groups started"),
        ("part", "waiting", "0 of 1 groups started"),
    ]
    assert levels[0]["message"] == "Unschedulable: no room"
    assert levels[0]["since"] > 0


def test_a_gang_whose_parent_does_not_exist_says_so() -> None:
    leaf = group("g", refused(), parent="gone")
    (level,) = details_of(leaf, cluster([leaf]), can_explain=False)["levels"]
    assert (level["name"], level["state"], level["since"]) == ("gone", "", 0)
    assert level["said"].startswith("does not exist")


def test_a_gang_in_no_tree_has_no_levels_above_it() -> None:
    assert details_of(group("g"), Objects(), can_explain=False)["levels"] == []


def test_the_levels_above_a_gang_end_where_they_go_in_a_circle() -> None:
    composites = [composite("a", parent="b"), composite("b", parent="a")]
    leaf = group("g", parent="a")
    levels = details_of(leaf, cluster([leaf], composites=composites), can_explain=False)["levels"]
    assert [one["name"] for one in levels] == ["b", "a"]
