"""What a scheduler cannot do for a Job, and whether that breaks the gang."""

from typing import Any

import msgspec
import pytest

from api.constants import (
    DISRUPTION_MODE,
    ELASTIC,
    MIN_COUNT,
    ON_SCHEDULING_TIMEOUT,
    POLICY,
    SCHEDULING_TIMEOUT,
    TOPOLOGY,
)
from api.errors import ConfigurationError, InvalidGangSettings
from api.gang import GroupIntent, job_intent
from api.job import Job
from providers.limits import limits_for
from providers.selection import Providers, choose_provider, standard_providers

KNOWN = standard_providers(built_in_groups=True)


def job(*, parallelism: int = 4, completions: int | None = 4, **annotations: str) -> Job:
    keys = {
        "mode": DISRUPTION_MODE,
        "elastic": ELASTIC,
        "end": ON_SCHEDULING_TIMEOUT,
        "min_count": MIN_COUNT,
        "policy": POLICY,
        "timeout": SCHEDULING_TIMEOUT,
        "topology": TOPOLOGY,
    }
    document: dict[str, Any] = {
        "metadata": {"name": "train", "annotations": {keys[key]: value for key, value in annotations.items()}},
        "spec": {"parallelism": parallelism, "completions": completions, "completionMode": "Indexed"},
    }
    return msgspec.convert(document, Job)


def found(name: str, asked: Job) -> list[tuple[str, bool]]:
    provider, intent = KNOWN.named(name), job_intent(asked)
    assert provider is not None
    assert isinstance(intent, GroupIntent)
    return [(limit.key, limit.breaks) for limit in limits_for(provider, asked, intent)]


@pytest.mark.parametrize("provider", KNOWN.all, ids=lambda each: each.name)
def test_a_gang_that_asks_for_nothing_special_can_be_had_everywhere(provider: Any) -> None:
    assert found(provider.name, job()) == []


@pytest.mark.parametrize(
    ("name", "refused"),
    [("embedded", False), ("kube-scheduler", False), ("volcano", False), ("yunikorn", True), ("pfnet", True)],
)
def test_a_gang_that_is_resized_needs_a_minimum_that_can_change(name: str, refused: bool) -> None:
    assert found(name, job(elastic="true")) == ([(ELASTIC, True)] if refused else [])


def test_a_scheduler_that_knows_exact_sizes_only_takes_no_lower_minimum() -> None:
    assert found("pfnet", job(min_count="2")) == [(MIN_COUNT, True)]
    assert found("volcano", job(min_count="2")) == []


@pytest.mark.parametrize(
    ("name", "refused"), [("embedded", False), ("volcano", False), ("yunikorn", False), ("pfnet", True)]
)
def test_a_job_with_more_work_than_pods_needs_a_minimum_that_can_be_lowered_at_its_end(
    name: str, refused: bool
) -> None:
    assert found(name, job(completions=6, policy="gang")) == ([("", True)] if refused else [])


def test_a_wish_that_is_not_carried_out_is_no_reason_to_refuse() -> None:
    asked = job(topology="zone", mode="all", timeout="30s")
    assert found("volcano", asked) == [(TOPOLOGY, False), (DISRUPTION_MODE, False), (SCHEDULING_TIMEOUT, False)]
    assert found("embedded", asked) == []
    assert found("coscheduling", asked) == [(TOPOLOGY, False), (DISRUPTION_MODE, False)]


def test_what_follows_a_time_limit_is_up_to_the_embedded_scheduler() -> None:
    asked = job(timeout="30s", end="suspend")
    assert found("coscheduling", asked) == [(ON_SCHEDULING_TIMEOUT, False)]
    assert found("embedded", asked) == []


def test_a_basic_group_asks_for_nothing_a_scheduler_could_lack() -> None:
    assert found("pfnet", job(completions=6, policy="basic", topology="zone")) == []


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "ten", "30", "9" * 40, "٣"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidGangSettings, match="scheduling-timeout"):
        job_intent(job(timeout=text))


def test_the_stock_scheduler_needs_the_built_in_groups() -> None:
    own = standard_providers()
    with pytest.raises(InvalidGangSettings, match="kube-scheduler needs the built-in group API"):
        choose_provider(own, annotations={"tutti.scheduler/provider": "kube-scheduler"}, scheduler_name="")
    with pytest.raises(ConfigurationError, match="default_provider: kube-scheduler needs the built-in group API"):
        standard_providers(default_provider="kube-scheduler")
    assert standard_providers(default_provider="kube-scheduler", built_in_groups=True).default.name == "kube-scheduler"


def test_the_profile_of_an_unusable_scheduler_is_not_ours() -> None:
    options = {"kube-scheduler": {"scheduler_name": "gangs"}}
    assert choose_provider(standard_providers(options=options), annotations=None, scheduler_name="gangs") is None
    usable = standard_providers(options=options, built_in_groups=True)
    chosen = choose_provider(usable, annotations=None, scheduler_name="gangs")
    assert chosen is not None
    assert chosen.name == "kube-scheduler"


def test_a_provider_that_works_with_any_scheduler_leaves_the_name_as_it_is() -> None:
    for scheduler_name in ("", "default-scheduler", "acme"):
        chosen = choose_provider(
            KNOWN, annotations={"tutti.scheduler/provider": "pfnet"}, scheduler_name=scheduler_name
        )
        assert chosen is not None
        assert chosen.scheduler_name == ""


def test_a_stated_scheduler_name_finds_its_provider() -> None:
    names = {
        scheduler_name: chosen.name
        for scheduler_name in ("volcano", "yunikorn", "kai-scheduler", "koord-scheduler", "scheduler-plugins-scheduler")
        if (chosen := choose_provider(KNOWN, annotations=None, scheduler_name=scheduler_name)) is not None
    }
    assert names == {
        "volcano": "volcano",
        "yunikorn": "yunikorn",
        "kai-scheduler": "kai",
        "koord-scheduler": "koordinator",
        "scheduler-plugins-scheduler": "coscheduling",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nomad": {}}, "'nomad' is not one of coscheduling, kai,"),
        ({"volcano": {"queue": "q"}}, "providers.volcano: does not take all of queue"),
    ],
)
def test_options_nobody_knows_are_a_configuration_error(options: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        standard_providers(options=options)


def test_names_of_providers_differ() -> None:
    names = [each.name for each in KNOWN.all]
    assert len(names) == len(set(names)) == 9
    assert isinstance(KNOWN, Providers)
