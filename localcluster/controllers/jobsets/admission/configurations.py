"""Which requests the API server asks about: the webhook configurations, with the names of a real installation. Pure."""

from typing import Any, Final

from api.constants import JOBSET_NAME
from kube.client.resources import JOB_SETS, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from localcluster.controllers.admission.configurations import configuration, hook, pod_hook
from localcluster.controllers.jobsets.admission.review import (
    DEFAULTING_PATH,
    POD_DEFAULTING_PATH,
    POD_VALIDATING_PATH,
    VALIDATING_PATH,
)

MUTATING_NAME: Final = "jobset-mutating-webhook-configuration"
VALIDATING_NAME: Final = "jobset-validating-webhook-configuration"


def mutating(base_url: str, authority: bytes) -> dict[str, Any]:
    """The MutatingWebhookConfiguration of a server at `https://host:port` whose authority (PEM) is to be trusted."""
    hooks = [
        hook("mjobset.kb.io", base_url + DEFAULTING_PATH, authority, JOB_SETS, "CREATE"),
        pod_hook("mpod.kb.io", base_url + POD_DEFAULTING_PATH, authority, JOBSET_NAME),
    ]
    return configuration(MUTATING_WEBHOOKS, MUTATING_NAME, hooks)


def validating(base_url: str, authority: bytes) -> dict[str, Any]:
    """The ValidatingWebhookConfiguration of the same server."""
    hooks = [
        hook("vjobset.kb.io", base_url + VALIDATING_PATH, authority, JOB_SETS, "CREATE", "UPDATE"),
        pod_hook("vpod.kb.io", base_url + POD_VALIDATING_PATH, authority, JOBSET_NAME),
    ]
    return configuration(VALIDATING_WEBHOOKS, VALIDATING_NAME, hooks)
