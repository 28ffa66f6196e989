"""What a person may set for the admission server."""

import ipaddress
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from api.constants import DEFAULT_SCHEDULER_NAME, WEBHOOK_SERVICE
from kube.process.features import FeatureGates
from kube.process.settings import ProcessSettings
from providers.embedded import EMBEDDED
from webhooks.admission.config import JobIntegration
from webhooks.admission.gang_defaults import GangDefaults

CLUSTER_DOMAIN = "cluster.local"


def _https_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme != "https" or not parts.hostname:
        raise ValueError("must be https://HOST:PORT")
    if parts.username or parts.password or parts.query or parts.fragment or parts.path.strip("/"):
        raise ValueError("must be https://HOST:PORT and nothing more")
    if parts.port == 0:
        raise ValueError("must name the port the API server can reach")
    return value.rstrip("/")


class WebhooksSettings(ProcessSettings):
    """Settings of `tutti webhooks`."""

    listen: str = ":9443"
    """HOST:PORT of the admission server."""

    url: Annotated[str, AfterValidator(_https_url)] | None = None
    """https://HOST:PORT under which the API server reaches this process; None: through the Service."""

    certificates_folder: Path | None = None
    """Folder for CA and certificate; None: a Secret in the system namespace, or with `url` a folder of the user."""

    given_certificates: Path | None = None
    """Folder with tls.crt and tls.key that somebody else keeps; None: they are made here. With it nothing is written into the
    webhook configurations: who signs the certificate is put there by whoever keeps it."""

    client_authority: Path | None = None
    """PEM file of the authorities that sign the API server's client certificate; None: admission answers whoever reaches it."""

    client_names: tuple[str, ...] = ()
    """Common names, one of which that certificate must have; empty: any that the authorities have signed."""

    scheduler_name: str = Field(DEFAULT_SCHEDULER_NAME, min_length=1, max_length=253)
    """`schedulerName` written into the templates of gangs that name none."""

    profile_names: tuple[str, ...] = ()
    """Further names the embedded scheduler answers to, those of its profiles; the same for webhooks and controllers."""

    default_provider: str = EMBEDDED
    """The gang scheduler of objects that name none."""

    providers: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By gang scheduler: `scheduler_name`, where it answers to another than its usual one, and what else it takes."""

    add_pod_failure_policy: bool = True
    """Whether Jobs with restartPolicy Never get a rule that keeps preempted pods out of their backoffLimit."""

    job_integration: JobIntegration = "auto"
    """Who makes the groups of Jobs where the built-in group API is in force: `tutti`, or `kubernetes` (the cluster's own Job
    controller, gate WorkloadWithJob); `auto` goes by what the API server keeps of each Job. With our own CRDs always we."""

    defaults: GangDefaults = GangDefaults()
    """The cluster's defaults for gangs; a Namespace's annotations and the Job's own come before them."""

    feature_gates: FeatureGates = FeatureGates()
    """What is done at all; the same for all processes."""

    read_seconds: float = Field(5.0, gt=0, le=30)
    """How long a client may take to send one request."""

    drain_seconds: float = Field(10.0, ge=0, le=60)
    """How long requests in flight may take once the process is asked to stop."""

    leave_seconds: float = Field(5.0, ge=0, le=60)
    """How long to go on serving behind the Service once the readiness probe has turned, until nobody is sent here any more and
    connections that are kept open have been used once more."""

    @model_validator(mode="after")
    def _names_need_an_authority(self) -> Self:
        if self.client_names and self.client_authority is None:
            raise ValueError("client_names needs client_authority beside it")
        return self

    @model_validator(mode="after")
    def _one_source_of_certificates(self) -> Self:
        if self.given_certificates is not None and self.certificates_folder is not None:
            raise ValueError("given_certificates and certificates_folder exclude each other")
        return self

    @property
    def shutdown_delay_seconds(self) -> float:
        """How long to go on serving when asked to stop; nobody routes by readiness to a URL."""
        return 0.0 if self.url is not None else self.leave_seconds

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names the serving certificate must be valid for."""
        if self.url is not None:
            return (_canonical(urlsplit(self.url).hostname or ""),)
        service = f"{WEBHOOK_SERVICE}.{self.system_namespace}.svc"
        return (service, f"{service}.{CLUSTER_DOMAIN}", WEBHOOK_SERVICE, f"{WEBHOOK_SERVICE}.{self.system_namespace}")

    @property
    def folder(self) -> Path | None:
        """The folder of the certificates, None when they are kept in a Secret."""
        if self.certificates_folder is not None or self.url is None:
            return self.certificates_folder
        return Path.home() / ".cache" / "tutti" / "webhooks"


def _canonical(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host
