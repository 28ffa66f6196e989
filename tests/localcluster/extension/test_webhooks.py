"""Webhooks are asked as their configurations say, over HTTPS, and their answers are acted upon."""

import base64
import random
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.admission.caller import Caller
from localcluster.apiserver.extension.admission.chain import MUTATING, VALIDATING, Chain
from localcluster.apiserver.status import StatusError
from localcluster.apiserver.store.memory import Store
from tests.localcluster.extension.crds import Object, asked, config_map
from tests.localcluster.extension.webhook_server import WebhookServer, patching, write_certificate


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[WebhookServer]:
    server = WebhookServer(tmp_path)
    await server.start()
    yield server
    await server.stop()


class World:
    """A store with configurations, and the chain that reads it."""

    def __init__(self, server: WebhookServer, caller: Caller) -> None:
        self.server = server
        self.store = Store()
        self.store.put(("", "namespaces"), {"metadata": {"name": "here", "labels": {"team": "a"}}})
        self.chain = Chain(self.store, caller, lambda user, wanted: wanted.verb == "get", random.Random(1))

    def configure(self, resource: tuple[str, str], *hooks: Object, name: str = "config") -> None:
        self.store.put(resource, {"metadata": {"name": name}, "webhooks": list(hooks)})

    def hook(self, path: str, **fields: Any) -> Object:
        bundle = base64.b64encode(self.server.certificate.read_bytes()).decode()
        rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]
        return {
            "name": f"{path}.example.com",
            "clientConfig": {"url": f"{self.server.url}/{path}", "caBundle": bundle},
            "rules": rules,
            "sideEffects": "None",
            "timeoutSeconds": 5,
            **fields,
        }

    async def mutated(self, obj: Object | None = None) -> AdmissionAttributes:
        attributes = asked(obj=obj or config_map(a="b"))
        await self.chain.mutate(attributes)
        return attributes

    async def refusal(self, obj: Object | None = None) -> StatusError:
        with pytest.raises(StatusError) as caught:
            await self.chain.validate(asked(obj=obj or config_map(a="b")))
        return caught.value

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.server.seen]


@pytest.fixture
async def world(server: WebhookServer) -> AsyncIterator[World]:
    caller = Caller(lambda namespace, name: name == "there")
    yield World(server, caller)
    await caller.close()


def label(name: str, value: str = "x") -> Object:
    return {"op": "add", "path": f"/metadata/labels/{name}", "value": value}


LABELLED = {"first": "yes"}


async def test_nothing_is_asked_where_nothing_is_configured(world: World) -> None:
    attributes = asked(obj=config_map())
    await world.chain.mutate(attributes)
    await world.chain.validate(attributes)
    assert world.paths() == []


async def test_mutating_webhooks_are_asked_by_name_and_each_sees_what_was_changed_before(world: World) -> None:
    world.configure(MUTATING, world.hook("second"), name="b")
    world.configure(MUTATING, world.hook("one"), world.hook("two"), name="a")
    world.server.replies["one"] = patching(label("one"))
    attributes = await world.mutated(config_map(labels=LABELLED))
    assert world.paths() == ["one", "two", "second"]
    assert attributes.obj is not None
    assert attributes.obj["metadata"]["labels"] == {**LABELLED, "one": "x"}
    assert world.server.seen[1][1]["object"] == attributes.obj


