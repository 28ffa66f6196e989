"""Whole lives of LeaderWorkerSets on the embedded server: made, scaled, resized, mended."""

import asyncio

from kube.client.resources import CONTROLLER_REVISIONS, EVENTS, LEADER_WORKER_SETS, NODES, PODS, SERVICES, STATEFUL_SETS
from tests.localcluster.leaderworkersets.conftest import Cluster
from tests.localcluster.leaderworkersets.groups import NAMESPACE, eventually, lws, playing, pods

QUIET_SECONDS = 1.5


async def test_all_groups_become_ready_and_the_set_says_so(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=2, size=3)) as groups:
        await groups.available()
        assert await groups.pod_names() == ["g-0", "g-0-1", "g-0-2", "g-1", "g-1-1", "g-1-2"]
        status = (await groups.now())["status"]
        assert (status["replicas"], status["readyReplicas"], status["updatedReplicas"]) == (2, 2, 2)
        assert {each["type"]: each["status"] for each in status["conditions"]} == {
            "Progressing": "False",
            "Available": "True",
        }


async def test_groups_come_and_go_with_the_replicas_down_to_none_and_back(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=1)) as groups:
        await groups.available()
        await groups.client.patch(LEADER_WORKER_SETS, {"spec": {"replicas": 3}}, "g", NAMESPACE, subresource="scale")
        await groups.has_pods("g-0", "g-0-1", "g-1", "g-1-1", "g-2", "g-2-1")
        first = await groups.uid("g-0")
        await groups.change({"replicas": 1})
        await groups.has_pods("g-0", "g-0-1")
        assert await groups.uid("g-0") == first
        await groups.change({"replicas": 0})
        await groups.has_pods()
        await eventually(groups.is_available)
        assert [each["metadata"]["name"] for each in await groups.all(STATEFUL_SETS)] == ["g"]
        await groups.change({"replicas": 2})
        await groups.has_pods("g-0", "g-0-1", "g-1", "g-1-1")
        await groups.available()


async def test_a_group_of_one_has_no_workers(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=2, size=1)) as groups:
        await groups.available()
        assert await groups.pod_names() == ["g-0", "g-1"]
        assert [each["metadata"]["name"] for each in await groups.all(STATEFUL_SETS)] == ["g"]


async def test_a_change_of_size_makes_groups_of_the_new_size(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=1, size=2)) as groups:
        await groups.available()
        await groups.change({"leaderWorkerTemplate": {"size": 4}})
        await groups.has_pods("g-0", "g-0-1", "g-0-2", "g-0-3")
        await groups.available()
        env = (await groups.client.get(PODS, "g-0-3", NAMESPACE))["spec"]["containers"][0]["env"]
        assert {each["name"]: each["value"] for each in env} == {
            "LWS_LEADER_ADDRESS": "g-0.g.default",
            "LWS_GROUP_SIZE": "4",
            "LWS_WORKER_INDEX": "3",
        }


async def test_what_somebody_deletes_is_made_again(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=1, template={"restartPolicy": "None"})) as groups:
        await groups.available()
        for resource, name in ((SERVICES, "g"), (STATEFUL_SETS, "g-0"), (STATEFUL_SETS, "g")):
            old = (await groups.client.get(resource, name, NAMESPACE))["metadata"]["uid"]
            await groups.client.delete(resource, name, NAMESPACE, uid=old)

            async def is_another(resource=resource, name=name, old=old) -> bool:  # type: ignore[no-untyped-def]
                return bool((await groups.client.get(resource, name, NAMESPACE))["metadata"]["uid"] != old)

            await eventually(is_another)
            await groups.has_pods("g-0", "g-0-1")
            await groups.available()


async def test_a_missing_revision_is_made_again(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=1)) as groups:
        await groups.available()
        key = await groups.revisions()
        for revision in await groups.all(CONTROLLER_REVISIONS):
            if revision["metadata"]["ownerReferences"][0]["kind"] == LEADER_WORKER_SETS.kind:
                meta = revision["metadata"]
                await groups.client.delete(CONTROLLER_REVISIONS, meta["name"], NAMESPACE, uid=meta["uid"])
        await groups.change({"replicas": 2})
        await groups.has_pods("g-0", "g-0-1", "g-1", "g-1-1")
        assert await groups.revisions() == key


