"""The commands of `kubectl gang` that read a cluster once: `list` and `tree`."""

import json
from datetime import UTC, datetime
from typing import Final

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.process.child import Say
from views.connection import USER_AGENT, Target, connect, group_apis
from views.kubectl.table import document, names, table, tree
from views.model.gang import owner_title
from views.model.objects import Objects
from views.model.queue import with_places
from views.model.tree import COMPOSITE, KINDS, kind_and_name, tree_of
from views.reading import groups_elsewhere, groups_in, read_objects

JSON: Final = "json"
WIDE: Final = "wide"
NAME: Final = "name"
OUTPUTS: Final = (WIDE, JSON, NAME)
COMPLETION_SECONDS: Final = 3.0


async def list_gangs(target: Target, output: str | None, say: Say, complain: Say) -> int:
    """Says the gangs of a namespace or of all; the exit code.

    Args:
        target: which cluster, which namespace.
        output: one of `OUTPUTS`, None for the usual columns.
        say: takes the answer.
        complain: takes what is not part of it.

    Raises:
        ConfigurationError: there is no cluster, no right, or no kind of groups.
    """
    credentials, namespace = connect(target)
    async with Client(credentials, user_agent=USER_AGENT) as client:
        apis = await group_apis(client)
        try:
            objects = await read_objects(client, apis, namespace)
            elsewhere = await groups_elsewhere(client, apis) if namespace else Objects()
        except KubeError as error:
            raise ConfigurationError(f"the cluster does not answer: {error}") from error
    gangs = objects.gangs()
    if elsewhere is not None:
        gangs = with_places(gangs, elsewhere.groups, elsewhere.tree_root)
    if output == JSON:
        say(json.dumps(document(gangs), indent=2))
    elif not gangs:
        complain(f"No gangs found in {namespace} namespace." if namespace else "No gangs found.")
    elif output == NAME:
        say(names(gangs, apis[0].pod_groups))
    else:
        say(table(gangs, datetime.now(UTC), with_namespace=namespace is None, is_wide=output == WIDE))
    return 0


async def show_tree(target: Target, what: str, output: str | None, say: Say) -> int:
    """Says what hangs together with an object; the exit code.

    Args:
        target: which cluster, which namespace.
        what: KIND/NAME.
        output: `json`, or None for a tree of lines.
        say: takes the answer.

    Raises:
        ConfigurationError: there is no cluster, no right, or no such object.
    """
    found = kind_and_name(what)
    if found is None:
        kinds = ", ".join(sorted(set(KINDS.values())))
        raise ConfigurationError(f"{what!r} is not of the form KIND/NAME with a KIND of {kinds}")
    credentials, namespace = connect(target)
    if namespace is None:
        raise ConfigurationError("a tree is of one object: name its namespace with -n instead of -A")
    async with Client(credentials, user_agent=USER_AGENT) as client:
        apis = await group_apis(client)
        try:
            objects = await read_objects(client, apis, namespace)
        except KubeError as error:
            raise ConfigurationError(f"the cluster does not answer: {error}") from error
    branch = tree_of(found[0], namespace, found[1], objects)
    if branch is None:
        raise ConfigurationError(f"there is no {found[0]}/{found[1]} in the namespace {namespace}")
    say(json.dumps(branch.as_json(), indent=2) if output == JSON else tree(branch, datetime.now(UTC)))
    return 0


async def titles(target: Target) -> list[str]:
    """Gangs of the namespace as KIND/NAME, by what they belong to, for completion.

    Raises:
        TuttiError: they cannot be had.
    """
    credentials, namespace = connect(target)
    async with Client(credentials, user_agent=USER_AGENT, timeout_seconds=COMPLETION_SECONDS) as client:
        apis = await group_apis(client)
        groups = await groups_in(client, apis, namespace)
    trees = {f"{COMPOSITE}/{group.parent}" for group in groups if group.parent}
    return sorted({owner_title(group) for group in groups} | trees)
