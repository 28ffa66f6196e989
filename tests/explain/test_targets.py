"""KIND/NAME as people write it, and the items behind it."""

import msgspec
import pytest

from api.constants import LWS_NAME
from api.errors import ConfigurationError
from api.meta import OwnerReference
from explain.targets import KINDS, items_of, parse_target
from scheduler.tenants.question import parse_question
from tests.scheduler.core import build
from tests.scheduler.core.build import NAMESPACE, group_key, pod_key
from tests.scheduler.core.world import World


@pytest.mark.parametrize(
    ("text", "kind"), [("job/x", "job"), ("Pods/x", "pod"), ("gang/x", "podgroup"), ("lws/x", "lws")]
)
def test_kinds_are_taken_as_kubectl_takes_them(text: str, kind: str) -> None:
    assert str(parse_target(text, "ns")) == f"{kind}/x"


@pytest.mark.parametrize("text", ["x", "job/", "/x", "deployment/x", ""])
def test_other_words_are_a_mistake_that_says_what_would_do(text: str) -> None:
    with pytest.raises(
        ConfigurationError, match="is not one of job/NAME, lws/NAME, jobset/NAME, compositepodgroup/NAME, "
    ):
        parse_target(text, "ns")


def test_a_job_is_found_by_its_group_and_by_its_pods() -> None:
    world = World()
    world.group("g", 2, owner="uid-of-job")
    world.pods("g", 2, owner="uid-of-job")
    world.pod("alone", controller=("Job", "other"))
    assert items_of(world.state, parse_target("job/job", NAMESPACE)) == [group_key("g")]
    assert items_of(world.state, parse_target("job/other", NAMESPACE)) == [pod_key("alone")]
    assert items_of(world.state, parse_target("job/job", "elsewhere")) == []
    assert items_of(world.state, parse_target("pod/g-1", NAMESPACE)) == [group_key("g")]


def test_a_leader_worker_set_is_each_of_its_replicas() -> None:
    world = World()
    for index in range(2):
        world.group(f"serve-{index}", 1)
        world.pod(f"serve-{index}-0", group=f"serve-{index}", labels={LWS_NAME: "serve"})
    found = items_of(world.state, parse_target("lws/serve", NAMESPACE))
    assert found == [build.group_key("serve-0"), build.group_key("serve-1")]


@pytest.mark.parametrize("kind", sorted(set(KINDS.values())))
def test_the_scheduler_takes_questions_about_all_kinds(kind: str) -> None:
    assert parse_question({"namespace": "team", "kind": kind, "name": "some"}) is not None


def test_a_job_set_is_the_groups_that_it_owns_and_those_that_its_pods_name() -> None:
    world = World()
    made = build.group("made", 2)
    owner = OwnerReference("jobset.x-k8s.io/v1alpha2", "JobSet", "pair", "uid-of-pair", controller=True)
    metadata = msgspec.structs.replace(made.metadata, owner_references=(owner,))
    world.apply(world.state.upsert_group(msgspec.structs.replace(made, metadata=metadata)))
    world.pods("named", 1, labels={"jobset.sigs.k8s.io/jobset-name": "pair"})
    world.pods("other", 1, labels={"jobset.sigs.k8s.io/jobset-name": "else"})
    found = items_of(world.state, parse_target("jobset/pair", build.NAMESPACE))
    assert {key.name for key in found} == {"made", "named"}
