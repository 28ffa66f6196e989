"""Makes what people have named unreadable, consistently, so that the same is decided.

Every text becomes a made-up word, save for those whose meaning decides something: kinds, operators, amounts, times, keys of labels.
So a text that nobody thought of is hidden and not shown. The made-up words are in the order of the true ones, for of equals the
order decides. Whole numbers stay where they are compared: as values of the labels and taints that some `Gt` or `Lt` names, and as
ranks.
Texts that are for people alone are left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from api import constants
from kube.cache.decoding import cyclic_gc_paused
from scheduler.cache.ranks import RANK_LABELS
from scheduler.cache.selectors import whole_number
from scheduler.recording import anonymous_devices
from scheduler.recording.anonymous_devices import DeviceWalk, looked_at
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.pods import LONG_AGO

TO_COME: Final = "to-come"
_ANNOUNCED: Final = f"{TO_COME}/"

_SETTINGS: Final = "settings"
_DEVICES: Final = "devices"
"""Of the inputs: one word of ours."""

KEPT_FIELDS: Final = frozenset(
    {
        # what things are
        "apiVersion", "kind", "operator", "effect", "key", "topologyKey", "type", "status", "phase", "reason", "protocol",
        "restartPolicy", "whenUnsatisfiable", "nodeAffinityPolicy", "nodeTaintsPolicy", "matchLabelKeys",
        "mismatchLabelKeys", "accessModes", "volumeMode", "volumeBindingMode", "preemptionPolicy", "declaredFeatures",
        "action", "bindMountOptions", "role", "apiGroup",
        # amounts and times
        "capacity", "maximumVolumeSize", "creationTimestamp", "deletionTimestamp", "resourceVersion", "until_version",
        # of devices that are kept for somebody: what drivers call things
        "driver", "share_id",
        # of the scheduler
        "schedulerName", "place", "cause", "code", "plugin", "group_api", "server_version",
    }
)  # fmt: skip
"""Fields whose texts are kept."""

KEPT_WHOLE: Final = frozenset({"allocatable", "capacity", "requests", "limits", "overhead", "consumed", _SETTINGS})
"""Fields with amounts or choices by name, which are kept."""

NAMED_BY_KEY: Final = frozenset({"slot_of", "row_of", "image_bytes", "disruptedPods"})
"""Fields whose keys are names."""

KEPT_WORDS: Final = frozenset(
    {"", "true", "false", "0.0.0.0", constants.EMBEDDED_PROVIDER, constants.MANAGED_BY_TUTTI, "ReadWriteOnce", "unreadable"}
)  # fmt: skip
_KEPT_ANNOTATIONS: Final = frozenset(
    {
        constants.BIND_COMPLETED,
        constants.DEGRADED,
        constants.EXTENDED_CLAIM,
        constants.DESIRED_COUNT,
        constants.MANAGED_BY,
        constants.ON_SCHEDULING_TIMEOUT,
        constants.PROVIDER,
        constants.REPAIR_TIMEOUT,
        constants.SCHEDULING_TIMEOUT,
        constants.SLICE_SIZE,
        constants.SLICE_TOPOLOGY,
        constants.TOPOLOGY,
    }
)
_COMPARING: Final = frozenset({"Gt", "Lt"})
"""Operators to which the number counts that a text spells."""
_MESSAGE: Final = "message"
"""For people, save where it says who preempts."""
_OF_KUBERNETES: Final = "kubernetes.io/"
_OF_EVERYBODY: Final = (
    "priorityclasses", "storageclasses", "csidrivers", "csinodes", "deviceclasses", "resourceslices", "devicetaintrules",
)  # fmt: skip
_UNCHANGED: Final = ("resourceslices", "devicetaintrules")
"""Kinds of everybody's with nothing in them that anybody may not see; there are many devices, so they are looked at once."""
_PREFIX: Final = "n"
_ZONES: Final = "__"
_LATEST: Final = ":latest"

Say = Callable[[str], str]


def anonymous(inputs: DecisionInputs) -> DecisionInputs:
    """The same inputs with made-up names."""
    return with_words(inputs)[0]


