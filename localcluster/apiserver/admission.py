"""The place where others may change or refuse a write before it is stored."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from localcluster.apiserver.kinds.kind import KindInfo, Object, User

Verb = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(slots=True)
class AdmissionAttributes:
    """One write on its way.

    Attributes:
        obj: the object as it would be stored, or the subresource's body; None for a deletion. May be replaced.
        old: the object as it is stored; None for a creation.
        options: the CreateOptions, UpdateOptions, PatchOptions or DeleteOptions.
        object_api_version: of `obj`, when it is the body of a subresource such as `binding`.
        object_kind: likewise.
        warnings: texts appended here reach the sender.
    """

    verb: Verb
    kind: KindInfo
    subresource: str
    namespace: str
    name: str
    obj: Object | None
    old: Object | None
    options: Object
    user: User
    dry_run: bool
    object_api_version: str
    object_kind: str
    warnings: list[str] = field(default_factory=list)


class Admission(Protocol):
    """Changes or refuses writes."""

    async def mutate(self, attributes: AdmissionAttributes) -> None:
        """May change the object, or put another one in its place. StatusError: refused."""

    async def validate(self, attributes: AdmissionAttributes) -> None:
        """Sees the object as it would be stored. StatusError: refused."""


class NoAdmission:
    """Lets everything pass."""

    async def mutate(self, attributes: AdmissionAttributes) -> None:
        """Changes nothing."""

    async def validate(self, attributes: AdmissionAttributes) -> None:
        """Refuses nothing."""
