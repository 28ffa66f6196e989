"""Nodes die under a large gang, by chance: only the lost members are placed, before a younger gang, and the others stay.

`--log-cli-level=INFO` shows how long each gang took.
"""

import logging
import random
import time

import pytest

from tests.scheduler.core.stage import Stage

_log = logging.getLogger(__name__)

NODES = 1000
GANG = 500
FREE = 20
MOST_LOST = 8
WHOLE_AGAIN_SECONDS = 2.0


@pytest.mark.parametrize("seed", range(30))
def test_a_gang_that_loses_up_to_eight_nodes_is_whole_before_a_younger_gang(seed: int) -> None:
    chance = random.Random(seed)
    stage = Stage()
    for number in range(NODES):
        stage.node(f"n{number}", cpu=1)
    stage.gang("g", GANG)
    stage.gang("others", NODES - GANG - FREE)
    stage.run()
    before = stage.bound("g")
    lost = chance.sample(sorted(before), chance.randint(1, MOST_LOST))
    # The nodes die one after the other, and the younger gang comes in the middle of it: it would fit into what is free.
    young = FREE - len(lost) + 1
    for index, name in enumerate(lost):
        stage.lose(name)
        stage.node_gone(before[name])
        if index == len(lost) // 2:
            stage.run()
    stage.gang("young", young)
    stage.run()
    assert stage.kept() == len(lost)
    stage.wait(chance.choice([10.0, 20.0, 40.0]))
    assert stage.bound("young") == {}
    begun = time.perf_counter()
    for name in lost:
        stage.pod(f"{name}-again", group="g")
    stage.run()
    seconds = time.perf_counter() - begun
    after = stage.bound("g")
    survivors = before.keys() - set(lost)
    assert {name: after[name] for name in survivors} == {name: before[name] for name in survivors}
    assert after.keys() - before.keys() == {f"{name}-again" for name in lost}
    assert stage.bound("young") == {}
    _log.info("%d nodes lost, whole again %.1f ms after the pods were made", len(lost), seconds * 1000)
    assert seconds < WHOLE_AGAIN_SECONDS
