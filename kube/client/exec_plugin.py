"""Credentials from an exec plugin (`users[].user.exec` of a kubeconfig).

The client library runs the plugin; its loader, however, logs a plugin's failure and goes on without credentials, and
keeps an expired answer. So we ask its `ExecProvider` ourselves and turn every failure into one line.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.exec_provider import ExecProvider
from kubernetes.config.kube_config import ConfigNode

from api.errors import ConfigurationError
from kube.client.errors import one_line
from kube.client.tokens import PluginAnswer


def plugin_runner(settings: Any, cluster: Any, folder: str) -> Callable[[], PluginAnswer]:
    """A function that runs the plugin once and gives its answer.

    Args:
        settings: the `exec` mapping.
        cluster: the cluster section, handed on when the plugin asks for it.
        folder: where the kubeconfig lies; relative commands start there.

    Raises:
        ConfigurationError: (by the function) the plugin is missing, fails or answers nonsense.
    """

    def run() -> PluginAnswer:
        command = settings.get("command") if isinstance(settings, dict) else None
        try:
            provider = ExecProvider(ConfigNode("exec", settings), folder, ConfigNode("cluster", cluster))
            return _answer(provider.run())
        except (ConfigException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(f"the credential plugin {command!r} failed: {one_line(str(error))}") from error

    return run


def _answer(status: Any) -> PluginAnswer:
    answer = PluginAnswer(
        token=str(status.get("token") or ""),
        certificate_pem=str(status.get("clientCertificateData") or ""),
        key_pem=str(status.get("clientKeyData") or ""),
        expires=_time(status.get("expirationTimestamp")),
    )
    if answer.certificate_pem:
        answer = replace(answer, expires=_earlier(answer.expires, _end_of(answer.certificate_pem)))
    if not answer.token and not (answer.certificate_pem and answer.key_pem):
        raise ValueError("it gave neither a token nor a client certificate with its key")
    return answer


def _end_of(certificate_pem: str) -> datetime:
    """When the certificate ends, which a plugin need not say beside it."""
    return x509.load_pem_x509_certificate(certificate_pem.encode()).not_valid_after_utc


def _earlier(stated: datetime | None, certified: datetime) -> datetime:
    return certified if stated is None else min(stated, certified)


def _time(stamp: Any) -> datetime | None:
    if not stamp:
        return None
    moment = datetime.fromisoformat(str(stamp))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
