"""Which path answers which question: the one table that the server serves and the shipped configurations are tested against."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from api.constants import (
    BUILT_IN_GROUP,
    GROUP,
    PATH_MUTATE_BUILT_IN_POD_GROUPS,
    PATH_MUTATE_COMPOSITES,
    PATH_MUTATE_JOB_SETS,
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
from api.jobset import JOBSET_GROUP
from api.lws import LWS_GROUP
from kube.groups.group_api import GroupAPI
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import Malformed, Request, Response
from webhooks.cronjob import validate_cron_job
from webhooks.job.defaulter import default_job
from webhooks.job.update_defaulter import default_updated_job
from webhooks.job.validator import validate_job_update
from webhooks.jobset import default_job_set, default_updated_job_set
from webhooks.leaderworkerset import default_leader_worker_set
from webhooks.pod import NewToken, default_leader_pod, default_pod
from webhooks.podgroup import default_pod_group, keep_parent, validate_pod_group
from webhooks.statefulset import ReadPod, default_stateful_set

Handler = Callable[[Request], Response | Awaitable[Response]]
"""Answers one kind of request; raises Malformed. All but the one that must look something up are pure and immediate."""

CRON_JOBS: Final = ("batch", "cronjobs")
JOBS: Final = ("batch", "jobs")
JOB_SETS: Final = (JOBSET_GROUP, "jobsets")
LEADER_WORKER_SETS: Final = (LWS_GROUP, "leaderworkersets")
PODS: Final = ("", "pods")
COMPOSITES: Final = (GROUP, "compositepodgroups")
POD_GROUPS: Final = (GROUP, "podgroups")
BUILT_IN_POD_GROUPS: Final = (BUILT_IN_GROUP, "podgroups")
STATEFUL_SETS: Final = ("apps", "statefulsets")


@dataclass(frozen=True, slots=True)
class Route:
    """One path: the resource (group, plural) it is for, and a handler per operation."""

    resource: tuple[str, str]
    handlers: Mapping[str, Handler]

    def __call__(self, request: Request) -> Response | Awaitable[Response]:
        """The response to a request.

        Raises:
            Malformed: the request is about something else than this path, or unreadable.
        """
        if (request.resource.group, request.resource.resource) != self.resource or request.sub_resource:
            raise Malformed(f"this path reviews {self.resource[1]}, not {_shown(request)}")
        handler = self.handlers.get(request.operation)
        if handler is None:
            raise Malformed(f"this path does not review the operation {request.operation[:32]!r}")
        return handler(request)


def routes(config: AdmissionConfig, *, group_api: GroupAPI, read_pod: ReadPod, new_token: NewToken) -> dict[str, Route]:
    """Path to route.

    Args:
        config: what admission depends on.
        group_api: where groups are kept.
        read_pod: a live read of a pod's metadata.
        new_token: draws a token that no leader had before.
    """
    providers, classes = config.providers, config.classes
    create_job = partial(default_job, config=config)
    update_job = partial(default_updated_job, providers=providers)
    create_job_set = partial(default_job_set, config=config)
    create_pod = partial(default_pod, group_api=group_api, providers=providers)
    change_set = partial(default_leader_worker_set, config=config)
    create_leader = partial(default_leader_pod, group_api=group_api, providers=providers, new_token=new_token)
    create_workers = partial(default_stateful_set, group_api=group_api, providers=providers, read_pod=read_pod)

    def check_cron_job(request: Request) -> Response:
        return validate_cron_job(request, providers=providers, classes=classes())

    def check_pod_group(request: Request) -> Response:
        return validate_pod_group(request, classes=classes())

    create_or_update = {"CREATE": check_pod_group, "UPDATE": check_pod_group}
    return {
        PATH_MUTATE_BUILT_IN_POD_GROUPS: Route(BUILT_IN_POD_GROUPS, {"CREATE": keep_parent}),
        PATH_MUTATE_COMPOSITES: Route(
            COMPOSITES,
            {"CREATE": lambda request: default_pod_group(request, classes=classes(), called="composite pod group")},
        ),
        PATH_MUTATE_JOBS: Route(JOBS, {"CREATE": create_job, "UPDATE": update_job}),
        PATH_MUTATE_JOB_SETS: Route(JOB_SETS, {"CREATE": create_job_set, "UPDATE": default_updated_job_set}),
        PATH_MUTATE_LEADERS: Route(PODS, {"CREATE": create_leader}),
        PATH_MUTATE_LEADER_WORKER_SETS: Route(LEADER_WORKER_SETS, {"CREATE": change_set, "UPDATE": change_set}),
        PATH_MUTATE_PODS: Route(PODS, {"CREATE": create_pod}),
        PATH_MUTATE_POD_GROUPS: Route(
            POD_GROUPS, {"CREATE": lambda request: default_pod_group(request, classes=classes())}
        ),
        PATH_MUTATE_STATEFUL_SETS: Route(STATEFUL_SETS, {"CREATE": create_workers}),
        PATH_VALIDATE_BUILT_IN_POD_GROUPS: Route(BUILT_IN_POD_GROUPS, create_or_update),
        PATH_VALIDATE_CRON_JOBS: Route(CRON_JOBS, {"CREATE": check_cron_job, "UPDATE": check_cron_job}),
        PATH_VALIDATE_JOBS: Route(JOBS, {"UPDATE": validate_job_update}),
        PATH_VALIDATE_POD_GROUPS: Route(POD_GROUPS, create_or_update),
    }


def _shown(request: Request) -> str:
    resource = "/".join(part for part in (request.resource.resource, request.sub_resource) if part)
    return repr(resource[:64])
