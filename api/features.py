"""Features of a node's kubelet that a pod needs, as kube-scheduler 1.37 infers them from its spec (KEP-5328).

A node lists what its kubelet has in `status.declaredFeatures`. Other declared features are about changes of running pods.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from api.pod import Container, PodSpec

RESTART_ALL_CONTAINERS: Final = "RestartAllContainersOnContainerExits"
HOST_NETWORK_USERS: Final = "UserNamespacesHostNetworkSupport"
BIND_MOUNT_OPTIONS: Final = "VolumeBindMountOptions"
KNOWN_FEATURES: Final = frozenset({RESTART_ALL_CONTAINERS, HOST_NETWORK_USERS, BIND_MOUNT_OPTIONS})

NO_FEATURES: Final[frozenset[str]] = frozenset()

_RESTART_ALL: Final = "RestartAllContainers"


class _Rule(msgspec.Struct, frozen=True):
    action: str = ""


class _Mount(msgspec.Struct, frozen=True, rename="camel"):
    bind_mount_options: tuple[str, ...] | None = None


_decode_rules: Final = msgspec.json.Decoder(tuple[_Rule, ...] | None).decode
_decode_mounts: Final = msgspec.json.Decoder(tuple[_Mount, ...] | None).decode
_decode_containers: Final = msgspec.json.Decoder(tuple[Container, ...] | None).decode


def required_features(spec: PodSpec) -> frozenset[str]:
    """The features without which a node cannot run the pod; never raises: what cannot be read counts as needed."""
    found = set()
    for container in (*spec.containers, *spec.init_containers):
        if container.restart_policy_rules and _restarts_all(container.restart_policy_rules):
            found.add(RESTART_ALL_CONTAINERS)
        if container.volume_mounts and _has_options(container.volume_mounts):
            found.add(BIND_MOUNT_OPTIONS)
    if spec.ephemeral_containers and _have_options(spec.ephemeral_containers):
        found.add(BIND_MOUNT_OPTIONS)
    if spec.host_network and spec.host_users is False:
        found.add(HOST_NETWORK_USERS)
    return frozenset(found) if found else NO_FEATURES


def fields_that_need(features: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The least fields of a container and of a pod's spec that need these features: what `required_features` finds again."""
    container: dict[str, Any] = {}
    spec: dict[str, Any] = {}
    for feature in features:
        if feature == RESTART_ALL_CONTAINERS:
            container["restartPolicyRules"] = [{"action": _RESTART_ALL}]
        elif feature == BIND_MOUNT_OPTIONS:
            container["volumeMounts"] = [{"bindMountOptions": ["noexec"]}]
        elif feature == HOST_NETWORK_USERS:
            spec |= {"hostNetwork": True, "hostUsers": False}
    return container, spec


def _restarts_all(rules: msgspec.Raw) -> bool:
    try:
        return any(rule.action == _RESTART_ALL for rule in _decode_rules(rules) or ())
    except (msgspec.MsgspecError, RecursionError):
        return True


def _has_options(mounts: msgspec.Raw) -> bool:
    # Every pod mounts something, hardly any with options: a look at the bytes is cheaper than reading them.
    if b"bindMountOptions" not in bytes(mounts):
        return False
    try:
        return any(mount.bind_mount_options for mount in _decode_mounts(mounts) or ())
    except (msgspec.MsgspecError, RecursionError):
        return True


def _have_options(containers: msgspec.Raw) -> bool:
    try:
        return any(
            each.volume_mounts and _has_options(each.volume_mounts) for each in _decode_containers(containers) or ()
        )
    except (msgspec.MsgspecError, RecursionError):
        return True
