"""What a kind is to the rest of the server: its names, its scope, and the strategy that knows its rules.

Pure. Objects are plain dicts. A stored object is never changed in place; an object that a request brought belongs to that
request, and strategies change it in place until it is stored.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from localcluster.apiserver.fielderrors import FieldError

Object = dict[str, Any]
Resource = tuple[str, str]
"""Group and plural: where objects of a kind are kept."""

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class User:
    """Who sent a request."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class RequestContext:
    """What the rules of a kind may ask of the request and the world.

    Attributes:
        user: who sent it.
        now: RFC 3339, whole seconds.
        random: for generated names and UIDs.
        dry_run: nothing is to be stored.
        warnings: texts appended here are sent as Warning headers.
    """

    user: User
    now: str
    random: random.Random
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scale:
    """The `scale` view of an object."""

    replicas: int
    status_replicas: int
    selector: str


class Strategy(Protocol):
    """The rules of one kind. Everything is pure and synchronous."""

    def decode(self, obj: Object) -> list[str]:
        """Drop unknown fields; the complaints about them."""

    def default(self, obj: Object) -> None:
        """Fill in defaults."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """What a new object may not bring itself is dropped or set."""

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """What this subresource may not change is put back; the generation counts on."""

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What is wrong with the object, or with the change."""

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        """What the sender should know although the object is accepted."""

    def scale(self, obj: Object) -> Scale | None:
        """The object's scale, None when it has none."""

    def set_scale(self, obj: Object, replicas: int) -> None:
        """Put the number of replicas into the object."""


Form = Callable[[Object], Object]
"""Makes another form of an object; never changes its argument."""


@dataclass(frozen=True, slots=True)
class KindInfo:
    """One kind in one version, as it is served.

    Attributes:
        storage: where objects are kept, when not under the kind's own group and plural.
        from_storage: makes the served form of a stored object.
        to_storage: makes the form that is stored.
        unconditional_update: an update need not name a resourceVersion.
        create_on_update: an update of a missing object creates it.
        orphans_by_default: deletion leaves dependents alone unless told otherwise.
        collects_garbage: deletion may set the garbage collector's finalizers at all.
        returns_deleted: the answer to a deletion is the object and not a Status.
        fields: field selectors beside the name and the namespace.
        definition: the CRD it comes from; None when it is built in.
        preferred: its version is the one of its group that clients prefer.
    """

    group: str
    version: str
    kind: str
    plural: str
    strategy: Strategy
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    subresources: frozenset[str] = frozenset()
    verbs: tuple[str, ...] = ALL_VERBS
    storage: Resource | None = None
    from_storage: Form | None = None
    to_storage: Form | None = None
    unconditional_update: bool = True
    create_on_update: bool = False
    orphans_by_default: bool = False
    collects_garbage: bool = True
    returns_deleted: bool = False
    fields: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    definition: Object | None = None
    preferred: bool = True
    list_kind: str = ""

    @property
    def api_version(self) -> str:
        """`apiVersion` as manifests write it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> Resource:
        """Where its objects are kept."""
        return self.storage or (self.group, self.plural)

    @property
    def qualified(self) -> str:
        """Plural and group, as messages name a resource."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        """Kind and group, as validation messages name it."""
        group = self.resource[0]
        return f"{self.kind}.{group}" if group else self.kind

    @property
    def kind_of_list(self) -> str:
        """The kind of its lists."""
        return self.list_kind or self.kind + "List"

    @property
    def singular_name(self) -> str:
        """The singular for kubectl."""
        return self.singular or self.kind.lower()

    def served(self, stored: Object) -> Object:
        """The stored object in this version's form."""
        return self.from_storage(stored) if self.from_storage else stored

    def stored(self, served: Object) -> Object:
        """The object in the form that is kept."""
        return self.to_storage(served) if self.to_storage else served
