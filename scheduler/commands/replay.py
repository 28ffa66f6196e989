"""`tutti replay`: repeats the decisions in a recording, or decides what waits in it, and shows what would be otherwise."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from api.errors import ConfigurationError
from kube.client.errors import one_line
from scheduler.cache.cluster import UnknownPod
from scheduler.cache.records import EntityKey
from scheduler.core import DECIDING
from scheduler.recording.file import Recording, read
from scheduler.recording.outcome import DecisionOutcome, PreemptionOutcome
from scheduler.recording.replay import Answer, Repeated, decide_queue, repeat
from scheduler.recording.restore import settings_of
from scheduler.settings import SchedulerSettings

EXIT_SAME: Final = 0
EXIT_DIFFERENT: Final = 1

Say = Callable[[str], None]


def main(file: Path, changes: Sequence[str], *, as_json: bool, say: Say) -> int:
    """Repeat a recording; 0 when nothing differs, 1 when something does.

    Args:
        file: the recording.
        changes: `NAME=VALUE` of settings that are to be other than they were, values as YAML.
        as_json: one JSON document instead of lines for people.
        say: gets the lines.

    Raises:
        ConfigurationError: the file cannot be read, or a setting is none.
    """
    recording = read(file)
    settings = changed_settings(recording, changes) if changes else None
    show = _repeated if recording.steps else _queue
    try:
        return show(recording, settings, as_json=as_json, say=say)
    except (LookupError, UnknownPod, msgspec.MsgspecError) as error:
        raise ConfigurationError(
            f"{file} contradicts itself: {type(error).__name__}: {one_line(str(error))}"
        ) from error


def changed_settings(recording: Recording, changes: Sequence[str]) -> SchedulerSettings:
    """The recorded settings with some of them changed.

    Raises:
        ConfigurationError: one is no `NAME=VALUE`, unknown, without a part in decisions, or has an unusable value.
    """
    wanted: dict[str, Any] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise ConfigurationError(f"--set {change!r} is no NAME=VALUE")
        if name in SchedulerSettings.model_fields and name not in DECIDING:
            raise ConfigurationError(f"the setting {name!r} has no part in decisions, so there is nothing to see")
        try:
            wanted[name] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigurationError(f"the value of --set {name} is no YAML: {one_line(str(error))}") from error
    return settings_of(recording.inputs, **wanted)


# --- recorded decisions ------------------------------------------------------------------------------------------------


def _repeated(recording: Recording, settings: SchedulerSettings | None, *, as_json: bool, say: Say) -> int:
    same, different = 0, list[Repeated]()
    for one in repeat(recording.inputs, recording.steps, settings):
        if one.is_same:
            same += 1
        else:
            different.append(one)
    if as_json:
        say(
            _document({"decisions": same + len(different), "same": same, "differences": list(map(_as_json, different))})
        )
    else:
        for one in different:
            say(f"{_name(one.key)}: was {_short(one.was)}")
            say(f"{' ' * len(_name(one.key))}   is {_short(one.now)}")
        say(f"{same + len(different)} decisions repeated: {same} identical, {len(different)} different")
    return EXIT_DIFFERENT if different else EXIT_SAME


def _as_json(one: Repeated) -> dict[str, Any]:
    return {"item": _item(one.key), "was": msgspec.to_builtins(one.was), "is": msgspec.to_builtins(one.now)}


# --- what waits --------------------------------------------------------------------------------------------------------


def _queue(recording: Recording, settings: SchedulerSettings | None, *, as_json: bool, say: Say) -> int:
    was = decide_queue(recording.inputs)
    now = decide_queue(recording.inputs, settings) if settings is not None else was
    different = [key for key in {**was, **now} if was.get(key) != now.get(key)]
    if as_json:
        say(_document({"items": list(_answers(was, now)), "different": len(different)}))
        return EXIT_DIFFERENT if different else EXIT_SAME
    for key in now:
        if key in different:
            say(f"{_name(key)}: was {_of(was.get(key))}")
            say(f"{' ' * len(_name(key))}   is {_of(now[key])}")
        elif settings is None:
            say(f"{_name(key)}: {_of(now[key])}")
    placed = sum(answer.decision.result == "scheduled" for answer in now.values())
    said = f", {len(different)} differ from what they were" if settings is not None else ""
    say(f"{len(now)} items wait: {placed} would be placed now{said}")
    return EXIT_DIFFERENT if different else EXIT_SAME


def _answers(was: Mapping[EntityKey, Answer], now: Mapping[EntityKey, Answer]) -> Iterator[dict[str, Any]]:
    for key in {**was, **now}:
        before, after = was.get(key), now.get(key)
        yield {
            "item": _item(key),
            "was": msgspec.to_builtins(before) if before is not None else None,
            "is": msgspec.to_builtins(after) if after is not None else None,
            "same": before == after,
        }


# --- for people --------------------------------------------------------------------------------------------------------


def _of(answer: Answer | None) -> str:
    if answer is None:
        return "not waiting"
    found = answer.preemption
    return _short(answer.decision) + (f"; {_short(found)}" if found is not None and found.message else "")


def _short(outcome: DecisionOutcome | PreemptionOutcome) -> str:
    if isinstance(outcome, PreemptionOutcome):
        return outcome.message or outcome.result
    if outcome.result != "scheduled":
        return outcome.message or outcome.result
    nodes: dict[str, int] = {}
    for _, node in outcome.bindings:
        nodes[node] = nodes.get(node, 0) + 1
    shown = ", ".join(node if count == 1 else f"{node} ({count})" for node, count in sorted(nodes.items()))
    return f"placed on {shown}"


def _name(key: EntityKey) -> str:
    return f"{'podgroup' if key.kind == 'group' else 'pod'}/{key.name} in {key.namespace}"


def _item(key: EntityKey) -> dict[str, str]:
    return {
        "kind": "PodGroup" if key.kind == "group" else "Pod",
        "namespace": key.namespace,
        "name": key.name,
        "uid": key.uid,
    }


def _document(value: Mapping[str, Any]) -> str:
    return json.dumps(msgspec.to_builtins(value))