async def test_workers_wait_until_their_leader_is_ready(cluster: Cluster) -> None:
    blocked = {"leaderTemplate": pods("x:1", nodeSelector={"ready": "yes"})}
    async with playing(cluster, lws(replicas=1, startupPolicy="LeaderReady", template=blocked)) as groups:
        await eventually(lambda: groups.uid("g-0"))
        await eventually(lambda: groups.holds("Progressing"))
        assert await groups.pod_names() == ["g-0"]
        await groups.client.patch(NODES, {"metadata": {"labels": {"ready": "yes"}}}, "n0")
        await groups.has_pods("g-0", "g-0-1")
        await groups.available()


async def test_workers_go_where_their_leader_went_when_groups_are_kept_apart(cluster: Cluster) -> None:
    manifest = lws(replicas=2, annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"})
    manifest["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    async with playing(cluster, manifest) as groups:
        await eventually(lambda: groups.uid("g-1"))
        assert [each["metadata"]["name"] for each in await groups.all(STATEFUL_SETS)] == ["g"]
        for number in range(2):
            labels = {"rack": f"r{number}", "disk": "ssd"}
            await groups.client.patch(NODES, {"metadata": {"labels": labels}}, f"n{number}")
        for number in range(2):
            await eventually(lambda number=number: groups.set_named(f"g-{number}"))  # type: ignore[misc]
            leader = await groups.client.get(PODS, f"g-{number}", NAMESPACE)
            workers = await groups.set_named(f"g-{number}")
            rack = "r" + leader["spec"]["nodeName"].removeprefix("n")
            assert workers["spec"]["template"]["spec"]["nodeSelector"] == {"disk": "ssd", "rack": rack}


async def test_each_group_may_have_a_service_of_its_own(cluster: Cluster) -> None:
    async with playing(cluster, lws(networkConfig={"subdomainPolicy": "UniquePerReplica"})) as groups:
        await groups.available()
        services = {each["metadata"]["name"]: each for each in await groups.all(SERVICES)}
        assert sorted(services) == ["g-0", "g-1"]
        owner = services["g-1"]["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("Pod", "g-1", await groups.uid("g-1"))
        assert services["g-1"]["spec"]["selector"] == {
            "leaderworkerset.sigs.k8s.io/name": "g",
            "leaderworkerset.sigs.k8s.io/group-index": "1",
        }
        for name in ("g-1", "g-1-1"):
            pod = await groups.client.get(PODS, name, NAMESPACE)
            assert pod["spec"]["subdomain"] == "g-1"
            assert pod["spec"]["containers"][0]["env"][0]["value"] == "g-1.g-1.default"


async def test_a_deleted_set_takes_everything_along(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=2)) as groups:
        await groups.available()
        uid = (await groups.now())["metadata"]["uid"]
        await groups.client.delete(LEADER_WORKER_SETS, "g", NAMESPACE, uid=uid, propagation="Foreground")

        async def nothing_left() -> bool:
            left = [await groups.all(kind) for kind in (PODS, STATEFUL_SETS, SERVICES, CONTROLLER_REVISIONS)]
            return not any(left) and not (await groups.client.list(LEADER_WORKER_SETS, NAMESPACE))["items"]

        await eventually(nothing_left)


async def test_people_are_told_what_happens(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=1)) as groups:
        await groups.available()

        async def told() -> bool:
            events = (await groups.client.list(EVENTS, NAMESPACE))["items"]
            of_set = {each["reason"] for each in events if each["regarding"]["kind"] == "LeaderWorkerSet"}
            of_leaders = {each["reason"] for each in events if each["regarding"]["kind"] == "StatefulSet"}
            return of_set >= {"CreatingRevision", "GroupsProgressing", "AllGroupsReady"} and of_leaders == {
                "SuccessfulCreate"
            }

        await eventually(told)


async def test_at_rest_nothing_is_written(cluster: Cluster) -> None:
    manifest = lws(replicas=2, rolloutStrategy={"rollingUpdateConfiguration": {"partition": 1}})
    async with playing(cluster, manifest) as groups:
        await groups.available()

        async def versions() -> dict[str, str]:
            kinds = (PODS, STATEFUL_SETS, SERVICES, CONTROLLER_REVISIONS)
            found = [await groups.now(), *[each for kind in kinds for each in await groups.all(kind)]]
            return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in found}

        async def is_quiet() -> bool:
            before = await versions()
            await asyncio.sleep(QUIET_SECONDS)
            return await versions() == before

        await eventually(is_quiet)
        assert await is_quiet()
