"""How to reach the API server and as whom: as the account of a pod, or as a kubeconfig says (`kube.client.kubeconfig`).

One-line errors, tokens and certificates that are renewed (`kube.client.tokens`), and the same facts in the shape kopf wants.
Proxies named in a kubeconfig or in the environment are ignored.
"""

import asyncio
import os
import ssl as tls
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from api.errors import ConfigurationError
from kube.client.context_namespace import default_kubeconfig
from kube.client.errors import one_line
from kube.client.tls import Endpoint, PrivateFiles, tls_context
from kube.client.tokens import FileToken, FixedToken, PluginAnswer, PluginToken, TokenSource

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ConnectionFields(TypedDict, total=False):
    """Keyword arguments of `kopf.ConnectionInfo`."""

    server: str
    ca_path: str
    insecure: bool
    scheme: str
    token: str
    certificate_path: str
    private_key_path: str


@dataclass(slots=True)
class Credentials:
    """One API server and one identity.

    Attributes:
        server: URL without a trailing slash.
        ssl: what aiohttp wants: a context, None for plain HTTP or the system's trust. Another object once the client
            certificate was renewed; connections that were made before show the former one for ever.
        tokens: where the Authorization header comes from.
        ca_path: the certificate authority's file, None for the system's trust.
        certificate_path: the client certificate's file.
        private_key_path: its key's file.
        server_name: the name expected in the server's certificate when it is not the URL's host.
        insecure: the kubeconfig asks not to verify the server's certificate.
    """

    server: str
    ssl: tls.SSLContext | bool | None = None
    tokens: TokenSource = field(default_factory=lambda: FixedToken(""))
    ca_path: str | None = None
    certificate_path: str | None = None
    private_key_path: str | None = None
    server_name: str | None = None
    insecure: bool = False

    async def headers(self, *, refresh: bool = False) -> dict[str, str]:
        """The Authorization header, or nothing; `refresh` (after a 401) fetches the token anew first.

        What gives the token may renew the client certificate as well, so look at `ssl` afterwards.

        Raises:
            ConfigurationError: a token file or plugin that worked at the start gives nothing any more.
        """
        if refresh or not self.tokens.is_fresh():
            value = await asyncio.to_thread(self.tokens.authorization, refresh=refresh)
        else:
            value = self.tokens.authorization(refresh=False)
        return {"Authorization": value} if value else {}

    def connection_info(self) -> ConnectionFields:
        """The same facts for `kopf.ConnectionInfo(**…)`. May block (file, plugin): call it from a login handler's thread."""
        scheme, _, token = self.tokens.authorization(refresh=False).partition(" ")
        fields = ConnectionFields(server=self.server)
        if self.insecure:
            fields["insecure"] = True
        elif self.ca_path:
            fields["ca_path"] = self.ca_path
        if self.certificate_path and self.private_key_path:
            fields["certificate_path"] = self.certificate_path
            fields["private_key_path"] = self.private_key_path
        if token:
            fields["scheme"] = scheme
            fields["token"] = token
        return fields


def load_credentials(
    kubeconfig: str | None = None,
    *,
    context: str | None = None,
    environ: Mapping[str, str] | None = None,
    service_account: Path = _SERVICE_ACCOUNT,
) -> Credentials:
    """Credentials from the named file, else the pod's service account, else $KUBECONFIG, else ~/.kube/config.

    `context` names the context of the file that is meant, None its current one; a service account has none.

    Raises:
        ConfigurationError: the chosen source is missing or unusable.
    """
    env = os.environ if environ is None else environ
    if kubeconfig:
        return _from_kubeconfig(kubeconfig, context)
    if context is None and env.get("KUBERNETES_SERVICE_HOST") and (service_account / "token").is_file():
        return _from_service_account(service_account, env)
    if env.get("KUBECONFIG"):
        return _from_kubeconfig(env["KUBECONFIG"], context)
    default = default_kubeconfig(env)
    if default.is_file():
        return _from_kubeconfig(str(default), context)
    raise ConfigurationError(
        f"no cluster to talk to: not in a pod, $KUBECONFIG is not set and {default} does not exist; give --kubeconfig FILE"
    )


def _from_service_account(folder: Path, env: Mapping[str, str]) -> Credentials:
    tokens = FileToken(folder / "token")
    try:
        tokens.authorization(refresh=True)
        endpoint = Endpoint(server=_in_cluster_server(env), ca_path=_authority(folder))
    except (ConfigurationError, OSError) as error:
        raise ConfigurationError(f"the pod's service account is unusable: {one_line(str(error))}") from error
    return _credentials(endpoint, tokens, source=str(folder))


def _authority(folder: Path) -> str:
    path = folder / "ca.crt"
    if not path.read_bytes():
        raise ConfigurationError(f"{path} is empty")
    return str(path)


def _in_cluster_server(env: Mapping[str, str]) -> str:
    host, port = env["KUBERNETES_SERVICE_HOST"], env.get("KUBERNETES_SERVICE_PORT")
    if not port:
        raise ConfigurationError("$KUBERNETES_SERVICE_PORT is not set")
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _from_kubeconfig(paths: str, context: str | None = None) -> Credentials:
    from kube.client.kubeconfig import read_kubeconfig  # noqa: PLC0415 (see there)

    found = read_kubeconfig(paths, context)
    source = f"kubeconfig {paths}"
    credentials = _credentials(found.endpoint, found.tokens, source=source, server_name=found.server_name)
    if found.plugin is not None:
        credentials.tokens = _plugin_token(found.plugin, credentials, found.endpoint, source=source)
    return credentials


def _credentials(
    endpoint: Endpoint, tokens: TokenSource, *, source: str, server_name: str | None = None
) -> Credentials:
    return Credentials(
        server=endpoint.server,
        ssl=tls_context(endpoint, source=source),
        tokens=tokens,
        ca_path=endpoint.ca_path,
        certificate_path=endpoint.certificate_path,
        private_key_path=endpoint.private_key_path,
        server_name=server_name,
        insecure=endpoint.insecure,
    )


def _plugin_token(
    run: Callable[[], PluginAnswer], credentials: Credentials, endpoint: Endpoint, *, source: str
) -> PluginToken:
    """The plugin's token; whenever the plugin gives another client certificate, the credentials get it."""
    files = PrivateFiles()
    shown = ("", "")

    def ask() -> PluginAnswer:
        nonlocal shown
        answer = run()
        given = (answer.certificate_pem, answer.key_pem)
        if all(given) and given != shown:
            certificate, key = files.replace(*given)
            showing = replace(endpoint, certificate_path=certificate, private_key_path=key)
            credentials.ssl = tls_context(showing, source=source)
            credentials.certificate_path, credentials.private_key_path = certificate, key
            shown = given
        return answer

    return PluginToken(ask, ask())
