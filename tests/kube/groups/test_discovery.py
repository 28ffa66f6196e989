"""Which group API is in force: the record, the setting and the server together."""

from typing import Any

import pytest
from aiohttp import web

from api.constants import GROUP_API_CONFIG_MAP
from api.errors import ConfigurationError
from kube.client.client import Client
from kube.groups.discovery import RECORD_KEY, Pinned, choose_group_api, decide, served_group_apis
from kube.groups.group_api import BUILT_IN, BUILT_IN_V1, GROUP_APIS, OWN, GroupAPI, one_version_each
from tests.kube.scripted_server import ScriptedServer, hang_up, ok, refusal

BOTH = (BUILT_IN, OWN)


@pytest.mark.parametrize(
    ("record", "pinned", "served", "expected"),
    [
        (None, "auto", BOTH, BUILT_IN),
        (None, "auto", (OWN,), OWN),
        (None, "auto", (BUILT_IN,), BUILT_IN),
        (None, "own", BOTH, OWN),
        (None, "built-in", BOTH, BUILT_IN),
        ("own", "auto", BOTH, OWN),
        ("own", "own", BOTH, OWN),
        ("built-in", "auto", BOTH, BUILT_IN),
    ],
)
def test_the_decision(record: str | None, pinned: Pinned, served: tuple[GroupAPI, ...], expected: GroupAPI) -> None:
    assert decide(record, pinned, served) is expected


@pytest.mark.parametrize("record", [None, "built-in"])
@pytest.mark.parametrize("pinned", ["auto", "built-in"])
@pytest.mark.parametrize(
    ("served", "expected"),
    [
        ((BUILT_IN, OWN), BUILT_IN),
        ((OWN, BUILT_IN, BUILT_IN_V1), BUILT_IN_V1),
        ((OWN, BUILT_IN_V1), BUILT_IN_V1),
        ((BUILT_IN_V1,), BUILT_IN_V1),
    ],
)
def test_v1_comes_before_v1beta1_and_both_before_our_own_kinds(
    record: str | None, pinned: Pinned, served: tuple[GroupAPI, ...], expected: GroupAPI
) -> None:
    assert decide(record, pinned, served) is expected


def test_a_cluster_that_began_with_our_own_kinds_keeps_them_when_its_server_learns_v1() -> None:
    assert decide("own", "auto", GROUP_APIS) is OWN
    assert decide(None, "own", GROUP_APIS) is OWN


def test_whoever_lists_all_groups_lists_one_version_of_each_api() -> None:
    assert one_version_each(GROUP_APIS) == (BUILT_IN_V1, OWN)
    assert one_version_each({OWN, BUILT_IN}) == (BUILT_IN, OWN)
    assert one_version_each(()) == ()


