"""What every verb works with."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from localcluster.apiserver.admission import Admission, NoAdmission
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext, User
from localcluster.apiserver.kinds.registry import Registry
from localcluster.apiserver.store.memory import Store
from localcluster.apiserver.store.snapshots import Snapshots


class Tables(Protocol):
    """Shows objects as the tables that kubectl prints."""

    def render(
        self,
        kind: KindInfo,
        objects: Sequence[Object],
        *,
        list_metadata: Object | None,
        include_object: str = "Metadata",
        with_columns: bool = True,
    ) -> Object:
        """A `meta.k8s.io/v1` Table of these objects."""


@dataclass(slots=True)
class Core:
    """The server's state and what it takes from outside.

    Attributes:
        clock: the time of day, UTC.
        random: names and UIDs come from here.
        tables: None as long as nobody can draw tables; JSON is answered then.
        snapshots: the lists that clients are reading page by page.
    """

    registry: Registry
    store: Store
    clock: Callable[[], datetime]
    random: random.Random
    admission: Admission = field(default_factory=NoAdmission)
    tables: Tables | None = None
    snapshots: Snapshots = field(default_factory=Snapshots)

    def context(self, user: User, *, dry_run: bool = False) -> RequestContext:
        """The context of a request that comes now."""
        return RequestContext(user, self.now(), self.random, dry_run)

    def now(self) -> str:
        """The time as objects carry it."""
        return rfc3339(self.clock())

    def new_uid(self) -> str:
        """A new object's UID."""
        return random_uid(self.random)


def random_uid(source: random.Random) -> str:
    """A random UUID (version 4); twice as fast as by way of the library's objects."""
    digits = f"{source.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def rfc3339(moment: datetime) -> str:
    """Whole seconds, UTC."""
    return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}Z"
