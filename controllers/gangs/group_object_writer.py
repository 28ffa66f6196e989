"""Writes the group objects of a gang scheduler that is not ours: created once per gang, by UID; then only their minimum changes."""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from api.constants import EVENT_FAILED_GANG_OBJECT_CREATE, EVENT_GANG_OBJECT_CREATED
from controllers.gangs.tools import Tools
from controllers.gangs.writes import create_or_find, patch
from controllers.provider_groups import ProviderGroup, resource_of
from kube.cache.store import KubeObject
from kube.client.errors import AnsweredError, NotFound
from providers.base import GroupKind, Provider
from providers.gang import Gang

MINIMUM_FIELDS: Final = ("minMember", "minResources")
"""The fields that change with the minimum."""


@dataclass(frozen=True, slots=True)
class GroupObjectWriter:
    """Makes the group objects of one gang what its scheduler needs.

    Attributes:
        tools: to write and to tell.
        owner: the controller of the objects: the Job, or the leader pod of a replica.
        subject: what the events are about; of the kind that the recorder is for.
        whose: the gang, for people: `Job train`.
        provider: its gang scheduler.
        kind: of that scheduler.
    """

    tools: Tools[Any]
    owner: KubeObject
    subject: KubeObject
    whose: str
    provider: Provider
    kind: GroupKind

    async def make(self, gang: Gang) -> None:
        """Create what is missing and bring the minimum of the rest up to date.

        Raises:
            KindMissing: the cluster does not know the kind.
            NameTaken: somebody else's object holds the name of one.
            Outdated: an object vanished meanwhile.
            KubeError: the server refused, or it is unknown what happened.
        """
        for manifest in self.provider.group_objects(gang):
            found = await self._create(manifest)
            if found.spec.min_member != manifest["spec"]["minMember"]:
                await self._set_minimum(found, manifest)

    async def _create(self, manifest: dict[str, Any]) -> ProviderGroup:
        tools, kind = self.tools, self.kind
        try:
            made, origin = await create_or_find(tools.client, resource_of(kind), manifest, ProviderGroup, self.owner)
        except NotFound as error:
            if error.details.get("name"):
                raise
            raise tools.provider_groups.is_missing(kind) from error
        except AnsweredError as error:
            if not error.outcome_unknown:
                note = f"Failed to create {kind.kind} of {self.provider.name} for {self.whose}: "
                tools.event_recorder.warn_once(
                    self.subject,
                    reason=EVENT_FAILED_GANG_OBJECT_CREATE,
                    note=note + error.message,
                    action="CreateGroupObject",
                )
            raise
        tools.metrics.object_created(kind.crd, origin)
        tools.provider_groups.note(kind, made)
        if origin == "created":
            note = f"Created {kind.kind} {made.metadata.name} of {self.provider.name} for {self.whose}"
            tools.event_recorder.normal(
                self.subject, reason=EVENT_GANG_OBJECT_CREATED, note=note, action="CreateGroupObject"
            )
        return made

    async def _set_minimum(self, found: ProviderGroup, manifest: dict[str, Any]) -> None:
        spec = {key: manifest["spec"][key] for key in MINIMUM_FIELDS if key in manifest["spec"]}
        body = {"metadata": {"uid": found.metadata.uid}, "spec": spec}
        answer = await patch(self.tools.client, resource_of(self.kind), found.metadata, body)
        self.tools.provider_groups.note(self.kind, msgspec.convert(answer, ProviderGroup))