@pytest.mark.parametrize(
    ("record", "pinned", "served", "says"),
    [
        ("own", "built-in", BOTH, "tutti uninstall"),
        ("built-in", "own", BOTH, "tutti uninstall"),
        ("own", "auto", (BUILT_IN,), r"workloads\.tutti\.scheduler and podgroups\.tutti\.scheduler are not there"),
        ("built-in", "auto", (OWN,), "does not serve scheduling.k8s.io/v1 or scheduling.k8s.io/v1beta1"),
        (None, "auto", (), "kubectl apply -k config/crd"),
        (None, "own", (BUILT_IN,), "tutti run"),
        (None, "built-in", (OWN,), "GenericWorkload=true"),
        ("mine", "auto", BOTH, "unknown group API 'mine'"),
        ("", "auto", BOTH, "unknown group API ''"),
    ],
)
def test_a_contradiction_says_what_to_do(
    record: str | None, pinned: Pinned, served: tuple[GroupAPI, ...], says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        decide(record, pinned, served)
    assert "\n" not in str(caught.value)


def test_the_two_apis_differ_where_the_rest_of_the_code_asks() -> None:
    assert BUILT_IN.pod_groups.path("ns", "g") == "/apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups/g"
    assert BUILT_IN_V1.pod_groups.path("ns", "g") == "/apis/scheduling.k8s.io/v1/namespaces/ns/podgroups/g"
    assert OWN.workloads.path("ns") == "/apis/tutti.scheduler/v1beta1/namespaces/ns/workloads"
    for flag in ("keeps_pod_field", "guards_itself"):
        assert (getattr(BUILT_IN, flag), getattr(OWN, flag)) == (True, False)
        assert getattr(BUILT_IN_V1, flag) is True
    assert BUILT_IN_V1.pods_own_group_reference is False
    assert (BUILT_IN.pods_own_group_reference, OWN.pods_own_group_reference) == (False, True)


class Cluster:
    """Serves discovery of some group APIs, and one ConfigMap."""

    def __init__(self, *served: GroupAPI) -> None:
        self.served = {f"/apis/{api.pod_groups.api_version}" for api in served}
        self.path = "/api/v1/namespaces/tutti-system/configmaps"
        self.has_namespace = True
        self.record: dict[str, Any] | None = None
        self.lose_answer = False
        self.rival: str | None = None
        self.creations = 0

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/apis/"):
            served = request.path in self.served
            kinds = [{"name": "workloads"}, {"name": "podgroups"}, {"name": "podgroups/status"}]
            answer = ok({"resources": kinds}) if served else refusal(404, "NotFound")
            if request.path == "/apis/scheduling.k8s.io/v1" and not served:
                answer = ok({"resources": [{"name": "priorityclasses"}]})
        elif request.method == "POST":
            answer = self._create(request.path, await request.json())
        else:
            assert request.path == f"{self.path}/{GROUP_API_CONFIG_MAP}"
            answer = refusal(404, "NotFound") if self.record is None else ok(self.record)
        return await answer(request)

    def _create(self, path: str, body: dict[str, Any]) -> Any:
        self.creations += 1
        assert path == self.path
        if not self.has_namespace:
            return refusal(404, "NotFound", "namespaces not found")
        if self.rival is not None:
            self.record = {"data": {RECORD_KEY: self.rival}}
        if self.record is not None:
            return refusal(409, "AlreadyExists")
        self.record = body
        return hang_up() if self.lose_answer else ok(body, status=201)


async def test_the_first_process_records_its_choice_and_the_next_follows_it(
    server: ScriptedServer, client: Client
) -> None:
    cluster = Cluster(OWN)
    server.always(cluster)
    assert await choose_group_api(client, pinned="auto", system_namespace="tutti-system") is OWN
    assert cluster.record is not None
    assert cluster.record["metadata"] == {"name": GROUP_API_CONFIG_MAP, "namespace": "tutti-system"}
    assert cluster.record["data"] == {RECORD_KEY: "own"}
    cluster.served.add(f"/apis/{BUILT_IN.pod_groups.api_version}")
    assert await choose_group_api(client, pinned="auto", system_namespace="tutti-system") is OWN
    assert cluster.creations == 1


async def test_a_server_has_its_priority_classes_in_v1_without_serving_groups_there(
    server: ScriptedServer, client: Client
) -> None:
    server.always(Cluster(BUILT_IN))
    assert await served_group_apis(client) == {BUILT_IN}
    server.always(Cluster())
    assert await served_group_apis(client) == frozenset()


@pytest.mark.parametrize("after", [(BUILT_IN, BUILT_IN_V1), (BUILT_IN_V1,)])
async def test_after_an_upgrade_the_record_stays_and_the_next_process_speaks_v1(
    server: ScriptedServer, client: Client, after: tuple[GroupAPI, ...]
) -> None:
    cluster = Cluster(BUILT_IN)
    server.always(cluster)
    assert await choose_group_api(client, pinned="auto", system_namespace="tutti-system") is BUILT_IN
    assert cluster.record is not None
    assert cluster.record["data"] == {RECORD_KEY: "built-in"}
    cluster.served = {f"/apis/{api.pod_groups.api_version}" for api in after}
    assert await choose_group_api(client, pinned="auto", system_namespace="tutti-system") is BUILT_IN_V1
    assert cluster.creations == 1


async def test_a_lost_answer_of_the_record_is_looked_up(server: ScriptedServer, client: Client) -> None:
    cluster = Cluster(OWN)
    cluster.lose_answer = True
    server.always(cluster)
    assert await choose_group_api(client, pinned="auto", system_namespace="tutti-system") is OWN


@pytest.mark.parametrize(("rival", "agree"), [("own", True), ("built-in", False)])
async def test_two_processes_that_start_at_once_agree_or_refuse(
    server: ScriptedServer, client: Client, rival: str, agree: bool
) -> None:
    cluster = Cluster(OWN)
    cluster.rival = rival
    server.always(cluster)
    if agree:
        assert await choose_group_api(client, pinned="auto", system_namespace="tutti-system") is OWN
    else:
        with pytest.raises(ConfigurationError, match="same setting"):
            await choose_group_api(client, pinned="auto", system_namespace="tutti-system")


async def test_a_missing_system_namespace_is_named(server: ScriptedServer, client: Client) -> None:
    cluster = Cluster(OWN)
    cluster.has_namespace = False
    server.always(cluster)
    with pytest.raises(ConfigurationError, match="namespace tutti-system does not exist"):
        await choose_group_api(client, pinned="auto", system_namespace="tutti-system")
