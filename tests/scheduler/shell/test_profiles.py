"""Profiles that cannot work are refused before anything starts, by the path of what is wrong; the others score as they say."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from api.errors import ConfigurationError
from kube.process.settings import load_settings
from scheduler.cache.scoring import Scoring
from scheduler.settings import SchedulerSettings
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

SAMPLE = Path(__file__).resolve().parents[3] / "config" / "profiles" / "scheduler.yaml"


def load(*profiles: dict[str, Any]) -> SchedulerSettings:
    return load_settings(SchedulerSettings, None, profiles=list(profiles))


def test_one_process_answers_to_all_names() -> None:
    settings = load({"scheduler_name": "a"}, {"scheduler_name": "b"})
    assert settings.scheduler_names == {"tutti", "a", "b"}


def test_the_sample_can_be_loaded() -> None:
    settings = load_settings(SchedulerSettings, str(SAMPLE))
    assert settings.scheduler_names == {"tutti", "tutti-packed", "tutti-headroom"}


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        pytest.param({}, r"profiles\.0\.scheduler_name", id="no name"),
        pytest.param({"strategy": "MostAllocated"}, r"unknown setting 'profiles\.0\.strategy'", id="an unknown key"),
        pytest.param({"scores": {"Luck": 1}}, r"profiles\.0\.scores\.Luck", id="an unknown score"),
        pytest.param({"scores": {"NodeAffinity": 101}}, "0 to 100", id="a weight out of range"),
        pytest.param(
            {"resources_fit": {"strategy": "Random"}}, r"profiles\.0\.resources_fit\.strategy", id="a strategy"
        ),
        pytest.param({"resources_fit": {"resources": {"cpu": 0}}}, "weight of cpu", id="a resource without weight"),
        pytest.param({"resources_fit": {"resources": {}}}, r"resources_fit\.resources", id="no resource"),
        pytest.param({"resources_fit": {"strategy": "RequestedToCapacityRatio"}}, "`shape` is needed", id="no shape"),
        pytest.param({"resources_fit": {"shape": [{"utilization": 0, "score": 1}]}}, "`shape` is needed", id="a shape"),
        pytest.param(
            {
                "resources_fit": {
                    "strategy": "RequestedToCapacityRatio",
                    "shape": [{"utilization": 50, "score": 1}, {"utilization": 50, "score": 2}],
                }
            },
            "must be above",
            id="points out of order",
        ),
        pytest.param(
            {
                "resources_fit": {
                    "strategy": "RequestedToCapacityRatio",
                    "shape": [{"utilization": 50, "score": 11}],
                }
            },
            r"shape\.0\.score",
            id="a point too high",
        ),
        pytest.param({"limits": {"members": 0}}, r"limits\.members", id="a limit of none"),
        pytest.param({"balanced_resources": []}, "balanced_resources", id="nothing to balance"),
    ],
)
def test_a_profile_that_cannot_work_is_refused_by_its_path(profile: dict[str, Any], complaint: str) -> None:
    name = {} if complaint.endswith("scheduler_name") else {"scheduler_name": "a"}
    with pytest.raises(ConfigurationError, match=complaint) as refused:
        load({**name, **profile})
    assert "\n" not in str(refused.value)


def test_a_name_used_twice_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="two profiles are named a"):
        load({"scheduler_name": "a"}, {"scheduler_name": "a"})


def test_a_file_is_read_with_its_profiles(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(yaml.safe_dump({"profiles": [{"scheduler_name": "a", "scores": {"ImageLocality": 0}}]}))
    settings = load_settings(SchedulerSettings, str(file))
    assert settings.profiles[0].scoring().weights.image_locality == 0


def test_pods_of_two_profiles_go_different_ways_in_one_queue() -> None:
    packed = load({"scheduler_name": "packed", "resources_fit": {"strategy": "MostAllocated"}}).profiles[0].scoring()
    world = World("tutti", "packed", scorings={"packed": packed})
    for name in ("n0", "n1", "n2"):
        world.node(name, cpu=8)
    world.pod("there", requests={"cpu": "1", "memory": "8Gi"}, on="n1")
    world.pod("p", requests={"cpu": "1", "memory": "8Gi"}, scheduler="packed")
    world.pod("s", requests={"cpu": "1", "memory": "8Gi"}, scheduler="tutti")
    world.run()
    assert world.bound()["p"] == "n1"
    assert world.bound()["s"] != "n1"


def test_a_packed_gang_fills_node_after_node() -> None:
    world = World("tutti", scorings={"tutti": Scoring(strategy="MostAllocated")})
    for index in range(4):
        world.node(f"n{index}", cpu=8)
    world.group("g", 16)
    for index in range(16):
        world.pod(f"g-{index}", group="g", requests={"cpu": "1", "memory": "8Gi"})
    world.run()
    assert len(set(world.bound("g").values())) == 2


def test_a_group_larger_than_its_profile_allows_is_refused_and_says_so() -> None:
    world = World("tutti", most_members={"tutti": 2})
    world.node("n0", cpu=8)
    world.group("g", 3)
    world.pods("g", 3)
    world.run()
    assert world.bound() == {}
    assert world.held(group_key("g"))[1] == "the group has 3 members, and the profile tutti allows 2"


def test_a_group_as_large_as_its_profile_allows_starts() -> None:
    world = World("tutti", most_members={"tutti": 2})
    world.node("n0", cpu=8)
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    assert len(world.bound("g")) == 2
