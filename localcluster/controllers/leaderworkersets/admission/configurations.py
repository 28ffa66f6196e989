"""Which requests the API server asks about: the webhook configurations, with the names of a real installation. Pure."""

from typing import Any, Final

from api.constants import LWS_NAME
from kube.client.resources import LEADER_WORKER_SETS, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from localcluster.controllers.admission.configurations import configuration, hook, pod_hook
from localcluster.controllers.leaderworkersets.admission.review import DEFAULTING_PATH, POD_PATH, VALIDATING_PATH

MUTATING_NAME: Final = "lws-mutating-webhook-configuration"
VALIDATING_NAME: Final = "lws-validating-webhook-configuration"


def mutating(base_url: str, authority: bytes) -> dict[str, Any]:
    """The MutatingWebhookConfiguration of a server at `https://host:port` whose authority (PEM) is to be trusted."""
    hooks = [
        hook("mleaderworkerset.kb.io", base_url + DEFAULTING_PATH, authority, LEADER_WORKER_SETS, "CREATE", "UPDATE"),
        pod_hook("mpod.kb.io", base_url + POD_PATH, authority, LWS_NAME),
    ]
    return configuration(MUTATING_WEBHOOKS, MUTATING_NAME, hooks)


def validating(base_url: str, authority: bytes) -> dict[str, Any]:
    """The ValidatingWebhookConfiguration of the same server."""
    url = base_url + VALIDATING_PATH
    made = hook("vleaderworkerset.kb.io", url, authority, LEADER_WORKER_SETS, "CREATE", "UPDATE")
    return configuration(VALIDATING_WEBHOOKS, VALIDATING_NAME, [made])
