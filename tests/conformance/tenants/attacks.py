"""What hostile tenants write: groups and pods that ask for too much, objects that are padded, updates without an end."""

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import urllib3

from tests.conformance.tenants.tenant import Tenant
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.eventually import eventually
from verify.clusters.groups import pod_group
from verify.clusters.jobs import POD_GROUP, indexed_job

AT_ONCE = 8
PATIENCE_SECONDS = 120
EMPTIED_SECONDS = 900
"""Thousands of objects are more than the server deletes within the time of one request: it is asked again for the rest."""
END_SECONDS = 60
LEAST_TOO_MUCH = 1000
MORE_THAN_ANY_NODE = str(LEAST_TOO_MUCH)
LARGEST = 2**31 - 1
"""The largest number that `minCount` can be."""


def member(name: str, group: str, *, cpu: str = MORE_THAN_ANY_NODE, node: str = "", **metadata: Any) -> Object:
    """A pod that says it is of this group; with `node` it is put there past every scheduler."""
    annotations = {POD_GROUP: group, **metadata.pop("annotations", {})}
    container = {"name": "main", "image": "registry.example/x:1", "resources": {"requests": {"cpu": cpu}}}
    spec: Object = {
        "schedulerName": "tutti",
        "schedulingGroup": {"podGroupName": group},
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    placed = {"nodeName": node} if node else {}
    return {"metadata": {"name": name, "annotations": annotations, **metadata}, "spec": {**spec, **placed}}


def hopeless(
    api: Api, name: str, pods: int, *, need: int, cpu: str = MORE_THAN_ANY_NODE
) -> Iterator[tuple[str, Object]]:
    """A group and its pods, none of which has room anywhere: what to create, in order."""
    yield "podgroups", pod_group(api, name, need)
    for number in range(pods):
        yield "pods", member(f"{name}-{number}", name, cpu=cpu)


def padded_job(name: str, size: int, *, pad_bytes: int, **settings: Any) -> Object:
    """A gang that asks for too much, with so many bytes that nobody needs."""
    job = indexed_job(name, size, cpu=MORE_THAN_ANY_NODE, **settings)
    job["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "PAD", "value": "x" * pad_bytes}]
    return job


def create_all(who: Tenant, objects: Iterable[tuple[str, Object]], stop: threading.Event | None = None) -> None:
    """Creates all of them; who is told to come back later does, so that in the end they are there, unless it is stopped."""

    def create(each: tuple[str, Object]) -> None:
        if stop is None or not stop.is_set():
            _create(who, *each)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(create, objects))


def _create(who: Tenant, resource: str, body: Object) -> None:
    def is_there() -> bool:
        try:
            who.create(resource, body)
        except urllib3.exceptions.HTTPError:
            return False
        except ApiError as error:
            if error.status != 409:
                raise
        return True

    eventually(is_there, within_seconds=PATIENCE_SECONDS)


@contextmanager
def going_on(attack: Callable[[threading.Event], None]) -> Iterator[None]:
    """The attack goes on meanwhile; it ends by itself once the event is set. What it raised is raised here."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(attack, stop)
        try:
            yield
        finally:
            stop.set()
            running.result(END_SECONDS)


def update_every_second(who: Tenant, names: list[tuple[str, str]], stop: threading.Event) -> None:
    """Each of these objects, as (plural, name), is changed once a second, as far as the server keeps up."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number in itertools.count():
            change = {"metadata": {"labels": {"round": str(number)}}}
            list(pool.map(_patch, itertools.repeat(who), names, itertools.repeat(change)))
            if stop.wait(1.0):
                return


def update_evenly(who: Tenant, names: list[tuple[str, str]], per_second: int, stop: threading.Event) -> None:
    """These objects are changed in turn, so many a second, as far as the server keeps up; prints how many it were."""
    begin = time.monotonic()

    def change(first: int) -> int:
        for number in itertools.count(first, AT_ONCE):
            if stop.wait(max(0.0, begin + number / per_second - time.monotonic())):
                return number // AT_ONCE
            _patch(who, names[number % len(names)], {"metadata": {"labels": {"round": str(number)}}})
        raise AssertionError("counting does not end")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        changes = sum(pool.map(change, range(AT_ONCE)))
    sys.stdout.write(f"{changes / (time.monotonic() - begin):.0f} updates a second of {per_second}\n")


def _patch(who: Tenant, what: tuple[str, str], body: Object) -> None:
    try:
        who.api.patch(*what, body, who.namespace)
    except (ApiError, urllib3.exceptions.HTTPError):
        return  # a server that has too much to do may say so: an attacker goes on


def empty_namespace(admin: Api, namespace: str) -> None:
    """Asks the server to remove what a tenant has made, all at once; whoever needs it gone waits for that."""
    for resource in ("jobs", "pods", "podgroups", "workloads"):
        path = f"{admin.path(resource, namespace)}?propagationPolicy=Background&gracePeriodSeconds=0"

        def asked(path: str = path) -> bool:
            try:
                admin.request("DELETE", path)
            except urllib3.exceptions.HTTPError:
                return False
            return True

        eventually(asked, within_seconds=EMPTIED_SECONDS)
