"""Settings of the scheduler process. Every default is meant for a cluster of 5,000 nodes and needs no change on one of five."""

from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator

from api.constants import DEFAULT_SCHEDULER_NAME
from kube.process.settings import ProcessSettings
from scheduler.cache.steps import MOST_STEPS
from scheduler.profiles import ProfileSettings


class SchedulerSettings(ProcessSettings):
    """What can be changed about the embedded scheduler; times are in seconds."""

    scheduler_name: str = Field(DEFAULT_SCHEDULER_NAME, min_length=1, max_length=63)
    """The `spec.schedulerName` it answers to; pods of any other are none of its business."""

    profiles: tuple[ProfileSettings, ...] = ()
    """Further scheduler names it answers to, each with scores and limits of its own; or those of `scheduler_name` itself."""

    initial_backoff_seconds: float = Field(1.0, gt=0, le=600)
    """Pause after the first failed attempt of a pod or group; doubles with each further one."""

    max_backoff_seconds: float = Field(10.0, gt=0, le=3600)
    """Longest pause between attempts (for large groups longer, by their size)."""

    desired_wait_seconds: float = Field(5.0, ge=0, le=600)
    """How long a basic group waits for the pods, and the room for them, that it would like to start with."""

    set_aside_seconds: float = Field(300.0, gt=0)
    """When a group or pod about which a defect was met is tried again, unless it changes before."""

    reserve_after_seconds: float = Field(60.0, ge=0)
    """A group that has been refused for so long gets room reserved, so that smaller ones cannot starve it."""

    reserve_seconds: float = Field(300.0, gt=0)
    """How long room stays reserved for a group that cannot start; doubles until the group may have room reserved again."""

    decision_steps: int = Field(MOST_STEPS, ge=1_000_000)
    """How much work one decision may be, in looks at one figure of one node, of which about one is done in a nanosecond. What
    takes more is refused with a message and tried rarely; larger values let larger groups of pods that mind each other start,
    and let each of them hold up everybody else for longer."""

    bind_concurrency: int = Field(32, ge=1, le=512)
    """Writes under way at once; more does not help one API server, and less leaves it idle."""

    bind_backlog: int = Field(5000, ge=1)
    """Decisions pause while so many binds wait, so that what is urgent later need not queue behind all of them."""

    bind_give_up_seconds: float = Field(60.0, gt=0, le=3600)
    """How long one bind is repeated while the server refuses or cannot be reached, before its room is given back."""

    volume_bind_seconds: float = Field(600.0, gt=0, le=86400)
    """How long pods wait for the volumes of their claims before their places are given back."""

    assume_seconds: float = Field(120.0, gt=0, le=3600)
    """When a decided pod is neither confirmed by the watch nor settled by then, it is read."""

    degraded_after_seconds: float = Field(60.0, gt=0)
    """How long a gang that has not started may be partly bound before `PodGroupSatisfied` says so and it starts anew."""
    lost_report_seconds: float = Field(2.0, gt=0)
    """How long members of a started gang may be missing before it says so; pods of a gang that ends are gone by then."""

    preemption: bool = True
    """Whether pods of lower priority may be evicted for groups and pods that find no place."""

    victim_deadline_seconds: float = Field(120.0, gt=0)
    """A victim that has not left its node by then is given up on, and another candidate is looked for."""

    eviction_pause_seconds: float = Field(5.0, gt=0)
    """Shortest time between two candidates for one preemptor; doubles with each that did not start it."""

    max_eviction_pause_seconds: float = Field(600.0, gt=0)
    """Longest time between two candidates for one preemptor."""

    held_report_seconds: float = Field(2.0, ge=0)
    """How long a gang must have been waiting for members before it says so: pods of a Job appear one by one."""

    empty_report_seconds: float = Field(10.0, ge=0)
    """The same for a gang of which no pod exists yet: groups are often made some time before their pods."""

    empty_reports_per_second: float = Field(10.0, gt=0)
    """How many of those say so in a second. When thousands of groups wait for their pods, what makes the pods is busy, and has the
    API server to itself."""

    held_update_seconds: float = Field(10.0, ge=0)
    """Shortest time between two writes that differ only in how many members are missing."""

    repeat_event_seconds: float = Field(1800.0, gt=0)
    """After so long a refusal that has not changed gets a new event; the API server forgets events after an hour."""

    hint_after_seconds: float = Field(60.0, ge=0)
    """After so long a refusal that has not changed gets a hint in the condition of its group, where asking for less would be
    enough; looked for only while there is nothing to schedule. 0: never."""

    keep_remainder_seconds: float = Field(600.0, gt=0)
    """How long room is kept for the workers of a LeaderWorkerSet replica that wait for their leader to be ready."""

    record_decisions: int = Field(0, ge=0, le=100_000)
    """How many of its last decisions are kept with all they read, to be fetched and repeated (`tutti replay`). 0: none. Takes
    memory for every change between them, and a copy of the list of all pods each time so many decisions have been made."""

    why_address: str = ""
    """HOST:PORT where people who may see one namespace are told why their objects wait, by HTTPS; "" or "0" for none."""

    why_certificates: Path | None = None
    """Folder with the `tls.crt` and `tls.key` of that address, read at the start. None: one is made that nobody can verify."""

    self_check_seconds: float = Field(300.0, gt=0)
    """Time between two comparisons of the cache with a fresh list."""

    slice_seconds: float = Field(0.008, gt=0, le=1)
    """How long decisions may keep the process busy before watches, answers and probes get their turn."""

    status_patience_seconds: float = Field(10.0, gt=0)
    """After waiting so long behind binds, a status write may use one connection."""

    lease_seconds: float = Field(15.0, gt=1)
    """How long others wait before they take over a lease that is not renewed."""

    renew_seconds: float = Field(10.0, gt=0)
    """How long we act on a renewal."""

    retry_seconds: float = Field(2.0, gt=0)
    """Time between attempts to take or renew the lease."""

    @property
    def scheduler_names(self) -> frozenset[str]:
        """All names it answers to."""
        return frozenset({self.scheduler_name, *(profile.scheduler_name for profile in self.profiles)})

    @field_validator("profiles")
    @classmethod
    def _each_once(cls, profiles: tuple[ProfileSettings, ...]) -> tuple[ProfileSettings, ...]:
        names = [profile.scheduler_name for profile in profiles]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two profiles are named {twice}")
        return profiles

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.retry_seconds < self.renew_seconds < self.lease_seconds:
            raise ValueError("a lease needs retry_seconds < renew_seconds < lease_seconds")
        if self.initial_backoff_seconds > self.max_backoff_seconds:
            raise ValueError("initial_backoff_seconds must not exceed max_backoff_seconds")
        return self
