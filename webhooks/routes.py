"""Which path answers which question: the one table that the server serves and the shipped configurations are tested against."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from api.constants import (
    GROUP,
    PATH_MUTATE_JOBS,
    PATH_MUTATE_POD_GROUPS,
    PATH_MUTATE_PODS,
    PATH_VALIDATE_CRON_JOBS,
    PATH_VALIDATE_JOBS,
)
from kube.groups.group_api import GroupAPI
from webhooks.cron_job_validation import validate_job_template
from webhooks.job_create import AdmissionRules, admit_new_job
from webhooks.job_update import keep_job_admitted
from webhooks.job_validation import validate_parallelism
from webhooks.pod_create import associate_new_pod
from webhooks.podgroup_create import PriorityClass, resolve_priority
from webhooks.review import Malformed, Request, Verdict

Admit = Callable[[Request], Verdict]
"""A pure answer to one kind of question; raises Malformed."""

CRON_JOBS: Final = ("batch", "cronjobs")
JOBS: Final = ("batch", "jobs")
PODS: Final = ("", "pods")
POD_GROUPS: Final = (GROUP, "podgroups")


@dataclass(frozen=True, slots=True)
class Route:
    """One path: the resource (group, plural) it is for, and an answer per operation."""

    resource: tuple[str, str]
    admit: Mapping[str, Admit]

    def __call__(self, request: Request) -> Verdict:
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


def routes(
    *,
    rules: AdmissionRules,
    group_api: GroupAPI,
    classes: Callable[[], Iterable[PriorityClass] | None],
) -> dict[str, Route]:
    """Path to route; `classes` gives the PriorityClasses as known now, None before they are known."""
    create_job = partial(admit_new_job, rules=rules)
    create_pod = partial(associate_new_pod, group_api=group_api)
    return {
        PATH_MUTATE_JOBS: Route(JOBS, {"CREATE": create_job, "UPDATE": keep_job_admitted}),
        PATH_MUTATE_PODS: Route(PODS, {"CREATE": create_pod}),
        PATH_MUTATE_POD_GROUPS: Route(
            POD_GROUPS, {"CREATE": lambda request: resolve_priority(request, classes=classes())}
        ),
        PATH_VALIDATE_CRON_JOBS: Route(CRON_JOBS, {"CREATE": validate_job_template, "UPDATE": validate_job_template}),
        PATH_VALIDATE_JOBS: Route(JOBS, {"UPDATE": validate_parallelism}),
    }


def _shown(request: Request) -> str:
    resource = "/".join(part for part in (request.resource.resource, request.sub_resource) if part)
    return repr(resource[:64])
