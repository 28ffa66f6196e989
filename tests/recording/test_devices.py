"""Devices in recordings: decisions about claims are repeated bit for bit, and nothing that no decision reads is in a file."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.devices import DeviceClass, ResourceClaim
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import DeviceId, HeldDevice
from scheduler.cache.devices.state import DeviceState
from scheduler.cache.records import EntityKey
from scheduler.recording.anonymous import anonymous, readable_in, with_words
from scheduler.recording.capture import take
from scheduler.recording.file import Recording, compressed, lines_of, lines_of_taken, read, write_parts
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.journal import Journal
from scheduler.recording.outcome import DecisionOutcome
from scheduler.recording.pods import PodWriter
from scheduler.recording.replay import decide_queue, repeat
from scheduler.recording.restore import restore
from scheduler.recording.steps import OPERATIONS
from tests.devices.build import claim, device_class, request
from tests.devices.upstream import typed
from tests.recording.device_life import DeviceLife
from tests.recording.test_anonymous import _without_texts
from tests.recording.test_restoring import comparable, expected, taken
from tests.scheduler.core.build import NAMESPACE


def recorded(seed: int, *, before: int = 40, turns: int = 60) -> DeviceLife:
    life = DeviceLife(seed)
    life.live(before)
    life.outcomes.clear()
    life.journal = Journal(life.core, life.moment, lambda: life.now, 10_000)
    life.live(turns)
    return life


def inputs_of(life: DeviceLife) -> DecisionInputs:
    return take(life.core, life.moment()).inputs()


@pytest.mark.parametrize("seed", range(6))
def test_decisions_about_devices_are_repeated_bit_for_bit_from_a_file(seed: int, tmp_path: Path) -> None:
    life = recorded(seed)
    assert life.journal is not None
    steps = life.journal.recorded()
    file = tmp_path / "file"
    write_parts(file, compressed(lines_of_taken(steps.inputs, steps.each_step(PodWriter(life.state.texts())))))
    found = read(file)
    repeated = list(repeat(found.inputs, found.steps))
    assert [one.was for one in repeated] == life.outcomes
    assert [one.now for one in repeated] == life.outcomes
    assert any(isinstance(one, DecisionOutcome) and one.devices for one in life.outcomes)


def test_devices_that_are_kept_for_pods_to_come_are_kept_in_what_was_restored() -> None:
    life = _keeping(range(20))
    inputs = taken(life)
    assert inputs.scheduler is not None
    assert any(one.kept_devices for one in inputs.scheduler.future_reservations)
    restored = restore(inputs).core.state
    was, now = _kept(life.state, life.devices), _kept(restored, restored.devices)
    assert was == now
    assert was


def _keeping(seeds: range) -> DeviceLife:
    """A life in which devices are kept for pods to come."""
    for seed in seeds:
        life = DeviceLife(seed)
        for _ in range(6):
            life.live(15)
            if _kept(life.state, life.devices):
                return life
    raise AssertionError(f"in none of {seeds} devices are kept for pods to come")


def _kept(state: ClusterState, devices: DeviceState) -> list[DeviceId]:
    return [held.id for one in state.future_reservations for held in one.devices_left(devices.held)]


@pytest.mark.parametrize("seed", range(6))
def test_every_decision_of_a_cluster_with_devices_is_made_again(seed: int) -> None:
    life = DeviceLife(seed)
    life.live(30)
    foreseen: list[Any] = []
    life.tried = lambda key: foreseen.extend(expected(taken(life), key))
    begun = len(life.outcomes)
    life.live(25)
    assert foreseen
    assert foreseen == life.outcomes[begun:]


@pytest.mark.parametrize("seed", range(3))
def test_what_was_restored_is_taken_again_as_it_was(seed: int) -> None:
    life = DeviceLife(seed)
    life.live(60)
    inputs = taken(life)
    assert inputs.objects.resourceslices
    assert inputs.objects.resourceclaims
    assert comparable(take(restore(inputs).core, life.moment()).inputs()) == comparable(inputs)


def test_claims_that_are_on_their_way_hold_their_devices_in_a_snapshot() -> None:
    life = DeviceLife(1)
    life.live(30)
    while not life.devices.assumed:
        life.live(1)
    inputs = taken(life)
    devices = restore(inputs).core.state.devices
    assert devices.assumed.keys() == life.devices.assumed.keys()
    assert len(devices.held) == len(life.devices.held)


def test_what_is_being_given_back_and_what_is_kept_for_somebody_is_in_a_snapshot() -> None:
    life = DeviceLife(1)
    life.live(40)
    on_its_way, shown = list(life.devices.claims)[:2]
    life.devices.begin_release(on_its_way)
    life.devices.restore_release(shown, "999999999")
    key = EntityKey("pod", NAMESPACE, "important", "uid-of-important")
    kept = HeldDevice(DeviceId("gpu.vendor.example", "pool", "g0"), "share", {"bandwidth": 3})
    pod = next(pod for pod in life.state.pods.values() if not pod.is_bound)
    life.state.nominator.nominate(key, 100, {pod.uid: ("n1", pod.demand)}, frozenset(), 1e9, {pod.uid: (kept,)})

    state = restore(taken(life)).core.state
    assert set(state.devices.releases) == {(on_its_way, ""), (shown, "999999999")}
    found = state.nominator.of(key)
    assert found is not None
    assert found.devices == {pod.uid: (kept,)}


@pytest.mark.parametrize("seed", range(3))
def test_the_same_is_decided_with_other_names(seed: int) -> None:
    life, was, inputs = DeviceLife(seed), list[Any](), None
    life.live(50)
    while inputs is None or not any(answer["decision"].get("devices") for answer in was):
        life.live(5)
        inputs = inputs_of(life)
        was = [_without_texts(answer) for answer in decide_queue(inputs).values()]
    hidden, made = with_words(inputs)
    names = {made_up: true for true, made_up in made.items()}
    now = [_without_texts(answer) for answer in decide_queue(hidden).values()]
    plain = re.sub(r"n\d{7}", lambda found: names[found[0]], msgspec.json.encode(now).decode())
    assert plain == msgspec.json.encode(was).decode()


def test_made_up_names_leave_what_selectors_read_and_hide_the_rest() -> None:
    life = DeviceLife(2)
    life.live(40)
    if not life.devices.rules:
        life.rule_changes()
    inputs = inputs_of(life)
    plain = b"".join(lines_of(Recording(inputs))).decode()
    text = b"".join(lines_of(Recording(anonymous(inputs)))).decode()
    for hidden in ("@serial", "slice-of-", "@nic", "@t0", "@set", "@very", "@rule", "@n1", "-gpu0"):
        assert hidden in plain
        assert hidden not in text
    for readable in ("gpu.vendor.example", "@new-1", 'startsWith(\\"@new\\")', "numa", "bandwidth"):
        assert readable in text


def test_where_an_expression_may_look_at_any_attribute_all_are_kept() -> None:
    life = DeviceLife(2)
    life.live(20)
    inputs = inputs_of(life)
    odd = device_class("odd", 'device.attributes["gpu.vendor.example"].exists(key, key == "serial")')
    objects = msgspec.structs.replace(inputs.objects, deviceclasses=(typed(odd, DeviceClass),))
    hidden = anonymous(msgspec.structs.replace(inputs, objects=objects))
    assert "@serial" in b"".join(lines_of(Recording(hidden))).decode()


def test_what_drivers_are_told_is_in_no_file() -> None:
    life = recorded(3)
    assert life.journal is not None
    steps = life.journal.recorded()
    text = b"".join(lines_of_taken(steps.inputs, steps.each_step(PodWriter(life.state.texts())))).decode()
    assert '"opaque":"' in text
    assert "@secret" not in text


def test_a_file_of_version_1_is_read_and_says_that_it_has_no_devices(tmp_path: Path) -> None:
    life = DeviceLife(1)
    life.live(30)
    inputs, waiting = inputs_of(life), set[EntityKey]()
    while not waiting:
        life.live(5)
        inputs = inputs_of(life)
        waiting = {key for key in decide_queue(inputs) if _asks(life, key)}
    header, *lines = lines_of(Recording(_without_devices(inputs)))
    old = msgspec.json.decode(header)
    del old["devices"]
    file = tmp_path / "file"
    write_parts(file, compressed([msgspec.json.encode({**old, "version": 1}) + b"\n", *lines]))
    found = read(file)
    assert found.inputs.devices == "unknown"
    answers = decide_queue(found.inputs)
    told = {key for key, answer in answers.items() if "nothing is known of devices" in answer.decision.message}
    assert told == waiting


def _asks(life: DeviceLife, key: EntityKey) -> bool:
    members = life.state.item(key)
    return members is not None and any(one.rules.asks_devices for one in members.pending)


def _without_devices(inputs: DecisionInputs) -> DecisionInputs:
    kinds = ("deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates", "devicetaintrules")
    objects = msgspec.structs.replace(inputs.objects, **dict.fromkeys(kinds, ()))
    assert inputs.scheduler is not None
    scheduler = msgspec.structs.replace(inputs.scheduler, assumed_claims=())
    return msgspec.structs.replace(inputs, objects=objects, scheduler=scheduler)


def test_every_method_that_changes_what_is_known_of_devices_is_recorded() -> None:
    life = DeviceLife(1)
    noted = {one.method for one in OPERATIONS.values() if one.subject(life.core) is life.devices}
    changing = {name for name in vars(DeviceState) if name.startswith("set_")}
    changing |= {"assume", "take_back", "begin_release", "end_release"}
    asking = {
        "claim",
        "is_assumed",
        "assumed",
        "rules",
        "taints_of",
        "all_waiting",
        "slim_slice",
        "slim_claim",
        "slim_template",
    }
    asking |= {"has_reserved", "holding", "holding_for_groups", "nodes_with", "is_being_released", "releases"}
    asking |= {"backed", "extended_claims", "spec_of"}
    following_pods, restoring = {"pod_waits", "pod_waits_no_more"}, {"restore_release"}
    public = {name for name in vars(DeviceState) if not name.startswith("_")}
    assert public == changing | asking | following_pods | restoring, "is a new one in steps.OPERATIONS?"
    assert changing <= noted


def test_who_may_see_one_namespace_reads_nothing_of_others_claims() -> None:
    life = DeviceLife(3)
    life.live(50)
    selected = request("rival-request", 1, 'device.attributes["rival.example"].rival == "rival"')
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "rival-0", "uid": "uid-of-rival-0", "controller": True}
    theirs = claim("rival-claim", selected, config=[{"opaque": {"driver": "rival", "parameters": {}}}])
    metadata = {**theirs["metadata"], "namespace": "rivals", "ownerReferences": [owner]}
    life.shown(life.devices.slim_claim(typed({**theirs, "metadata": metadata}, ResourceClaim)))
    inputs = inputs_of(life)
    assert "rival" in b"".join(lines_of(Recording(inputs))).decode()
    seen = readable_in(inputs, NAMESPACE)
    assert "rival" not in b"".join(lines_of(Recording(seen))).decode()
    assert {one.metadata.key for one in seen.objects.resourceclaims} >= set(life.devices.claims) - {
        ("rivals", "rival-claim")
    }
    was = {key: answer.decision for key, answer in decide_queue(inputs).items() if key.namespace == NAMESPACE}
    assert {key: answer.decision for key, answer in decide_queue(seen).items() if key in was} == was
