"""Whole runs: they repeat themselves exactly, and Tutti does in them what it does elsewhere."""

import pytest

from verify.simulator.actions import AddNode, Cordon, CreateJob, CreateSet, DeletePod, Kill, RemoveNode, Scenario
from verify.simulator.generate import scenario
from verify.simulator.run import simulate

TWO_NODES = (AddNode(node=0, cpu=4), AddNode(node=1, cpu=4))


def test_the_same_seed_is_the_same_run_to_the_byte() -> None:
    run = scenario(4, actions=8)

    first, second = simulate(run), simulate(run)

    assert first == second
    assert first.steps > 500


def test_another_seed_is_another_run_of_the_same_actions() -> None:
    actions = (*TWO_NODES, CreateJob(job=0, pods=2, seconds=5))

    assert simulate(Scenario(1, actions)).trace != simulate(Scenario(2, actions)).trace


def test_a_gang_starts_and_ends_and_everything_comes_to_rest() -> None:
    outcome = simulate(Scenario(1, (*TWO_NODES, CreateJob(job=0, pods=8, seconds=20))))

    assert outcome.violations == ()
    assert (outcome.starts, outcome.binds) == (1, 8)


def test_a_pod_that_is_no_gang_is_placed_too() -> None:
    outcome = simulate(Scenario(1, (*TWO_NODES, CreateJob(job=0, pods=1, seconds=20))))

    assert outcome.violations == ()
    assert (outcome.starts, outcome.binds) == (0, 1)


def test_a_gang_that_does_not_fit_is_not_started_in_part() -> None:
    outcome = simulate(Scenario(1, (*TWO_NODES, CreateJob(job=0, pods=8, cpu_milli=2000))))

    assert outcome.violations == ()
    assert outcome.binds == 0


def test_a_more_important_gang_takes_the_room_of_another() -> None:
    less = CreateJob(job=0, pods=4, cpu_milli=2000)
    more = CreateJob(after=30.0, job=1, pods=4, cpu_milli=2000, priority=2, seconds=20)

    outcome = simulate(Scenario(1, (*TWO_NODES, less, more)))

    assert outcome.violations == ()
    assert outcome.evictions == 1  # a gang of a Job leaves as a whole, by suspension
    assert outcome.starts == 2


def test_replicas_of_a_leader_worker_set_start_whole() -> None:
    outcome = simulate(Scenario(1, (*TWO_NODES, CreateSet(name=0, replicas=2, size=2))))

    assert outcome.violations == ()
    assert (outcome.starts, outcome.binds) == (2, 4)


@pytest.mark.parametrize("process", ["scheduler", "controllers", "webhooks", "stand-ins"])
def test_a_process_that_is_killed_is_replaced_and_nothing_is_lost(process: str) -> None:
    actions = (*TWO_NODES, CreateJob(job=0, pods=4, seconds=20), Kill(after=0.02, process=process, seconds=5.0))

    outcome = simulate(Scenario(3, actions))

    assert outcome.violations == ()
    assert outcome.binds == 4


@pytest.mark.parametrize("seed", [1000031, 1000066])
def test_gangs_that_wait_for_ever_come_to_rest_while_room_is_kept_by_turns(seed: int) -> None:
    """Seeds in which conditions were once written anew with every turn."""
    assert simulate(scenario(seed)).violations == ()


def test_a_member_that_is_deleted_while_it_is_bound_is_replaced() -> None:
    actions = (CreateJob(job=0, pods=8), AddNode(after=40.0, cpu=8), DeletePod(job=0))

    outcome = simulate(Scenario(449, actions, hash_seed=17))

    assert outcome.violations == ()
    assert outcome.starts == 1


def test_a_nomination_is_not_taken_back_for_ever_from_a_pod_whose_name_another_one_has() -> None:
    actions = (
        AddNode(node=0),
        AddNode(after=52.1, node=1),
        Kill(process="stand-ins", seconds=15.3),
        Cordon(node=1),
        CreateJob(job=1, pods=4, cpu_milli=500),
        AddNode(after=24.2, node=2, cpu=2),
        CreateSet(name=0, replicas=1, size=2, cpu_milli=1000, priority=2, leader_ready=True),
        RemoveNode(after=1.6, node=0),
    )

    assert simulate(Scenario(221, actions)).violations == ()


def test_who_waits_for_room_that_is_kept_for_lost_members_does_so_rightly() -> None:
    gang = CreateJob(job=0, pods=8, cpu_milli=2000)
    actions = (AddNode(node=0), AddNode(node=1, cpu=4), AddNode(node=2), gang, RemoveNode(after=10.0, node=2))

    outcome = simulate(Scenario(1, (*actions, CreateJob(after=20.0, job=1, pods=2))))

    assert outcome.violations == ()
    assert outcome.starts == 1


def test_nothing_is_judged_before_a_job_that_fails_again_and_again_has_failed_for_good() -> None:
    fails = CreateJob(job=0, pods=1, seconds=200, exit_code=1)
    waits = CreateJob(job=1, pods=8, cpu_milli=4000)

    outcome = simulate(Scenario(1, (*TWO_NODES, fails, waits)))

    assert outcome.violations == ()
    assert outcome.binds == 7  # it is tried again six times


def test_a_bad_network_is_survived() -> None:
    jobs = tuple(CreateJob(after=1.0, job=number, pods=4, seconds=5) for number in range(6))

    outcome = simulate(Scenario(5, (*TWO_NODES, *jobs), is_stormy=True))

    assert outcome.violations == ()
    assert outcome.faults > 0
    assert outcome.binds == 24