def readable_in(inputs: DecisionInputs, namespace: str) -> DecisionInputs:
    """The same inputs as somebody may see them who may see one namespace: what is named elsewhere has made-up names.

    Names, labels and taints of nodes, PriorityClasses, storage classes and devices are everybody's; images on nodes and whose a
    volume is are not, nor what selects devices in others' claims. So whatever is said about these inputs names nobody else:
    it cannot.
    """
    objects = inputs.objects
    unchanged = {kind: getattr(objects, kind) for kind in _UNCHANGED}
    hidden, _ = _hidden(
        inputs, lambda plain: _seen_in(plain, namespace), keeps_expressions=False, leaves_out=tuple(unchanged)
    )
    return msgspec.structs.replace(hidden, objects=msgspec.structs.replace(hidden.objects, **unchanged))


def with_words(inputs: DecisionInputs) -> tuple[DecisionInputs, Mapping[str, str]]:
    """The same inputs with made-up names, and which name became which."""
    return _hidden(inputs, lambda _: {}, keeps_expressions=True)


def _hidden(
    inputs: DecisionInputs,
    readable: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    *,
    keeps_expressions: bool,
    leaves_out: Sequence[str] = (),
) -> tuple[DecisionInputs, Mapping[str, str]]:
    """With made-up words for all but those in a part of the inputs; kinds that are left out are looked at for that part only."""
    with cyclic_gc_paused():
        plain = msgspec.json.decode(msgspec.json.encode(inputs))
        compounds = dict(_compounds(plain))
        compared = frozenset(_compared(plain)).union(RANK_LABELS)
        ask = _Asked(compounds, looked_at(plain), compared, keeps_expressions=keeps_expressions)
        kept = _words(readable(plain), ask)
        plain["objects"].update(dict.fromkeys(leaves_out, ()))
        hidden = sorted(_words(plain, ask) - kept)
        prefix = _PREFIX
        while any(word.startswith(prefix) for word in kept):
            prefix += _PREFIX
        made = {word: word for word in kept} | {word: f"{prefix}{number:07d}" for number, word in enumerate(hidden)}
        shown = _Walk(made.__getitem__, ask).inputs(plain)
        return msgspec.json.decode(msgspec.json.encode(shown), type=DecisionInputs), made


class _Asked(NamedTuple):
    """What of the inputs decides how their texts are told."""

    compounds: Mapping[str, tuple[str, str]]
    looked_at: frozenset[str] | None
    compared: frozenset[str]
    keeps_expressions: bool


def _words(plain: Mapping[str, Any], ask: _Asked) -> set[str]:
    words: set[str] = set()

    def note(word: str) -> str:
        words.add(word)
        return word

    _Walk(note, ask).inputs(plain)
    return words


def _without_namespace(found: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**found, "metadata": {key: value for key, value in found["metadata"].items() if key != "namespace"}}


