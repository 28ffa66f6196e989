"""What the controllers remember: Jobs, their own recent writes, and what they have said."""

from typing import Any

import msgspec
import pytest

from api.job import Job
from api.podgroup import PodGroup
from controllers.events import MAX_REMEMBERED, DedupEventRecorder
from controllers.gangs.indexes import BY_WORKLOAD, POD_GROUP_INDEXERS
from controllers.mutation_cache import KEPT_SECONDS, MutationCache
from controllers.owner_cache import JUST_NOW_SECONDS, OwnerCache
from kube.cache.informer import Change
from kube.cache.store import Store
from tests.controllers.builders import GROUP_NAME, NAMESPACE, WORKLOAD_NAME, group_manifest, job

KEY = (NAMESPACE, "train")
OF_WORKLOAD = (NAMESPACE, WORKLOAD_NAME)


# --- Jobs ----------------------------------------------------------------------------------------------------------------


class Jobs:
    """An informer's store, what we were told beside it, and a clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.store: Store[Job] = Store()
        self.cache: OwnerCache[Job] = OwnerCache(self.store, clock=lambda: self.now)

    def see(self, item: Job) -> None:
        before = self.store.put(item)
        self.cache.caught_up(Change("updated" if before else "added", before, item))

    def lose(self) -> None:
        before = self.store.remove(*KEY)
        self.cache.caught_up(Change("deleted", before, None))


@pytest.fixture
def seen() -> Jobs:
    return Jobs()


@pytest.fixture
def jobs(seen: Jobs) -> OwnerCache[Job]:
    return seen.cache


def test_a_job_was_just_shown_for_half_a_minute_and_in_its_latest_version_only(
    seen: Jobs, jobs: OwnerCache[Job]
) -> None:
    first, second = job(version="1"), job(version="2")
    assert not jobs.was_just_shown(first)
    seen.see(first)
    assert jobs.was_just_shown(first)
    seen.see(second)
    assert (jobs.was_just_shown(first), jobs.was_just_shown(second)) == (False, True)
    assert not jobs.was_just_shown(job(uid="another", version="2"))
    seen.now += JUST_NOW_SECONDS
    assert not jobs.was_just_shown(second)
    jobs.note(second)
    assert jobs.was_just_shown(second)
    jobs.note_gone(second)
    assert not jobs.was_just_shown(second)


def test_an_older_version_of_a_job_never_replaces_a_newer_one(seen: Jobs, jobs: OwnerCache[Job]) -> None:
    newer = job(version="12")
    jobs.note(newer)
    seen.see(job(version="9"))
    assert jobs.get(KEY) == newer


def test_the_late_news_of_a_predecessor_does_not_replace_its_successor(seen: Jobs, jobs: OwnerCache[Job]) -> None:
    successor = job(uid="b", version="12")
    seen.see(successor)
    jobs.note(job(uid="a", version="11"))
    jobs.note_gone(job(uid="a", version="11"))
    assert jobs.get(KEY) == successor


def test_a_job_that_a_read_did_not_find_is_gone_before_the_informer_says_so(seen: Jobs, jobs: OwnerCache[Job]) -> None:
    seen.see(job(version="1"))
    jobs.note(job(version="2"))
    jobs.note_gone(job(version="2"))
    assert jobs.get(KEY) is None
    assert not jobs.has(job())
    assert len(jobs) == 0
    seen.lose()
    seen.see(job(uid="successor", version="3"))
    assert jobs.keys() == [KEY]


def test_versions_that_are_no_numbers_are_taken_as_they_come(seen: Jobs, jobs: OwnerCache[Job]) -> None:
    seen.see(job(version="b"))
    later = job(version="a")
    jobs.note(later)
    assert jobs.get(KEY) == later


# --- own writes ----------------------------------------------------------------------------------------------------------


class Groups:
    """An informer's store, our own writes beside it, and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.store: Store[PodGroup] = Store(POD_GROUP_INDEXERS)
        self.fresh = MutationCache(self.store, POD_GROUP_INDEXERS, clock=lambda: self.now)

    def see(self, item: PodGroup) -> None:
        before = self.store.put(item)
        self.fresh.caught_up(Change("updated" if before else "added", before, item))

    def lose(self) -> None:
        before = self.store.remove(NAMESPACE, GROUP_NAME)
        self.fresh.caught_up(Change("deleted", before, None))

    def found(self) -> list[str]:
        return [item.metadata.resource_version for item in self.fresh.by_index(BY_WORKLOAD, OF_WORKLOAD)]

    def by_name(self) -> str | None:
        item = self.fresh.get(NAMESPACE, GROUP_NAME)
        return item.metadata.resource_version if item else None


