"""Which cluster, as whom, in which namespace: as kubectl decides it, a kubeconfig before the pod's own account."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from api.constants import SYSTEM_NAMESPACE
from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.context_namespace import kubeconfig_paths, namespace_in_use
from kube.client.credentials import Credentials, load_credentials
from kube.client.errors import KubeError
from kube.groups.discovery import read_record, served_group_apis
from kube.groups.group_api import GroupAPI, one_version_each
from kube.process.run import preflight

USER_AGENT: Final = "tutti-views"


@dataclass(frozen=True, slots=True)
class Target:
    """What the options of kubectl say.

    Attributes:
        kubeconfig: a file; None for $KUBECONFIG or the usual place.
        context: a context of it; None for its current one.
        namespace: where to look; None for the context's.
        all_namespaces: look everywhere.
    """

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str | None = None
    all_namespaces: bool = False


def connect(target: Target, environ: Mapping[str, str] | None = None) -> tuple[Credentials, str | None]:
    """The credentials, and the namespace to look at, None for all.

    Raises:
        ConfigurationError: there is no cluster to talk to, or the kubeconfig is unusable.
    """
    env = os.environ if environ is None else environ
    paths = kubeconfig_paths(target.kubeconfig, env)
    credentials = load_credentials(paths or None, context=target.context, environ=env)
    if target.all_namespaces:
        return credentials, None
    if target.namespace:
        return credentials, target.namespace
    return credentials, namespace_in_use(paths, target.context, env)


async def group_apis(client: Client) -> tuple[GroupAPI, ...]:
    """Where groups are on this cluster: in the API that Tutti has recorded, else in all that it serves, one version of each.

    Raises:
        ConfigurationError: nobody answers, the credentials are refused, or the cluster has no kind of groups.
    """
    await preflight(client)
    found = one_version_each(await served_group_apis(client))
    if not found:
        raise ConfigurationError(
            f"{client.credentials.server} has no PodGroups, so it has no gangs: Tutti is not installed there"
        )
    with contextlib.suppress(KubeError):
        recorded = await read_record(client, SYSTEM_NAMESPACE)
        return tuple(api for api in found if api.name == recorded) or found
    return found
