"""Which scheduler places an object, and what its pods must carry."""

import pytest

from api.constants import MANAGED, MANAGED_BY, MANAGED_BY_TUTTI, POD_GROUP, POD_GROUP_UID, PROVIDER
from api.errors import ConfigurationError, InvalidGangSettings
from api.meta import Metadata
from api.podgroup import PodGroup
from providers.base import MinMemberRule, StartupPolicy
from providers.embedded import Embedded
from providers.selection import Providers, choose_provider, standard_providers

EMBEDDED_AS_ACME = standard_providers(scheduler_name="acme")


@pytest.mark.parametrize("scheduler_name", ["", "default-scheduler", "acme"])
def test_an_object_that_names_no_provider_gets_the_default(scheduler_name: str) -> None:
    chosen = choose_provider(EMBEDDED_AS_ACME, annotations=None, scheduler_name=scheduler_name)
    assert chosen == Embedded("acme")


def test_a_profile_of_the_embedded_scheduler_is_one_of_its_names() -> None:
    known = standard_providers(profile_names=("packed", "headroom"))
    chosen = choose_provider(known, annotations=None, scheduler_name="headroom")
    assert chosen is not None
    assert (chosen.name, chosen.scheduler_name) == ("embedded", "tutti")
    assert choose_provider(known, annotations={PROVIDER: "embedded"}, scheduler_name="packed") == chosen
    assert choose_provider(standard_providers(), annotations=None, scheduler_name="packed") is None


@pytest.mark.parametrize("scheduler_name", ["somebody-else", "tutti"])
def test_a_scheduler_that_is_not_ours_keeps_its_pods(scheduler_name: str) -> None:
    assert choose_provider(EMBEDDED_AS_ACME, annotations={}, scheduler_name=scheduler_name) is None


@pytest.mark.parametrize("scheduler_name", ["", "default-scheduler", "acme"])
def test_the_annotation_names_the_provider(scheduler_name: str) -> None:
    chosen = choose_provider(EMBEDDED_AS_ACME, annotations={PROVIDER: "embedded"}, scheduler_name=scheduler_name)
    assert chosen is not None
    assert chosen.name == "embedded"


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidGangSettings, match=r"tutti.scheduler/provider\]: 'volcan' is not one of coscheduling, embedded, "
    ):
        choose_provider(EMBEDDED_AS_ACME, annotations={PROVIDER: "volcan"}, scheduler_name="")


def test_a_provider_beside_another_scheduler_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidGangSettings, match="leave schedulerName out or set it to acme"):
        choose_provider(EMBEDDED_AS_ACME, annotations={PROVIDER: "embedded"}, scheduler_name="somebody-else")


def test_a_very_long_provider_name_does_not_flood_the_message() -> None:
    with pytest.raises(InvalidGangSettings) as refused:
        choose_provider(EMBEDDED_AS_ACME, annotations={PROVIDER: "v" * 100_000}, scheduler_name="")
    assert len(str(refused.value)) < 200


def test_a_default_nobody_knows_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="'nope' is not one of embedded"):
        Providers([Embedded()], default="nope")


def test_pods_of_the_embedded_scheduler_carry_label_and_group() -> None:
    group = PodGroup(metadata=Metadata(name="g", uid="u", annotations={MANAGED_BY: MANAGED_BY_TUTTI}))
    association = Embedded().association(group)
    assert association.labels == {MANAGED: "embedded"}
    assert association.annotations == {POD_GROUP: "g", POD_GROUP_UID: "u"}


def test_pods_name_a_group_of_somebody_else_without_being_tied_to_its_life() -> None:
    association = Embedded().association(PodGroup(metadata=Metadata(name="g", uid="u")))
    assert association.annotations == {POD_GROUP: "g"}


def test_workers_that_wait_for_their_leader_are_not_waited_for() -> None:
    assert Embedded().min_member_rule(StartupPolicy.LEADER_READY) is MinMemberRule.LEADER_ONLY
    assert Embedded().min_member_rule(StartupPolicy.LEADER_CREATED) is MinMemberRule.WHOLE_GROUP


def test_the_embedded_scheduler_can_do_everything_a_group_asks_for() -> None:
    able = Embedded().capabilities
    assert able.counts_succeeded
    assert able.mutable_minimum
    assert able.topology
    assert able.whole_disruption