def version(number: int, uid: str = "g") -> PodGroup:
    manifest = group_manifest(uid=uid)
    manifest["metadata"]["resourceVersion"] = str(number)
    return msgspec.convert(manifest, PodGroup)


@pytest.fixture
def groups() -> Groups:
    return Groups()


def test_what_we_wrote_is_found_before_the_informer_knows_it(groups: Groups) -> None:
    groups.fresh.note(version(5))
    assert groups.found() == ["5"]
    assert groups.by_name() == "5"


def test_the_newer_of_both_versions_is_found_once(groups: Groups) -> None:
    groups.see(version(5))
    groups.fresh.note(version(7))
    assert groups.found() == ["7"]
    groups.see(version(6))
    assert groups.found() == ["7"]
    groups.see(version(8))
    assert groups.found() == ["8"]


def test_an_answer_older_than_what_the_informer_knows_is_not_kept(groups: Groups) -> None:
    groups.see(version(9))
    groups.fresh.note(version(7))
    assert groups.by_name() == "9"


def test_what_the_informer_has_seen_go_is_gone(groups: Groups) -> None:
    groups.fresh.note(version(5))
    groups.see(version(5))
    groups.lose()
    assert groups.found() == []
    assert groups.by_name() is None


def test_the_end_of_a_predecessor_does_not_hide_what_we_made_under_its_name(groups: Groups) -> None:
    groups.see(version(3, uid="old"))
    groups.fresh.note(version(5))
    groups.lose()
    assert groups.found() == ["5"]


def test_what_the_informer_never_shows_is_forgotten_after_a_while(groups: Groups) -> None:
    groups.fresh.note(version(5))
    groups.now = KEPT_SECONDS + 1
    assert groups.found() == []
    groups.fresh.note(version(6, uid="other"))
    groups.now = 3 * KEPT_SECONDS
    groups.fresh.note(version(7, uid="third"))
    assert groups.by_name() == "7"


# --- what was said -------------------------------------------------------------------------------------------------------


class Recorder:
    def __init__(self) -> None:
        self.told: list[tuple[str, str, str, str]] = []

    def record(self, regarding: Any, *, reason: str, note: str, type: str = "Normal", **_: Any) -> None:  # noqa: A002
        self.told.append((regarding.uid, type, reason, note))


def say(event_recorder: DedupEventRecorder, about: Job, note: str = "n") -> None:
    event_recorder.warn_once(about, reason="R", note=note, action="A")


def test_a_warning_is_told_once_per_job_and_wording() -> None:
    recorder = Recorder()
    event_recorder = DedupEventRecorder(recorder)
    for about in (job(), job(version="99"), job(uid="other")):
        say(event_recorder, about)
    say(event_recorder, job(), "another note")
    uid = job().metadata.uid
    assert recorder.told == [
        (uid, "Warning", "R", "n"),
        ("other", "Warning", "R", "n"),
        (uid, "Warning", "R", "another note"),
    ]


def test_each_warning_that_is_told_is_counted_by_its_reason() -> None:
    counted: list[tuple[str, str]] = []
    event_recorder = DedupEventRecorder(Recorder(), warned=lambda kind, reason: counted.append((kind, reason)))
    for about in (job(), job(version="99"), job(uid="other")):
        say(event_recorder, about)
    assert counted == [("Job", "R"), ("Job", "R")]


def test_a_warning_about_a_job_that_went_is_news_again() -> None:
    recorder = Recorder()
    event_recorder = DedupEventRecorder(recorder)
    say(event_recorder, job())
    event_recorder.forget(job())
    say(event_recorder, job())
    assert len(recorder.told) == 2


def test_what_is_remembered_about_one_job_is_bounded() -> None:
    recorder = Recorder()
    event_recorder = DedupEventRecorder(recorder)
    for number in range(MAX_REMEMBERED + 1):
        say(event_recorder, job(), str(number))
    say(event_recorder, job(), str(MAX_REMEMBERED))
    assert len(recorder.told) == MAX_REMEMBERED + 1
    say(event_recorder, job(), "0")
    assert len(recorder.told) == MAX_REMEMBERED + 2
