"""Revisions and manifests of LeaderWorkerSets as values."""

from localcluster.controllers.leaderworkersets.manifests import group_service, leader_set, shared_service, worker_set
from localcluster.controllers.leaderworkersets.revisions import as_it_was, key_of, latest, new_revision
from localcluster.controllers.statefulsets.revisions import holds_same
from tests.localcluster.leaderworkersets.values import PREFIX, Object, stored


def test_a_revision_holds_templates_size_and_network_and_nothing_else() -> None:
    revision = new_revision(stored(), 1)
    assert holds_same(revision, new_revision(stored(replicas=9, startupPolicy="LeaderReady"), 2))
    assert not holds_same(revision, new_revision(stored(template={"size": 4}), 1))
    assert not holds_same(revision, new_revision(stored(networkConfig={"subdomainPolicy": "UniquePerReplica"}), 1))
    key = key_of(revision)
    assert revision["metadata"]["name"] == f"g-{key}-1"
    assert revision["metadata"]["labels"] == {f"{PREFIX}name": "g", f"{PREFIX}template-revision-hash": key}


def test_a_set_without_network_has_the_revision_of_the_default() -> None:
    bare = stored()
    del bare["spec"]["networkConfig"]
    assert holds_same(new_revision(bare, 1), new_revision(stored(), 1))


def test_a_set_can_be_put_back_to_a_revision() -> None:
    old, now = stored(), stored(replicas=7, template={"size": 5, "restartPolicy": "None"})
    back = as_it_was(now, new_revision(old, 1))
    assert back["spec"] == {**old["spec"], "replicas": 7}
    assert now["spec"]["leaderWorkerTemplate"]["size"] == 5


def test_the_newest_of_several_revisions_with_one_key_counts() -> None:
    history = [new_revision(stored(), number, "k") for number in (1, 3, 2)]
    found = latest(history, "k")
    assert found is not None
    assert found["revision"] == 3
    assert latest(history, "other") is None


def leaders_of(lws: Object) -> Object:
    return leader_set(lws, partition=1, replicas=3, unavailable=2, key="k")


def leader_pod(**annotations: str) -> Object:
    labels = {f"{PREFIX}{key}": value for key, value in (("name", "g"), ("group-index", "1"), ("group-key", "gk"))}
    labels[f"{PREFIX}template-revision-hash"] = "k"
    head = {"name": "g-1", "namespace": "ns", "uid": "p", "labels": labels, "annotations": annotations}
    return {"metadata": head, "spec": {"containers": [{"name": "main"}]}}


def test_leaders_are_made_from_their_own_template_or_the_workers() -> None:
    own = {"metadata": {"labels": {"role": "leader"}}, "spec": {"containers": [{"name": "l", "image": "y"}]}}
    template = leaders_of(stored(template={"leaderTemplate": own}))["spec"]["template"]
    assert template["spec"]["containers"][0]["name"] == "l"
    assert template["metadata"]["labels"]["role"] == "leader"
    assert leaders_of(stored())["spec"]["template"]["spec"]["containers"][0]["name"] == "w"


def test_the_leaders_say_how_they_roll_out_and_how_many_are_wanted() -> None:
    made = leaders_of(stored())
    assert made["metadata"]["annotations"] == {f"{PREFIX}replicas": "2"}
    assert made["spec"]["replicas"] == 3
    assert made["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 1, "maxUnavailable": 2}
    assert made["spec"]["podManagementPolicy"] == "Parallel"


def test_labels_and_annotations_of_the_set_are_copied_to_its_statefulsets_and_not_to_pods() -> None:
    lws = stored()
    lws["metadata"] |= {"labels": {"queue": "q"}, "annotations": {"note": "n", f"{PREFIX}exclusive-topology": "rack"}}
    for made in (leaders_of(lws), worker_set(lws, leader_pod())):
        assert made["metadata"]["labels"]["queue"] == "q"
        assert made["metadata"]["annotations"]["note"] == "n"
        head = made["spec"]["template"]["metadata"]
        assert "queue" not in head["labels"]
        assert "note" not in head["annotations"]
        assert head["annotations"][f"{PREFIX}exclusive-topology"] == "rack"


def test_workers_follow_their_leader() -> None:
    made = worker_set(stored(), leader_pod(), ("rack", "r7"))
    assert made["metadata"]["name"] == "g-1"
    assert made["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Pod", "name": "g-1", "uid": "p", "controller": True, "blockOwnerDeletion": True}
    ]
    assert (made["spec"]["replicas"], made["spec"]["ordinals"]) == (2, {"start": 1})
    assert made["spec"]["template"]["spec"]["nodeSelector"] == {"rack": "r7"}
    annotations = made["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {f"{PREFIX}leader-name": "g-1", f"{PREFIX}size": "3"}


def test_workers_know_that_their_leader_has_tpus() -> None:
    leader = leader_pod()
    leader["spec"]["containers"][0]["resources"] = {"limits": {"google.com/tpu": "4"}}
    annotations = worker_set(stored(), leader)["spec"]["template"]["metadata"]["annotations"]
    assert annotations[f"{PREFIX}leader-requests-tpus"] == "true"


def test_subgroups_are_told_to_pods() -> None:
    policy = {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}
    lws = stored(template={"subGroupPolicy": policy, "size": 5})
    lws["metadata"]["annotations"] = {f"{PREFIX}subgroup-exclusive-topology": "rack"}
    for made in (leaders_of(lws), worker_set(lws, leader_pod())):
        annotations = made["spec"]["template"]["metadata"]["annotations"]
        assert annotations[f"{PREFIX}subgroup-size"] == "2"
        assert annotations[f"{PREFIX}subgroup-policy-type"] == "LeaderExcluded"
        assert annotations[f"{PREFIX}subgroup-exclusive-topology"] == "rack"


def test_each_group_may_have_its_own_subdomain() -> None:
    lws = stored(networkConfig={"subdomainPolicy": "UniquePerReplica"})
    assert leaders_of(lws)["spec"]["template"]["metadata"]["annotations"][f"{PREFIX}subdomainPolicy"] == (
        "UniquePerReplica"
    )
    assert leaders_of(lws)["spec"]["serviceName"] == "g"
    assert worker_set(lws, leader_pod())["spec"]["serviceName"] == "g-1"
    assert worker_set(stored(), leader_pod())["spec"]["serviceName"] == "g"


def test_services_have_no_address_and_show_pods_that_are_not_ready() -> None:
    for made, name, owner in (
        (shared_service(stored()), "g", "u"),
        (group_service(stored(), leader_pod()), "g-1", "p"),
    ):
        assert made["metadata"]["name"] == name
        assert made["metadata"]["ownerReferences"][0]["uid"] == owner
        assert (made["spec"]["clusterIP"], made["spec"]["publishNotReadyAddresses"]) == ("None", True)
