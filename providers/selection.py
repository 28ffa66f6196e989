"""Which gang scheduler places this object? One answer for admission and the controllers.

The choice is made per object and never takes pods from a scheduler their user has named: the annotation `provider` first, then
the `schedulerName` of the pod template, then the configured default.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from api.constants import DEFAULT_SCHEDULER_NAME, PROVIDER, STOCK_SCHEDULER_NAME
from api.errors import ConfigurationError, InvalidGangSettings
from providers.base import Provider
from providers.embedded import EMBEDDED, Embedded

MAX_SHOWN: Final = 64
UNSTATED: Final = frozenset({"", STOCK_SCHEDULER_NAME})
"""Scheduler names that say nothing: the API server writes the second one where a user wrote none."""


class Providers:
    """The providers this installation knows, and the one objects get that name none.

    Args:
        known: every provider; their names differ.
        default: name of one of them.

    Raises:
        ConfigurationError: the default is not among them.
    """

    def __init__(self, known: Iterable[Provider], *, default: str = EMBEDDED) -> None:
        self._by_name: Mapping[str, Provider] = {provider.name: provider for provider in known}
        if default not in self._by_name:
            raise ConfigurationError(f"default_provider: {default!r} is not one of {self.names}")
        self.default = self._by_name[default]

    @property
    def names(self) -> str:
        """The known names for a message, in alphabetical order."""
        return ", ".join(sorted(self._by_name))

    def named(self, name: str) -> Provider | None:
        """The provider of that name, None when there is none."""
        return self._by_name.get(name)

    def serving(self, scheduler_name: str) -> Provider | None:
        """The provider whose pods carry this `schedulerName`, None for a scheduler that is not ours to use."""
        if self.default.scheduler_name == scheduler_name:
            return self.default
        return next((known for known in self._by_name.values() if known.scheduler_name == scheduler_name), None)


def standard_providers(*, scheduler_name: str = DEFAULT_SCHEDULER_NAME, default_provider: str = EMBEDDED) -> Providers:
    """All providers Tutti comes with; `scheduler_name` is the one the embedded scheduler answers to.

    Raises:
        ConfigurationError: `default_provider` is not among them.
    """
    return Providers([Embedded(scheduler_name)], default=default_provider)


def choose_provider(
    providers: Providers, *, annotations: Mapping[str, str] | None, scheduler_name: str
) -> Provider | None:
    """The provider for an object with these annotations and this `schedulerName` in its pod template.

    Returns:
        None when the template names a scheduler that belongs to none of our providers: the object is not ours.

    Raises:
        InvalidGangSettings: the annotation names no provider, or one that does not place pods of that scheduler.
    """
    asked = (annotations or {}).get(PROVIDER)
    stated = scheduler_name not in UNSTATED
    if asked is None:
        return providers.serving(scheduler_name) if stated else providers.default
    provider = providers.named(asked)
    if provider is None:
        raise InvalidGangSettings(f"{asked[:MAX_SHOWN]!r} is not one of {providers.names}", field=_FIELD)
    if stated and provider.scheduler_name != scheduler_name:
        raise InvalidGangSettings(
            f"provider {asked} does not place pods whose schedulerName is {scheduler_name[:MAX_SHOWN]!r}; "
            f"leave schedulerName out or set it to {provider.scheduler_name}",
            field=_FIELD,
        )
    return provider


_FIELD: Final = f"metadata.annotations[{PROVIDER}]"
