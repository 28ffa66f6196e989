"""Puts into the cluster what a kind of a stand-in needs: its definition, and the webhook configurations of this process.

A definition that somebody else installed is used as it is.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from kube.client.client import Client
from kube.client.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Resource
from localcluster.controllers.admission.registration import in_force
from localcluster.controllers.admission.server import Admission
from localcluster.controllers.definitions import Object, put_definition

Configuration = Callable[[str, bytes], Object]
"""The webhook configuration of a server at `https://host:port` whose authority (PEM) is to be trusted."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What one kind needs.

    Attributes:
        resource: the kind.
        definition: makes its CustomResourceDefinition.
        mutating: makes its MutatingWebhookConfiguration.
        validating: makes its ValidatingWebhookConfiguration.
    """

    resource: Resource
    definition: Callable[[], Object]
    mutating: Configuration
    validating: Configuration

    async def define(self, client: Client) -> None:
        """Installs the definition, or brings ours up to date, and waits until the kind is served.

        Raises:
            ConfigurationError: the kind is not served in time.
            KubeError: the definition cannot be installed.
        """
        await put_definition(client, self.resource, self.definition())

    def registered(self, client: Client, admission: Admission) -> AbstractAsyncContextManager[None]:
        """The API server asks this admission server for as long as the block runs; raises what `in_force` raises."""
        url, authority = admission.base_url, admission.authority
        return in_force(
            client,
            self.resource.kind,
            (MUTATING_WEBHOOKS, self.mutating(url, authority)),
            (VALIDATING_WEBHOOKS, self.validating(url, authority)),
        )
