"""Puts the endpoint together, as the settings want it."""

from collections.abc import Sequence
from typing import Final

from api.constants import WHY_SERVICE
from api.errors import ConfigurationError
from kube.client.credentials import Credentials
from kube.process.access_reviews import AccessReviews
from kube.process.health import Asks, Beside, split_address
from kube.process.own_certificate import server_context
from scheduler.recording.recordings import Recordings
from scheduler.settings import SchedulerSettings
from scheduler.tenants.respondent import Respondent
from scheduler.tenants.server import Endpoint, WhyServer

_NONE: Final = frozenset({"", "0"})


def why_server(
    settings: SchedulerSettings,
    credentials: Credentials,
    recordings: Recordings,
    *,
    user_agent: str,
    groups_api: str,
    command: Sequence[str],
    folder: str,
) -> Beside | None:
    """What serves beside probes and metrics; None when the settings want no such thing.

    Args:
        settings: of the process.
        credentials: of the process, which needs the right to ask for reviews.
        recordings: what is known of the cluster.
        user_agent: how the process calls itself.
        groups_api: the API group that has the PodGroups.
        command: the child that finds an answer, see `Respondent`.
        folder: where it runs.

    Raises:
        ConfigurationError: the address is none, the certificate cannot be used, or there is no thread to serve in.
    """
    if settings.why_address in _NONE:
        return None
    if settings.metrics_address in _NONE or not command:
        raise ConfigurationError("setting 'why_address': it needs a `metrics_address` to be served beside")
    host, port = split_address(settings.why_address)
    name = f"{WHY_SERVICE}.{settings.system_namespace}.svc"
    context = server_context(settings.why_certificates, name=name)
    endpoint = Endpoint(host, port, context, groups_api, lambda: recordings.has_begun)

    def make(ask: Asks) -> WhyServer:
        reviews = AccessReviews(credentials, user_agent=user_agent)
        return WhyServer(endpoint, reviews, Respondent(lambda: ask(recordings.inputs), command, folder))

    return make
