"""Mixed gangs that no order places: what searching all placements costs, and what it finds.

Small gangs are drawn from seeds (`tests/scheduler/core/exact_cases.py`), and each refusal is compared with an oracle that tries
everything, where that is done soon enough. Figures are milliseconds of CPU of this process for the whole decision, made once, with
garbage collected as in the scheduler; the oracle, whose garbage is none of the scheduler's, asks in a process of its own.
"""

import multiprocessing
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from random import Random
from time import process_time

from hack.bench.table import median_ms, show
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.plugins.status import Certainty, PodGroupDiagnosis
from scheduler.process import tune_garbage_collection
from tests.scheduler.core import build
from tests.scheduler.core.exact_cases import Gang, Oracle, TooLongError, can_have_come, drawn, world_of
from tests.scheduler.core.world import World

GANGS = 6000
WARM_UP_GANGS = 20
ORACLE_LOOKS = 100_000
"""Some seconds for the slowest gang; enough for all but some twenty."""
RUNS = 5


def measure() -> None:
    """Prints the tables."""
    show(
        f"{GANGS} gangs by chance, at most 12 pods on at most 8 nodes",
        [
            *("", "placed", "wrongly", "counted", "proved", "not found", "oracle: has a place", "cannot tell"),
            *("median ms", "99 % ms", "max ms", "> 50 ms"),
        ],
        [
            _small("without rules about other pods", range(0, GANGS, 2)),
            _small("with such rules", range(1, GANGS, 2)),
        ],
        notes=[
            "goal: nothing placed wrongly, nothing refused that the oracle has a place for",
            "milliseconds include the orders that were tried before; the search is a part of them",
            "counted, proved, not found: how sure the refusal is; cannot tell: refused, and the oracle gave up",
        ],
    )
    show(
        "Large gangs with just the room in sum, three pods to a node",
        ["", "result", "steps", "median ms", "max ms"],
        [_large(nodes) for nodes in (20, 100, 300)],
    )


def _small(name: str, seeds: Iterable[int]) -> list[str]:
    counts: Counter[str] = Counter()
    times = []
    answers: list[Future[str]] = []
    for seed in range(GANGS, GANGS + WARM_UP_GANGS):
        _decided(drawn(seed))
    tune_garbage_collection()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as oracle:
        for seed in seeds:
            gang = drawn(seed)
            decision, time_ms = _decided(gang)
            times.append(time_ms)
            found = decision.status.diagnosis
            if isinstance(found, PodGroupDiagnosis):
                counts[found.certainty] += 1
                answers.append(oracle.submit(_by_oracle, seed))
            else:
                counts["placed"] += 1
                nodes = {machine.name: index for index, machine in enumerate(gang.machines)}
                placed = {int(uid.rsplit("-", 1)[1]): nodes[node] for uid, node in decision.bindings}
                counts["wrongly"] += len(placed) < gang.need or not can_have_come(gang, placed)
        counts.update(each.result() for each in answers)
    times.sort()
    columns = ("placed", "wrongly", Certainty.COUNTED, Certainty.PROVED, Certainty.NOT_FOUND, "missed", "unknown")
    figures = times[len(times) // 2], times[len(times) * 99 // 100], times[-1]
    return [
        name,
        *(str(counts[column]) for column in columns),
        *(f"{figure:.1f}" for figure in figures),
        str(sum(time > 50 for time in times)),
    ]


def _decided(gang: Gang) -> tuple[Decision, float]:
    """A decision in a new cluster, and what it took."""
    world = world_of(gang)
    begin = process_time()
    decision = decide(world.state, build.group_key("g"))
    return decision, (process_time() - begin) * 1000


def _by_oracle(seed: int) -> str:
    gang = drawn(seed)
    try:
        return "missed" if Oracle(gang, ORACLE_LOOKS).has_place else "impossible"
    except TooLongError:
        return "unknown"


def _large(nodes: int) -> list[str]:
    chance, world = Random(7), World()
    sizes = [chance.randint(2600, 4000) for _ in range(3 * nodes)]
    for index in range(nodes):
        world.node(f"n{index}", cpu=f"{(sum(sizes) + nodes) // nodes}m")
    world.group("g", len(sizes))
    for index, size in enumerate(sizes):
        world.pod(f"g-{index:03}", group="g", cpu=f"{size}m")
    _, middle, most = median_ms(lambda: decide(world.state, build.group_key("g")), runs=RUNS)
    found = decide(world.state, build.group_key("g")).status.diagnosis
    told = (found.certainty, str(found.search_steps)) if isinstance(found, PodGroupDiagnosis) else ("placed", "")
    return [f"{len(sizes)} pods on {nodes} nodes", *told, f"{middle:.1f}", f"{most:.1f}"]
