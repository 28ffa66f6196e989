"""A gang scheduler is added by one file in the package: nothing else names it."""

import sys
from pathlib import Path

import pytest

import providers
from providers.selection import choose_provider, standard_providers
from tests.providers.gangs import job_gang

MODULE = '''
"""A scheduler that exists in this test only."""

from typing import ClassVar, Final

from providers.base import Capabilities, External, PodMetadata
from providers.gang import Gang, Role


class Acme(External):
    """Reads one annotation."""

    name: ClassVar[str] = "acme"
    usual_scheduler_name: ClassVar[str] = "acme-scheduler"
    capabilities: ClassVar[Capabilities] = Capabilities(
        counts_succeeded=True, mutable_minimum=False, topology=False, whole_disruption=False
    )

    @property
    def group_keys(self) -> tuple[str, ...]:
        return ("acme.example/gang",)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:
        return PodMetadata(annotations={"acme.example/gang": gang.name})


GANG_SCHEDULER: Final = Acme
'''


def test_a_new_file_is_a_new_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(providers, "__path__", [*providers.__path__, str(tmp_path)])
    try:
        known = standard_providers()
        chosen = choose_provider(known, annotations=None, scheduler_name="acme-scheduler")
        assert chosen is not None
        gang = job_gang()
        assert chosen.pod_metadata(gang, gang.roles[0]).annotations == {"acme.example/gang": gang.name}
        assert "acme, coscheduling" in known.names
    finally:
        sys.modules.pop("providers.acme", None)
    monkeypatch.undo()
    assert standard_providers().named("acme") is None
