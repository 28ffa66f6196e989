"""Users are several people at once, and each object is somebody's: its changes come one after the other."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

from verify.soak.changes import Change
from verify.soak.cluster import Place
from verify.soak.users import Users


class SlowToCreate:
    """A server that answers a creation when it is told to."""

    def __init__(self) -> None:
        self.may_create = threading.Event()
        self.done: list[str] = []

    def create(self, resource: str, body: dict[str, Any], namespace: str | None) -> None:
        self.may_create.wait()
        self.done.append(f"create {body['name']}")

    def delete(self, resource: str, name: str, namespace: str | None) -> None:
        self.done.append(f"delete {name}")


def test_what_is_still_being_created_is_deleted_after_that() -> None:
    server = SlowToCreate()
    cluster: Any = SimpleNamespace(admin=server)
    place = Place(cluster, tutti=cast("Any", None), proxy=cast("Any", None), nodes=("node",), notes_webhooks=False)
    users = Users(place, seed=1, rate=20.0)
    with ThreadPoolExecutor(4) as pool:
        users.submit(pool, Change("create", "jobs", "one", {"name": "one"}))
        deleted = users.submit(pool, Change("delete", "jobs", "one"))
        users.submit(pool, Change("delete", "jobs", "another")).result()
        assert server.done == ["delete another"]
        server.may_create.set()
        deleted.result()
    assert server.done == ["delete another", "create one", "delete one"]
    assert users.refused == 0
