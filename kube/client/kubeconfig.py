"""What a kubeconfig says, read by the kubernetes client's loader; its HTTP side is not used.

Nobody in a pod needs it, and it takes a fifth of a second of CPU and some megabytes to import, so it is imported by those only
who have a kubeconfig.
"""

import binascii
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import Configuration
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

from api.errors import ConfigurationError
from kube.client.errors import one_line
from kube.client.exec_plugin import plugin_runner
from kube.client.tls import Endpoint
from kube.client.tokens import FileToken, FixedToken, PluginAnswer, TokenSource

_BROKEN = (ConfigException, yaml.YAMLError, binascii.Error, OSError, ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """One context of a kubeconfig.

    Attributes:
        endpoint: the server, and the certificates for it.
        tokens: where the Authorization header comes from, unless a plugin gives it.
        server_name: the name expected in the server's certificate when it is not the URL's host.
        plugin: runs the credential plugin once; None when there is none.
    """

    endpoint: Endpoint
    tokens: TokenSource
    server_name: str | None
    plugin: Callable[[], PluginAnswer] | None


def read_kubeconfig(paths: str, context: str | None = None) -> Kubeconfig:
    """What the files say of a context; several are put together as kubectl does.

    Args:
        paths: one file, or several as in $KUBECONFIG.
        context: which context; None for the current one.

    Raises:
        ConfigurationError: they are missing or unusable, or have no such context.
    """
    _check_exists(paths)
    try:
        return _read(paths, context)
    except _BROKEN as error:
        raise ConfigurationError(f"kubeconfig {paths} is unusable: {one_line(str(error))}") from error


def namespace_of_context(paths: str, context: str | None = None) -> str:
    """The namespace that a context of a kubeconfig is for, `default` when it names none.

    Args and errors are those of `read_kubeconfig`.
    """
    _check_exists(paths)
    try:
        loader = KubeConfigLoader(KubeConfigMerger(paths).config, active_context=context, config_base_path=None)
        return str(loader.current_context["context"].get("namespace") or "default")
    except _BROKEN as error:
        raise ConfigurationError(f"kubeconfig {paths} is unusable: {one_line(str(error))}") from error


def _check_exists(paths: str) -> None:
    files = [Path(path).expanduser() for path in paths.split(os.pathsep) if path]
    if not any(file.exists() for file in files):
        raise ConfigurationError(f"kubeconfig {paths} does not exist")


def _read(paths: str, context_name: str | None) -> Kubeconfig:
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
    has_plugin = exec_settings and not found.api_key
    return Kubeconfig(
        endpoint=Endpoint(
            server=found.host.rstrip("/"),
            ca_path=found.ssl_ca_cert,
            certificate_path=found.cert_file,
            private_key_path=found.key_file,
            insecure=not found.verify_ssl,
        ),
        tokens=_tokens(settings, found, folder),
        server_name=found.tls_server_name,
        plugin=plugin_runner(exec_settings, cluster.value["cluster"], folder) if has_plugin else None,
    )


def _tokens(settings: Mapping[str, Any], found: Configuration, folder: str) -> TokenSource:
    if settings.get("tokenFile"):
        source = FileToken(Path(folder, settings["tokenFile"]))
        source.authorization(refresh=True)
        return source
    return FixedToken(str(found.api_key.get("BearerToken", "")))
