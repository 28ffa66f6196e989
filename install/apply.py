"""Making objects on the server equal to our manifests.

What exists is *replaced* in the parts that the manifest speaks of (everything but metadata, where labels and annotations are
added), with the version that was read. A merge patch could never take back a right or a schema field that a newer manifest
no longer has. The server itself drops a replacement that changes nothing, so doing it again is free.
"""

from collections.abc import Iterable
from typing import Any, Final, Literal

from api.errors import ConfigurationError
from install.manifests import Manifest
from install.poller import Poller
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, NotFound, OutcomeUnknown
from kube.client.resources import CUSTOM_RESOURCE_DEFINITIONS

Outcome = Literal["created", "changed", "unchanged"]

GONE_SECONDS: Final = 60.0
ESTABLISHED_SECONDS: Final = 30.0
_ATTEMPTS: Final = 6


async def find(client: Client, manifest: Manifest) -> dict[str, Any] | None:
    """The object of that name as it is on the server, None when there is none."""
    try:
        return await client.get(manifest.resource, manifest.name, manifest.namespace)
    except NotFound:
        return None


async def apply(client: Client, manifest: Manifest, poller: Poller) -> Outcome:
    """Create the object, or bring it to what the manifest says.

    Raises:
        ConfigurationError: an older one of that name does not go away, or somebody else keeps changing it.
        KubeError: the server refused, or cannot be reached.
    """
    for _ in range(_ATTEMPTS):
        live = await find(client, manifest)
        if live is None:
            if await _created(client, manifest):
                return "created"
        elif live["metadata"].get("deletionTimestamp"):
            await _wait_until_gone(client, manifest, live["metadata"]["uid"], poller)
        else:
            outcome = await _replaced(client, manifest, live)
            if outcome is not None:
                return outcome
    raise ConfigurationError(
        f"{manifest.title} keeps changing under our hands: is somebody else installing Tutti as well?"
    )


def merged(live: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The live object with everything that `wanted` says put into it; foreign labels, annotations and finalizers stay."""
    metadata = dict(live["metadata"])
    for key in ("labels", "annotations"):
        if wanted["metadata"].get(key):
            metadata[key] = {**(metadata.get(key) or {}), **wanted["metadata"][key]}
    return {**live, **wanted, "metadata": metadata}


async def _created(client: Client, manifest: Manifest) -> bool:
    try:
        await client.create(manifest.resource, manifest.body, manifest.namespace, parse=False)
    except (AlreadyExists, OutcomeUnknown):
        return False
    return True


async def _replaced(client: Client, manifest: Manifest, live: dict[str, Any]) -> Outcome | None:
    body = merged(live, manifest.body)
    try:
        answer = await client.replace(manifest.resource, body, manifest.name, manifest.namespace)
    except (Conflict, NotFound, OutcomeUnknown):
        return None
    same = answer["metadata"].get("resourceVersion") == live["metadata"].get("resourceVersion")
    return "unchanged" if same else "changed"


async def _wait_until_gone(client: Client, manifest: Manifest, uid: str, poller: Poller) -> None:
    async def is_gone() -> bool:
        live = await find(client, manifest)
        return live is None or live["metadata"]["uid"] != uid

    if not await poller.until(is_gone, within_seconds=GONE_SECONDS):
        raise ConfigurationError(f"{manifest.title} is being deleted and does not go away: look at its finalizers")


async def wait_until_served(client: Client, manifests: Iterable[Manifest], poller: Poller) -> None:
    """Wait until the server has established our CRDs and answers for their kinds.

    Raises:
        ConfigurationError: it does not, and why.
    """
    crds = [each for each in manifests if each.resource == CUSTOM_RESOURCE_DEFINITIONS]
    complaints: list[str] = []

    async def established() -> bool:
        complaints[:] = [text for crd in crds if (text := await _complaint(client, crd.name))]
        return not complaints and all([await _is_served(client, crd) for crd in crds])

    if not await poller.until(established, within_seconds=ESTABLISHED_SECONDS):
        raise ConfigurationError(
            "; ".join(complaints) or "the API server does not serve our CRDs although it took them"
        )


async def _is_served(client: Client, crd: Manifest) -> bool:
    spec = crd.body["spec"]
    for version in spec["versions"]:
        try:
            found = await client.request_json("GET", f"/apis/{spec['group']}/{version['name']}")
        except NotFound:
            return False
        if all(each.get("name") != spec["names"]["plural"] for each in found.get("resources") or []):
            return False
    return True


async def _complaint(client: Client, name: str) -> str | None:
    live = await client.get(CUSTOM_RESOURCE_DEFINITIONS, name)
    conditions = {each["type"]: each for each in (live.get("status") or {}).get("conditions") or []}
    refused = conditions.get("NamesAccepted", {})
    if refused.get("status") == "False":
        return f"CRD {name} is not accepted: {refused.get('message', 'its names are taken')}"
    return None if conditions.get("Established", {}).get("status") == "True" else f"CRD {name} is not established"
