"""Which gang scheduler places this object? One answer for admission and the controllers.

The choice is made per object and never takes pods from a scheduler their user has named: the annotation `provider` first, then
the `schedulerName` of the pod template, then the default of its namespace or of the configuration.

Every module of this package that says `GANG_SCHEDULER = ...` is one gang scheduler; nothing else has to be registered.
"""

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Final

import providers as package
from api.constants import BUILT_IN_GROUP, DEFAULT_SCHEDULER_NAME, PROVIDER, STOCK_SCHEDULER_NAME
from api.errors import ConfigurationError, InvalidGangSettings
from providers.base import External, Provider
from providers.embedded import EMBEDDED, Embedded

MAX_SHOWN: Final = 40
UNSTATED: Final = frozenset({"", STOCK_SCHEDULER_NAME})
"""Scheduler names that say nothing: the API server writes the second one where a user wrote none."""

Options = Mapping[str, Mapping[str, str]]
"""By provider: `scheduler_name`, where an installation of it answers to another than the usual one, and what else it takes."""


class Providers:
    """The providers this installation knows, and the one objects get that name none.

    Args:
        known: every provider; their names differ.
        default: name of one of them.
        built_in_groups: whether the built-in group API is in force, which the stock scheduler needs.

    Raises:
        ConfigurationError: the default is not among them, or cannot be used here.
    """

    def __init__(self, known: Iterable[Provider], *, default: str = EMBEDDED, built_in_groups: bool = False) -> None:
        self._by_name: Mapping[str, Provider] = {provider.name: provider for provider in known}
        self._built_in_groups = built_in_groups
        if default not in self._by_name:
            raise ConfigurationError(f"default_provider: {default!r} is not one of {self.names}")
        self.default = self._by_name[default]
        if problem := self.unusable(self.default):
            raise ConfigurationError(f"default_provider: {problem}")

    @property
    def names(self) -> str:
        """The known names for a message, in alphabetical order."""
        return ", ".join(sorted(self._by_name))

    @property
    def all(self) -> tuple[Provider, ...]:
        """All of them."""
        return tuple(self._by_name.values())

    def named(self, name: str) -> Provider | None:
        """The provider of that name, None when there is none."""
        return self._by_name.get(name)

    def serving(self, scheduler_name: str) -> Provider | None:
        """The provider whose pods carry this `schedulerName`, None for a scheduler that is not ours to use."""
        if self.default.serves(scheduler_name):
            return self.default
        usable = (known for known in self.all if self.unusable(known) is None)
        return next((known for known in usable if known.serves(scheduler_name)), None)

    def unusable(self, provider: Provider) -> str | None:
        """Why this provider cannot be used in this cluster, None when it can."""
        if provider.capabilities.needs_built_in_groups and not self._built_in_groups:
            return f"{provider.name} needs the built-in group API ({BUILT_IN_GROUP}), which is not in force here"
        return None


def standard_providers(
    *,
    scheduler_name: str = DEFAULT_SCHEDULER_NAME,
    profile_names: Iterable[str] = (),
    default_provider: str = EMBEDDED,
    options: Options | None = None,
    built_in_groups: bool = False,
) -> Providers:
    """All providers Tutti comes with; the embedded scheduler answers to `scheduler_name`, and to its profiles' names.

    Raises:
        ConfigurationError: `default_provider` is not among them or cannot be used, or the options name none of them.
    """
    kinds = {kind.name: kind for kind in _external_kinds()}
    given = dict(options or {})
    if unknown := given.keys() - kinds.keys():
        raise ConfigurationError(f"providers: {min(unknown)[:MAX_SHOWN]!r} is not one of {', '.join(sorted(kinds))}")
    known: list[Provider] = [Embedded(scheduler_name, tuple(profile_names))]
    for name, kind in kinds.items():
        try:
            known.append(kind(**given.get(name, {})))
        except TypeError as error:
            options_given = ", ".join(sorted(given[name]))
            raise ConfigurationError(f"providers.{name}: does not take all of {options_given[:MAX_SHOWN]}") from error
    return Providers(known, default=default_provider, built_in_groups=built_in_groups)


def _external_kinds() -> list[type[External]]:
    modules = [import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)]
    return [module.GANG_SCHEDULER for module in modules if hasattr(module, "GANG_SCHEDULER")]


def choose_provider(
    providers: Providers, *, annotations: Mapping[str, str] | None, scheduler_name: str
) -> Provider | None:
    """The provider for an object with these annotations and this `schedulerName` in its pod template.

    Returns:
        None when the template names a scheduler that belongs to none of our providers: the object is not ours.

    Raises:
        InvalidGangSettings: the annotation names no provider, one that cannot be used in this cluster, or one that does not
            place pods of that scheduler.
    """
    asked = (annotations or {}).get(PROVIDER)
    stated = scheduler_name not in UNSTATED
    if asked is None:
        return providers.serving(scheduler_name) if stated else providers.default
    provider = providers.named(asked)
    if provider is None:
        raise InvalidGangSettings(f"{asked[:MAX_SHOWN]!r} is not one of {providers.names}", field=_FIELD)
    if problem := providers.unusable(provider):
        raise InvalidGangSettings(problem, field=_FIELD)
    if stated and provider.scheduler_name and not provider.serves(scheduler_name):
        raise InvalidGangSettings(
            f"provider {asked} does not place pods whose schedulerName is {scheduler_name[:MAX_SHOWN]!r}; "
            f"leave schedulerName out or set it to {provider.scheduler_name}",
            field=_FIELD,
        )
    return provider


_FIELD: Final = f"metadata.annotations[{PROVIDER}]"
