"""Places in the queue: priority, then age, then the UID."""

from tests.views.builders import CREATED, LATER, cluster, composite, gang, group, pod, refused, scheduled
from views.model.gang import Gang
from views.model.queue import with_places


def waiting(name: str, *, priority: int = 0, created: str = CREATED) -> Gang:
    return gang(group(name, refused(), priority=priority, created=created), pod("a", group=name), pod("b", group=name))


def test_the_more_important_comes_first_then_the_older_one() -> None:
    gangs = [waiting("young", created=LATER), waiting("old"), waiting("great", priority=5, created=LATER)]
    assert [(each.group, each.place) for each in with_places(gangs)] == [("young", 3), ("old", 2), ("great", 1)]


def test_a_gang_that_had_to_leave_keeps_the_age_of_its_group() -> None:
    back = gang(group("back", scheduled()), *[pod(name, group="back", created="2020-01-02T00:00:00Z") for name in "ab"])
    assert back.since > LATER
    assert [each.place for each in with_places([waiting("young", created=LATER), back])] == [2, 1]


def test_who_does_not_wait_has_no_place() -> None:
    running = gang(group("runs", scheduled()), pod("a", "Running", node="n", group="runs"))
    held = gang(group("held", refused("WaitingForMembers")), pod("a", group="held"))
    assert [each.place for each in with_places([running, held, waiting("g")])] == [0, 0, 1]


def test_groups_of_other_namespaces_come_before_when_they_are_more_important() -> None:
    others = [
        group("o", refused(), priority=9, namespace="other"),
        group("t", refused(), priority=-1, namespace="other"),
        group("h", refused("WaitingForMembers"), priority=9, namespace="other"),
    ]
    assert [each.place for each in with_places([waiting("g")], others)] == [2]


def test_a_group_that_is_known_already_is_counted_once() -> None:
    assert [each.place for each in with_places([waiting("g"), waiting("h")], [group("g", refused())])] == [1, 2]


def test_the_groups_of_a_tree_have_one_place_by_their_root() -> None:
    groups = [group("a", refused(), parent="c"), group("b", refused(), parent="c"), group("alone", refused())]
    pods = [pod(f"{each.metadata.name}-0", group=each.metadata.name) for each in groups]
    objects = cluster(groups, pods, composites=[composite("c", created=LATER)])
    places = {each.group: each.place for each in with_places(objects.gangs())}
    assert places == {"alone": 1, "a": 2, "b": 2}


def test_a_tree_of_another_namespace_is_counted_once() -> None:
    others = [group(name, refused(), namespace="other", parent="c") for name in "ab"]
    root = composite("c", priority=9)
    assert [each.place for each in with_places([waiting("g")], others, lambda _: root)] == [2]


def test_a_tree_that_cannot_be_scheduled_has_no_place() -> None:
    assert [each.place for each in with_places([gang(group("g", refused("Invalid")), pod("a"))])] == [0]
