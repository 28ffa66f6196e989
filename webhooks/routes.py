"""Which path answers which question: the one table that the server serves and the shipped configurations are tested against."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from api.constants import (
    BUILT_IN_GROUP,
    GROUP,
    PATH_MUTATE_JOBS,
    PATH_MUTATE_LEADER_WORKER_SETS,
    PATH_MUTATE_LEADERS,
    PATH_MUTATE_POD_GROUPS,
    PATH_MUTATE_PODS,
    PATH_MUTATE_STATEFUL_SETS,
    PATH_VALIDATE_BUILT_IN_POD_GROUPS,
    PATH_VALIDATE_CRON_JOBS,
    PATH_VALIDATE_JOBS,
    PATH_VALIDATE_POD_GROUPS,
)
from api.lws import LWS_GROUP
from api.priorityclass import PriorityClass
from kube.groups.group_api import GroupAPI
from webhooks.cron_job_validation import validate_job_template
from webhooks.job_create import AdmissionRules, admit_new_job
from webhooks.job_update import keep_job_admitted
from webhooks.job_validation import validate_parallelism
from webhooks.leader_create import NewToken, name_group_of_leader
from webhooks.pod_create import associate_new_pod
from webhooks.podgroup_create import resolve_priority
from webhooks.preemption_priority import validate_preemption_priority
from webhooks.review import Malformed, Request, Verdict
from webhooks.set_admission import SetRules, admit_set
from webhooks.worker_set_create import ReadPod, stamp_worker_set

Admit = Callable[[Request], Verdict | Awaitable[Verdict]]
"""An answer to one kind of question; raises Malformed. All but the one that must look something up are pure and immediate."""

CRON_JOBS: Final = ("batch", "cronjobs")
JOBS: Final = ("batch", "jobs")
LEADER_WORKER_SETS: Final = (LWS_GROUP, "leaderworkersets")
PODS: Final = ("", "pods")
POD_GROUPS: Final = (GROUP, "podgroups")
BUILT_IN_POD_GROUPS: Final = (BUILT_IN_GROUP, "podgroups")
STATEFUL_SETS: Final = ("apps", "statefulsets")


@dataclass(frozen=True, slots=True)
class Route:
    """One path: the resource (group, plural) it is for, and an answer per operation."""

    resource: tuple[str, str]
    admit: Mapping[str, Admit]

    def __call__(self, request: Request) -> Verdict | Awaitable[Verdict]:
        """The verdict on a request.

        Raises:
            Malformed: the request is about something else than this path, or unreadable.
        """
        if (request.resource.group, request.resource.resource) != self.resource or request.sub_resource:
            raise Malformed(f"this path reviews {self.resource[1]}, not {_shown(request)}")
        admit = self.admit.get(request.operation)
        if admit is None:
            raise Malformed(f"this path does not review the operation {request.operation[:32]!r}")
        return admit(request)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What answers depend on that changes or comes from outside.

    Attributes:
        group_api: where groups are kept.
        classes: the PriorityClasses as known now, None before they are known.
        read_pod: a live read.
        new_token: a token that no leader had before.
    """

    group_api: GroupAPI
    classes: Callable[[], Iterable[PriorityClass] | None]
    read_pod: ReadPod
    new_token: NewToken


def routes(*, rules: AdmissionRules, set_rules: SetRules, given: Surroundings) -> dict[str, Route]:
    """Path to route."""
    group_api, providers, classes = given.group_api, rules.providers, given.classes
    create_job = partial(admit_new_job, rules=rules)
    keep_job = partial(keep_job_admitted, providers=providers)
    create_pod = partial(associate_new_pod, group_api=group_api, providers=providers)
    change_set = partial(admit_set, rules=set_rules)
    create_leader = partial(name_group_of_leader, group_api=group_api, providers=providers, new_token=given.new_token)
    create_workers = partial(stamp_worker_set, group_api=group_api, providers=providers, read_pod=given.read_pod)

    def check_template(request: Request) -> Verdict:
        return validate_job_template(request, providers=providers, classes=classes())

    def check_preemption_priority(request: Request) -> Verdict:
        return validate_preemption_priority(request, classes=classes())

    new_or_changed = {"CREATE": check_preemption_priority, "UPDATE": check_preemption_priority}
    return {
        PATH_MUTATE_JOBS: Route(JOBS, {"CREATE": create_job, "UPDATE": keep_job}),
        PATH_MUTATE_LEADERS: Route(PODS, {"CREATE": create_leader}),
        PATH_MUTATE_LEADER_WORKER_SETS: Route(LEADER_WORKER_SETS, {"CREATE": change_set, "UPDATE": change_set}),
        PATH_MUTATE_PODS: Route(PODS, {"CREATE": create_pod}),
        PATH_MUTATE_POD_GROUPS: Route(
            POD_GROUPS, {"CREATE": lambda request: resolve_priority(request, classes=classes())}
        ),
        PATH_MUTATE_STATEFUL_SETS: Route(STATEFUL_SETS, {"CREATE": create_workers}),
        PATH_VALIDATE_BUILT_IN_POD_GROUPS: Route(BUILT_IN_POD_GROUPS, new_or_changed),
        PATH_VALIDATE_CRON_JOBS: Route(CRON_JOBS, {"CREATE": check_template, "UPDATE": check_template}),
        PATH_VALIDATE_JOBS: Route(JOBS, {"UPDATE": validate_parallelism}),
        PATH_VALIDATE_POD_GROUPS: Route(POD_GROUPS, new_or_changed),
    }


def _shown(request: Request) -> str:
    resource = "/".join(part for part in (request.resource.resource, request.sub_resource) if part)
    return repr(resource[:64])