async def test_a_review_says_who_asks_for_what(world: World) -> None:
    world.configure(VALIDATING, world.hook("look"))
    old, new = config_map(a="b"), config_map(a="c")
    await world.chain.validate(asked("UPDATE", obj=new, old=old))
    (_, request, _) = world.server.seen[0]
    assert request["operation"] == "UPDATE"
    assert (request["object"], request["oldObject"]) == (new, old)
    assert request["kind"] == request["requestKind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert request["userInfo"] == {"username": "admin", "uid": "u-1", "groups": ["system:masters"]}
    assert (request["namespace"], request["name"], request["dryRun"]) == ("here", "c", False)


async def test_a_webhook_that_wants_it_is_asked_again_after_others_changed_the_object(world: World) -> None:
    again, never = world.hook("again", reinvocationPolicy="IfNeeded"), world.hook("never")
    world.configure(MUTATING, again, never, world.hook("changer"))
    world.server.replies["changer"] = patching(label("new"))
    await world.mutated(config_map(labels=LABELLED))
    assert world.paths() == ["again", "never", "changer", "again"]


async def test_nobody_is_asked_again_when_nothing_was_changed(world: World) -> None:
    world.configure(MUTATING, world.hook("one", reinvocationPolicy="IfNeeded"), world.hook("same"))
    world.server.replies["same"] = patching({"op": "replace", "path": "/data/a", "value": "b"})
    await world.mutated()
    assert world.paths() == ["one", "same"]


async def test_selectors_and_conditions_keep_webhooks_from_being_asked(world: World) -> None:
    condition = {"name": "c", "expression": "object.data.a == 'z'"}
    world.configure(
        MUTATING,
        world.hook("space", namespaceSelector={"matchLabels": {"team": "z"}}),
        world.hook("labels", objectSelector={"matchLabels": {"a": "b"}}),
        world.hook("condition", matchConditions=[condition]),
        world.hook("team", namespaceSelector={"matchLabels": {"team": "a", "kubernetes.io/metadata.name": "here"}}),
    )
    await world.mutated()
    assert world.paths() == ["team"]


async def test_a_condition_without_a_value_refuses_the_write_unless_failures_are_ignored(world: World) -> None:
    condition = {"name": "c", "expression": "object.nope == 1"}
    world.configure(VALIDATING, world.hook("ignores", matchConditions=[condition], failurePolicy="Ignore"), name="a")
    await world.chain.validate(asked(obj=config_map()))
    world.configure(VALIDATING, world.hook("fails", matchConditions=[condition]), name="b")
    refusal = await world.refusal()
    assert (refusal.code, refusal.reason) == (403, "Forbidden")
    expected = "expression 'object.nope == 1' resulted in error: no such key: nope"
    assert refusal.message == f'configmaps "c" is forbidden: {expected}'
    assert world.paths() == []


async def test_a_denial_reaches_the_sender(world: World) -> None:
    world.configure(VALIDATING, world.hook("fine"), world.hook("deny"))
    world.server.replies["deny"] = lambda _: {"allowed": False, "status": {"message": "no", "code": 422}}
    refusal = await world.refusal()
    assert (refusal.code, refusal.message) == (422, 'admission webhook "deny.example.com" denied the request: no')
    assert sorted(world.paths()) == ["deny", "fine"]


async def test_warnings_reach_the_sender(world: World) -> None:
    world.configure(VALIDATING, world.hook("warn"))
    world.server.replies["warn"] = lambda _: {"warnings": ["careful"]}
    attributes = asked(obj=config_map())
    await world.chain.validate(attributes)
    assert attributes.warnings == ["careful"]


async def test_a_patch_that_does_not_fit_is_an_internal_error(world: World) -> None:
    world.configure(MUTATING, world.hook("bad", failurePolicy="Ignore"))
    world.server.replies["bad"] = patching({"op": "replace", "path": "/nope/a", "value": 1})
    with pytest.raises(StatusError) as caught:
        await world.mutated()
    text = "replace operation does not apply: doc is missing path: /nope/a: missing value"
    assert (caught.value.code, caught.value.message) == (500, f"Internal error occurred: {text}")


async def test_connections_are_kept(world: World) -> None:
    world.configure(VALIDATING, world.hook("look"))
    for _ in range(3):
        await world.chain.validate(asked(obj=config_map()))
    assert len({connection for _, _, connection in world.server.seen}) == 1


async def test_a_changed_configuration_counts_from_the_next_write_on(world: World) -> None:
    world.configure(VALIDATING, world.hook("look"))
    await world.chain.validate(asked(obj=config_map()))
    record = world.store.get(VALIDATING, "", "config")
    assert record is not None
    world.store.delete(VALIDATING, record)
    await world.chain.validate(asked(obj=config_map()))
    assert world.paths() == ["look"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def test_a_webhook_that_is_down_is_judged_by_its_failure_policy(world: World) -> None:
    address = f"127.0.0.1:{free_port()}"
    target = {**world.hook("x")["clientConfig"], "url": f"https://{address}/x"}
    world.configure(VALIDATING, world.hook("ignores", clientConfig=target, failurePolicy="Ignore"), name="a")
    await world.chain.validate(asked(obj=config_map()))
    world.configure(VALIDATING, world.hook("fails", clientConfig=target), name="b")
    refusal = await world.refusal()
    assert (refusal.code, refusal.reason) == (500, "InternalError")
    assert refusal.message == (
        'Internal error occurred: failed calling webhook "fails.example.com": failed to call webhook: '
        f'Post "https://{address}/x?timeout=5s": dial tcp {address}: connect: connection refused'
    )


async def test_a_slow_webhook_has_its_time(world: World) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    try:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/x"
        target = {**world.hook("x")["clientConfig"], "url": url}
        world.configure(VALIDATING, world.hook("slow", clientConfig=target, timeoutSeconds=1))
        refusal = await world.refusal()
        assert refusal.message.endswith(f'Post "{url}?timeout=1s": context deadline exceeded')
    finally:
        listener.close()


async def test_a_webhook_with_another_authority_is_not_trusted(world: World, tmp_path: Path) -> None:
    other, _ = write_certificate(tmp_path, "other")
    bundle = base64.b64encode(other.read_bytes()).decode()
    target = {**world.hook("x")["clientConfig"], "caBundle": bundle}
    world.configure(VALIDATING, world.hook("x", clientConfig=target))
    refusal = await world.refusal()
    assert "tls: failed to verify certificate: x509: certificate signed by unknown authority" in refusal.message
    assert world.paths() == []


@pytest.mark.parametrize(("name", "told"), [("gone", 'service "gone" not found'), ("there", "no endpoints available")])
async def test_a_service_cannot_be_reached_from_here(world: World, name: str, told: str) -> None:
    target = {"service": {"namespace": "n", "name": name, "path": "/p"}}
    world.configure(VALIDATING, world.hook("x", clientConfig=target))
    refusal = await world.refusal()
    assert f'Post "https://{name}.n.svc:443/p?timeout=5s": {told}' in refusal.message


async def test_the_configuration_of_admission_itself_is_nobodys_business(world: World) -> None:
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
    world.configure(VALIDATING, world.hook("all", rules=rules))
    attributes = asked(obj=config_map())
    attributes.kind = _registration_kind()
    await world.chain.validate(attributes)
    assert world.paths() == []


def _registration_kind() -> Any:
    from localcluster.apiserver.kinds.kind import KindInfo
    from localcluster.apiserver.kinds.plain import PlainStrategy

    group, plural = VALIDATING
    return KindInfo(group, "v1", "ValidatingWebhookConfiguration", plural, PlainStrategy(), namespaced=False)
