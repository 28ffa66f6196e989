"""How to reach the API server and as whom.

The kubernetes client's loaders read kubeconfig files and the service account folder; its HTTP side is not used. What is
left to us: one-line errors, tokens and certificates that are renewed (`kube.client.tokens`), and the same facts in the shape
kopf wants.
Proxies named in a kubeconfig or in the environment are ignored.
"""

import asyncio
import binascii
import os
import ssl as tls
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import yaml
from kubernetes.client import Configuration
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

from api.errors import ConfigurationError
from kube.client.errors import one_line
from kube.client.exec_plugin import plugin_runner
from kube.client.tls import PrivateFiles, tls_context
from kube.client.tokens import FileToken, FixedToken, PluginAnswer, PluginToken, TokenSource

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_BROKEN = (ConfigException, yaml.YAMLError, binascii.Error, OSError, ValueError, KeyError, TypeError, AttributeError)


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


def default_kubeconfig(environ: Mapping[str, str]) -> Path:
    """The file that is meant when nothing names one."""
    return Path(environ.get("HOME") or str(Path.home())) / ".kube" / "config"


def namespace_of_context(paths: str, context: str | None = None) -> str:
    """The namespace that a context of a kubeconfig is for, `default` when it names none.

    Args:
        paths: one file, or several as in $KUBECONFIG.
        context: which context; None for the current one.

    Raises:
        ConfigurationError: the file is missing or unusable, or has no such context.
    """
    _check_exists(paths)
    try:
        loader = KubeConfigLoader(KubeConfigMerger(paths).config, active_context=context, config_base_path=None)
        return str(loader.current_context["context"].get("namespace") or "default")
    except _BROKEN as error:
        raise ConfigurationError(f"kubeconfig {paths} is unusable: {one_line(str(error))}") from error


def _from_service_account(folder: Path, env: Mapping[str, str]) -> Credentials:
    found = Configuration()
    loader = InClusterConfigLoader(str(folder / "token"), str(folder / "ca.crt"), environ=env)
    try:
        loader.load_and_set(found)
    except _BROKEN as error:
        raise ConfigurationError(f"the pod's service account is unusable: {one_line(str(error))}") from error
    return Credentials(
        server=found.host,
        ssl=tls_context(found, source=str(folder)),
        tokens=FileToken(folder / "token"),
        ca_path=found.ssl_ca_cert,
    )


def _check_exists(paths: str) -> None:
    files = [Path(path).expanduser() for path in paths.split(os.pathsep) if path]
    if not any(file.exists() for file in files):
        raise ConfigurationError(f"kubeconfig {paths} does not exist")


def _from_kubeconfig(paths: str, context_name: str | None = None) -> Credentials:
    _check_exists(paths)
    try:
        return _load(paths, context_name)
    except _BROKEN as error:
        raise ConfigurationError(f"kubeconfig {paths} is unusable: {one_line(str(error))}") from error


def _load(paths: str, context_name: str | None) -> Credentials:
    merged = KubeConfigMerger(paths).config
    loader = KubeConfigLoader(merged, active_context=context_name, config_base_path=None)
    context = loader.current_context["context"]
    cluster = merged["clusters"].get_with_name(context["cluster"])
    user = merged["users"].get_with_name(context["user"], safe=True) if context.get("user") else None
    settings = (user.value.get("user") if user else None) or {}
    folder = str(Path(user.path).resolve().parent) if user else ""

    exec_settings = settings.pop("exec", None)
    found = Configuration()
    loader.load_and_set(found)
    if "server" not in cluster.value["cluster"]:
        raise ConfigurationError(f"kubeconfig {paths} is unusable: cluster {context['cluster']!r} names no server")

    credentials = Credentials(
        server=found.host.rstrip("/"),
        ssl=tls_context(found, source=f"kubeconfig {paths}"),
        tokens=_tokens(settings, found, folder),
        ca_path=found.ssl_ca_cert,
        certificate_path=found.cert_file,
        private_key_path=found.key_file,
        server_name=found.tls_server_name,
        insecure=not found.verify_ssl,
    )
    if exec_settings and not found.api_key:
        run = plugin_runner(exec_settings, cluster.value["cluster"], folder)
        credentials.tokens = _plugin_token(run, credentials, found, source=f"kubeconfig {paths}")
    return credentials


def _plugin_token(
    run: Callable[[], PluginAnswer], credentials: Credentials, found: Configuration, *, source: str
) -> PluginToken:
    """The plugin's token; whenever the plugin gives another client certificate, the credentials get it."""
    files = PrivateFiles()
    shown = ("", "")

    def ask() -> PluginAnswer:
        nonlocal shown
        answer = run()
        given = (answer.certificate_pem, answer.key_pem)
        if all(given) and given != shown:
            found.cert_file, found.key_file = files.replace(*given)
            credentials.ssl = tls_context(found, source=source)
            credentials.certificate_path, credentials.private_key_path = found.cert_file, found.key_file
            shown = given
        return answer

    return PluginToken(ask, ask())


def _tokens(settings: Mapping[str, Any], found: Configuration, folder: str) -> TokenSource:
    if settings.get("tokenFile"):
        source = FileToken(Path(folder, settings["tokenFile"]))
        source.authorization(refresh=True)
        return source
    return FixedToken(str(found.api_key.get("BearerToken", "")))
