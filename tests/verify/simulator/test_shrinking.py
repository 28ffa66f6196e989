"""A run that fails is made as short and as simple as it can be while it goes on failing."""

from verify.simulator.actions import AddNode, CreateJob, DeleteJob, Kill, Scenario, read, written
from verify.simulator.generate import scenario
from verify.simulator.shrink import shrink


def test_what_does_not_matter_is_left_out() -> None:
    run = scenario(7, actions=40)
    run = Scenario(run.seed, (*run.actions, Kill(after=3.0, process="controllers", seconds=7.0)), is_stormy=True)

    def fails(tried: Scenario) -> bool:
        return any(isinstance(each, Kill) and each.process == "controllers" for each in tried.actions)

    shortest = shrink(run, fails)

    assert len(shortest.actions) == 1
    assert not shortest.is_stormy
    assert fails(shortest)


def test_two_actions_that_are_needed_together_stay_in_their_order() -> None:
    run = scenario(11, actions=30)
    first, second = AddNode(node=99), DeleteJob(job=98)
    run = Scenario(run.seed, (first, *run.actions, second))

    def fails(tried: Scenario) -> bool:
        return first in tried.actions and any(isinstance(each, DeleteJob) and each.job == 98 for each in tried.actions)

    assert shrink(run, fails).actions == (first, second)


def test_the_actions_that_stay_become_simple() -> None:
    job = CreateJob(after=4.5, job=1, pods=8, gpus=2, priority=2, zone=True, seconds=60, claims=True)

    def fails(tried: Scenario) -> bool:
        return any(isinstance(each, CreateJob) and each.pods == 8 and each.zone for each in tried.actions)

    assert shrink(Scenario(1, (job,)), fails).actions == (CreateJob(job=1, pods=8, zone=True),)


def test_no_more_runs_are_spent_than_allowed() -> None:
    tried: list[Scenario] = []

    def fails(each: Scenario) -> bool:
        tried.append(each)
        return len(each.actions) >= 3

    shrink(scenario(3, actions=40), fails, most_runs=10)

    assert len(tried) <= 10


def test_a_run_is_read_as_it_was_written() -> None:
    for seed in range(50):
        assert read(written(scenario(seed))) == scenario(seed)
