"""Settings of the controllers, with what each is good for."""

from pydantic import Field

from api.constants import DEFAULT_SCHEDULER_NAME
from kube.process.features import FeatureGates
from kube.process.settings import ProcessSettings
from providers.embedded import EMBEDDED


class ControllersSettings(ProcessSettings):
    """How `tutti controllers` runs."""

    scheduler_name: str = Field(DEFAULT_SCHEDULER_NAME, min_length=1, max_length=63)
    """The `schedulerName` that the embedded scheduler answers to; the same for all processes."""

    profile_names: tuple[str, ...] = ()
    """Further names the embedded scheduler answers to, those of its profiles; the same for webhooks and controllers."""

    default_provider: str = EMBEDDED
    """The gang scheduler of objects that name none; the same for all processes."""

    providers: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By gang scheduler: `scheduler_name`, where it answers to another than its usual one; the same for all processes."""

    feature_gates: FeatureGates = FeatureGates()
    """What is done at all; the same for all processes."""

    workers: int = Field(16, ge=1, le=256)
    """Jobs worked on at once. Each takes one connection to the API server while it writes."""

    resync_seconds: float = Field(300.0, ge=10.0)
    """How often every Job is looked at although nothing was reported: heals whatever event was lost. Costs no request."""

    lease_seconds: float = Field(15.0, ge=3.0)
    """How long others wait for a silent leader."""

    renew_seconds: float = Field(10.0, ge=2.0)
    """How long the leader acts without having renewed; less than `lease_seconds`."""

    retry_seconds: float = Field(2.0, ge=0.2)
    """Pause between attempts to take or renew the lease; less than `renew_seconds`."""
