"""What Jobs and replicas both ask about the gang scheduler that places them. Pure."""

from api.constants import EVENT_GROUP_KIND_MISSING, MANAGED
from api.errors import InvalidGangSettings
from api.gang import settings_of
from api.job import TemplateMetadata
from api.meta import Metadata
from controllers.gangs.common_steps import Warn
from providers.base import Provider
from providers.selection import Providers


def provider_of_pods(metadata: Metadata | TemplateMetadata, providers: Providers) -> Provider | None:
    """The gang scheduler that admission wrote on a pod or pod template, None when it names none."""
    return providers.named(metadata.label(MANAGED) or "")


def kind_missing(provider: Provider) -> Warn:
    """What a user is told whose gang waits for the CRD of its scheduler."""
    crd = provider.kind.crd if provider.kind is not None else ""
    note = f"waits for the CRD {crd}, which provider {provider.name} needs and the cluster does not have: install it"
    return Warn(EVENT_GROUP_KIND_MISSING, note, action="CreateGroupObject")


def timeout_seconds(owner: Metadata) -> int | None:
    """How long the gangs of this owner may wait, in seconds; None when nothing (or nothing readable) is said."""
    try:
        return settings_of(owner).timeout_seconds
    except InvalidGangSettings:
        # Spoilt after admission: its user is told elsewhere, and the gang keeps working.
        return None
