"""The table in docs/providers.md: every provider in both parts, with the names it really has."""

from pathlib import Path

import pytest

from providers.base import Provider
from providers.selection import standard_providers

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
PROVIDERS = pytest.mark.parametrize("provider", standard_providers().all, ids=lambda each: each.name)


def rows(provider: Provider) -> list[list[str]]:
    found = [line for line in PAGE.splitlines() if line.startswith(f"| `{provider.name}` |")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found]


@PROVIDERS
def test_every_provider_has_its_two_rows(provider: Provider) -> None:
    objects, abilities = rows(provider)
    assert objects[2] == (f"`{provider.scheduler_name}`" if provider.scheduler_name else "as the template says")
    assert provider.kind is None or f"`{provider.kind.api_version}`" in objects[3]
    assert (abilities[4][:3] == "yes") is provider.capabilities.topology
    assert (abilities[5] == "yes") is provider.capabilities.whole_disruption


@PROVIDERS
def test_what_a_user_cannot_have_is_said(provider: Provider) -> None:
    cannot = rows(provider)[1][-1]
    able = provider.capabilities
    assert ("elastic" in cannot) is not able.mutable_minimum
    assert ("`min-count`" in cannot) is not able.partial_minimum
    assert ("`completions`" in cannot) is (not able.counts_succeeded and not able.mutable_minimum)
    assert ("minimum is lowered" in cannot or "minimum follows" in cannot) is (
        not able.counts_succeeded and able.mutable_minimum
    )
    assert ("built-in group API" in cannot) is able.needs_built_in_groups
