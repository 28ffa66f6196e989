"""I1 for trees: a history that breaks it is seen, its neighbour that does not is not."""

from tests.verify.auditor.histories import bind, group, node, pod, verdict, write
from verify.auditor.audit_log import Object, Record
from verify.auditor.identities import CONTROLLERS_USER, SCHEDULER_USER, forbidden_write


def composite(minimum: int, name: str = "tree", *, parent: str = "", when: float = 0.05) -> Record:
    spec: Object = {"schedulingPolicy": {"gang": {"minGroupCount": minimum}}}
    if parent:
        spec["parentCompositePodGroupName"] = parent
    response = {"metadata": {"uid": f"uid-{name}"}, "spec": spec}
    return write(CONTROLLERS_USER, "create", "compositepodgroups", name, when, response=response)


def child(name: str, parent: str = "tree", minimum: int = 1) -> Record:
    made = group(minimum, name)
    made.response["spec"]["parentCompositePodGroupName"] = parent
    return made


def test_a_tree_whose_groups_start_together_breaks_no_promise() -> None:
    pods = (pod("p", member_of="a"), pod("q", member_of="b"))
    assert verdict(node(), composite(2), child("a"), child("b"), *pods, bind("p", 1.0), bind("q", 1.5)) == []


def test_a_tree_of_which_one_group_alone_runs_is_seen() -> None:
    (found,) = verdict(node(), composite(2), child("a"), child("b"), pod("p", member_of="a"), bind("p", 1.0))
    assert "tree ('ns', 'tree') ran in part" in found
    assert "fewer than 2 of its children" in found


def test_one_group_is_enough_for_a_tree_that_asks_for_one() -> None:
    assert verdict(node(), composite(1), child("a"), child("b"), pod("p", member_of="a"), bind("p", 1.0)) == []


def test_binds_of_one_tree_that_lie_far_apart_are_seen() -> None:
    pods = (pod("p", member_of="a"), pod("q", member_of="b"))
    (found,) = verdict(node(), composite(2), child("a"), child("b"), *pods, bind("p", 1.0), bind("q", 9.0))
    assert "for 8.0 s" in found


def test_each_level_counts_by_itself() -> None:
    tree = (composite(1, "root"), composite(2, "left", parent="root"), composite(1, "right", parent="root"))
    groups = (child("a", "left"), child("b", "left"), child("c", "right"))
    assert verdict(node(), *tree, *groups, pod("p", member_of="c"), bind("p", 1.0)) == []
    broken = verdict(node(), *tree, *groups, pod("p", member_of="a"), bind("p", 1.0))
    assert sorted(text.split("'")[3] for text in broken) == ["left", "root"]


def test_a_parent_that_is_not_there_is_judged_by_nobody() -> None:
    assert verdict(node(), child("a"), pod("p", member_of="a"), bind("p", 1.0)) == []


def test_of_levels_that_name_each_other_in_a_circle_what_runs_in_part_is_seen() -> None:
    circle = (composite(1, "one", parent="other"), composite(1, "other", parent="one"))
    found = verdict(node(), *circle, child("a", "one", 2), pod("p", member_of="a"), bind("p", 1.0))
    assert sum("tree" in each for each in found) == 2


def test_the_scheduler_writes_the_status_of_a_tree_and_nothing_else_of_it() -> None:
    assert forbidden_write(write(SCHEDULER_USER, "patch", "compositepodgroups/status", "tree", 1.0)) is None
    assert forbidden_write(write(SCHEDULER_USER, "create", "compositepodgroups", "tree", 1.0)) is not None
    assert forbidden_write(write(CONTROLLERS_USER, "create", "compositepodgroups", "tree", 1.0)) is None
