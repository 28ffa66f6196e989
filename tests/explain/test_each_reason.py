"""Each class of reason: it is named, its hint is enough, and nothing of the cluster is left changed by the answer."""

import pytest

from explain.answer import Verdict
from explain.why import why
from tests.explain.reason_table import SCENES
from tests.explain.scenes import NOW_SECONDS, applied, starts


@pytest.mark.parametrize("name", SCENES)
def test_the_reason_is_named_and_the_hint_is_enough(name: str) -> None:
    reason, kind, scene = SCENES[name]
    answer = why(scene.world().state, scene.key, NOW_SECONDS)
    assert answer.reason is reason, answer
    assert (answer.hint.kind if answer.hint is not None else None) is kind, answer
    assert answer.verdict in {Verdict.WAITS, Verdict.NEVER}
    assert answer.waiting_seconds == 100.0
    if answer.hint is not None:
        assert not starts(scene)
        assert starts(applied(scene, answer.hint)), answer.hint


@pytest.mark.parametrize("name", SCENES)
def test_an_answer_leaves_the_cluster_as_it_was(name: str) -> None:
    _, _, scene = SCENES[name]
    state = scene.world().state
    before = why(state, scene.key, NOW_SECONDS)
    free = {name: state.nodes.free[:, slot].tolist() for name, slot in state.nodes.slot_of.items()}
    assert why(state, scene.key, NOW_SECONDS) == before
    assert {name: state.nodes.free[:, slot].tolist() for name, slot in state.nodes.slot_of.items()} == free
