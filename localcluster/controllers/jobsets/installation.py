"""Puts into the cluster what JobSets need: their definition, and the webhook configurations of this process.

A definition that somebody else installed is used as it is.
"""

from contextlib import AbstractAsyncContextManager

from kube.client.client import Client
from kube.client.resources import JOB_SETS, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from localcluster.controllers.admission.registration import in_force
from localcluster.controllers.admission.server import Admission
from localcluster.controllers.definitions import put_definition
from localcluster.controllers.jobsets.admission.configurations import mutating, validating
from localcluster.controllers.jobsets.definition import definition


async def define(client: Client) -> None:
    """Installs the definition, or brings ours up to date, and waits until the kind is served.

    Raises:
        ConfigurationError: the kind is not served in time.
        KubeError: the definition cannot be installed.
    """
    await put_definition(client, JOB_SETS, definition())


def registered(client: Client, admission: Admission) -> AbstractAsyncContextManager[None]:
    """The API server asks this admission server for as long as the block runs; raises what `in_force` raises."""
    url, authority = admission.base_url, admission.authority
    return in_force(
        client,
        JOB_SETS.kind,
        (MUTATING_WEBHOOKS, mutating(url, authority)),
        (VALIDATING_WEBHOOKS, validating(url, authority)),
    )