def _seen_in(plain: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
    """What somebody who may see one namespace sees of all."""
    objects = plain["objects"]
    seen: dict[str, Any] = {
        kind: [found for found in objects[kind] if found["metadata"].get("namespace") == namespace] for kind in objects
    }
    seen |= {kind: [_without_namespace(found) for found in objects[kind]] for kind in _OF_EVERYBODY}
    seen["nodes"] = [{**node, "status": {}} for node in objects["nodes"]]
    seen["namespaces"] = [found for found in objects["namespaces"] if found["metadata"]["name"] == namespace]
    return {"objects": seen}


def _is_plain(field: str, found: Mapping[str, Any]) -> bool:
    """Whether there are amounts by name, or settings, and nothing else under that field."""
    return field == _SETTINGS or all(isinstance(value, str | int | float) for value in found.values())


def _compounds(plain: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Names of claims that are made of the names of a pod and its volume."""
    for pod in plain["objects"]["pods"]:
        name = pod["metadata"].get("name", "")
        for volume in pod.get("spec", {}).get("volumes", ()):
            if "ephemeral" in volume:
                yield f"{name}-{volume['name']}", (name, volume["name"])


def _compared(value: Any) -> Iterator[str]:
    """The keys of labels and taints whose values are compared as numbers."""
    if isinstance(value, dict):
        if value.get("operator") in _COMPARING and isinstance(value.get("key"), str):
            yield value["key"]
        for found in value.values():
            if isinstance(found, dict | list):
                yield from _compared(found)
    elif isinstance(value, list):
        for found in value:
            if isinstance(found, dict | list):
                yield from _compared(found)


class _Walk:
    """Goes through all texts; `say` gives the word for each one that is not kept."""

    def __init__(self, say: Say, ask: _Asked) -> None:
        self._say: Final = say
        self._compounds: Final = ask.compounds
        self._compared: Final = ask.compared
        self._devices: Final = DeviceWalk(self._value, ask.looked_at, None if ask.keeps_expressions else say)
        self._said: Final[dict[str, str]] = {}

    def inputs(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value if key == _DEVICES else self._value(key, value) for key, value in plain.items()}

    def _value(self, field: str, value: Any) -> Any:
        # Texts first: there are a million of them in a large cluster.
        if isinstance(value, str):
            return value if field in KEPT_FIELDS else self._text(field, value)
        if isinstance(value, dict):
            return value if field in KEPT_WHOLE and _is_plain(field, value) else self._mapping(field, value)
        if isinstance(value, list):
            if field in anonymous_devices.KINDS:
                return [self._devices.value("", found) for found in value]
            return value if field == "resources" else [self._value(field, entry) for entry in value]
        return value

    def _mapping(self, field: str, found: Mapping[str, Any]) -> dict[str, Any]:
        if field == "annotations":
            return dict(self._annotations(found))
        if field in NAMED_BY_KEY:
            name = self._image if field == "image_bytes" else self._word
            return {name(key): value if isinstance(value, int) else LONG_AGO for key, value in found.items()}
        if found.get("type") == constants.CONDITION_PREEMPTED_BY and _MESSAGE in found:
            return {**found, _MESSAGE: "/".join(map(self._word, found[_MESSAGE].split("/")))}
        if field in {"labels", "matchLabels", "nodeSelector", "selector"} and all(
            isinstance(value, str) for value in found.values()
        ):
            return {
                key: value if key in self._compared and _is_number(value) else self._text(field, value)
                for key, value in found.items()
            }
        if self._compared and isinstance(named := found.get("key"), str) and named in self._compared:
            return {key: self._number_or(key, value) for key, value in found.items() if key != _MESSAGE}
        return {key: self._value(key, value) for key, value in found.items() if key != _MESSAGE}

    def _number_or(self, field: str, value: Any) -> Any:
        """Of a requirement, a taint or a toleration: numbers as they are."""
        if isinstance(value, list):
            return [self._number_or(field, entry) for entry in value]
        return value if _is_number(value) else self._value(field, value)

    def _annotations(self, found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for key, value in found.items():
            if key in _KEPT_ANNOTATIONS:
                yield key, value
            elif key == constants.MIN_RESOURCES:
                yield key, self._roles(value)
            else:
                yield key, self._word(value)

    def _roles(self, text: str) -> str:
        try:
            roles = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return ""
        return msgspec.json.encode(self._value("roles", roles)).decode()

    def _text(self, field: str, text: str) -> str:
        if field in {"image", "names"}:
            return self._image(text)
        if text.startswith(_ANNOUNCED):
            return self._uid(text)
        if field in {"uid", "uids"} or _ZONES not in text:
            return self._word(text)
        return _ZONES.join(map(self._word, text.split(_ZONES)))

    def _uid(self, uid: str) -> str:
        """That of a pod to come, which names the group that announces it."""
        group, _, number = uid.removeprefix(_ANNOUNCED).rpartition("/")
        return f"{TO_COME}/{self._word(group)}/{number}"

    def _image(self, name: str) -> str:
        """A missing tag means the latest one."""
        bare = name.removesuffix(_LATEST)
        return self._word(bare) + (_LATEST if bare != name else "")

    def _word(self, word: str) -> str:
        found = self._said.get(word)
        if found is None:
            found = self._said[word] = self._anew(word)
        return found

    def _anew(self, word: str) -> str:
        if word in KEPT_WORDS or word.startswith(_OF_KUBERNETES):
            return word
        compound = self._compounds.get(word)
        return self._say(word) if compound is None else "-".join(map(self._say, compound))


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and whole_number(value) is not None
