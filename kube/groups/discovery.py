"""Deciding once, at start, which group API is in force.

All processes of an installation must agree for as long as it lives: pods made under one API mean nothing to a scheduler
that reads the other. So the first process writes its choice into a ConfigMap and every later one follows that record, or
refuses to start. The record names the API and no version: a later Kubernetes serves the same groups in a newer one, which the
next process to start takes up by itself. The decision itself (`decide`) is pure.
"""

from collections.abc import Collection
from typing import Final, Literal

from api.constants import GROUP_API_CONFIG_MAP
from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import AlreadyExists, NotFound, OutcomeUnknown
from kube.client.resources import CONFIG_MAPS
from kube.groups.group_api import BUILT_IN, GROUP_APIS, NAMES, OWN, GroupAPI, one_version_each

RECORD_KEY: Final = "group-api"
"""Key of the ConfigMap under which the choice is recorded."""

Pinned = Literal["auto", "built-in", "own"]

_HOW_TO_GET_CRDS = "install them with `kubectl apply -k config/crd`, or let `tutti run` do it"


async def choose_group_api(client: Client, *, pinned: Pinned, system_namespace: str) -> GroupAPI:
    """The group API in force; records the choice when there is no record yet.

    Args:
        client: talks to the cluster in question.
        pinned: the setting; `auto` follows the record, else prefers the built-in API. The version is always negotiated.
        system_namespace: where the record is kept.

    Raises:
        ConfigurationError: the record contradicts the setting or the server, or nobody serves the chosen API.
        Forbidden: a right is missing.
    """
    record = await read_record(client, system_namespace)
    chosen = decide(record, pinned, await served_group_apis(client))
    if record is None:
        await _write_record(client, system_namespace, chosen)
        settled = await read_record(client, system_namespace)
        if settled != chosen.name:
            raise ConfigurationError(
                f"another process chose the group API {settled!r} at the same moment, this one {chosen.name!r}: "
                "give all processes the same setting and start them again"
            )
    return chosen


def decide(record: str | None, pinned: Pinned, served: Collection[GroupAPI]) -> GroupAPI:
    """The group API that follows from the record, the setting and what the server serves, in the newest version of it.

    Raises:
        ConfigurationError: they contradict each other.
    """
    if record is not None and record not in NAMES:
        raise ConfigurationError(
            f"ConfigMap {GROUP_API_CONFIG_MAP} records the unknown group API {record!r}: "
            f"set its key {RECORD_KEY!r} to one of {', '.join(sorted(NAMES))}, or delete it"
        )
    if record is not None and pinned not in {"auto", record}:
        raise ConfigurationError(
            f"the setting group_api is {pinned!r}, but this cluster runs with {record!r} (ConfigMap "
            f"{GROUP_API_CONFIG_MAP}): change the setting, or run `tutti uninstall` first and then start anew"
        )
    name = record or (None if pinned == "auto" else pinned)
    for api in one_version_each(served):
        if name in {None, api.name}:
            return api
    raise ConfigurationError(_not_served(name or OWN.name, recorded=record is not None))


def _not_served(name: str, *, recorded: bool) -> str:
    known = f" (recorded in ConfigMap {GROUP_API_CONFIG_MAP})" if recorded else ""
    if name == OWN.name:
        crds = f"{OWN.workloads.plural}.{OWN.workloads.group} and {OWN.pod_groups.plural}.{OWN.pod_groups.group}"
        return f"the group API is 'own'{known}, but the CRDs {crds} are not there: {_HOW_TO_GET_CRDS}"
    versions = " or ".join(api.pod_groups.api_version for api in GROUP_APIS if api.name == name)
    return (
        f"the group API is 'built-in'{known}, but the server does not serve {versions}: start it with "
        f"--feature-gates=GenericWorkload=true --runtime-config={BUILT_IN.pod_groups.api_version}=true, or run "
        "`tutti uninstall` and start anew with group_api 'own'"
    )


async def served_group_apis(client: Client) -> frozenset[GroupAPI]:
    """Those that the server serves, both kinds of each, every version by itself."""
    return frozenset([api for api in GROUP_APIS if await _serves(client, api)])


async def _serves(client: Client, api: GroupAPI) -> bool:
    # The group and version alone say nothing: every server has a scheduling.k8s.io/v1, for its PriorityClasses.
    try:
        found = await client.request_json("GET", f"/apis/{api.pod_groups.api_version}")
    except NotFound:
        return False
    plurals = {resource.get("name") for resource in found.get("resources") or []}
    return {api.workloads.plural, api.pod_groups.plural} <= plurals


async def read_record(client: Client, system_namespace: str) -> str | None:
    """The recorded choice, None when none was made yet."""
    try:
        record = await client.get(CONFIG_MAPS, GROUP_API_CONFIG_MAP, system_namespace)
    except NotFound:
        return None
    value = (record.get("data") or {}).get(RECORD_KEY)
    return str(value) if value else ""


async def _write_record(client: Client, system_namespace: str, chosen: GroupAPI) -> None:
    body = {
        "apiVersion": CONFIG_MAPS.api_version,
        "kind": CONFIG_MAPS.kind,
        "metadata": {"name": GROUP_API_CONFIG_MAP, "namespace": system_namespace},
        "data": {RECORD_KEY: chosen.name},
    }
    try:
        await client.create(CONFIG_MAPS, body, system_namespace)
    except NotFound as error:
        raise ConfigurationError(
            f"the namespace {system_namespace} does not exist: create it, or set system_namespace"
        ) from error
    except (AlreadyExists, OutcomeUnknown):
        # Whoever wrote it, the caller reads the record back and compares.
        return
