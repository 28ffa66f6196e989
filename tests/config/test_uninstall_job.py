"""The Job that takes Tutti off from inside the cluster."""

from typing import Any

import yaml
from msgspec import convert

import tutti
from api.constants import SYSTEM_NAMESPACE
from api.gang import Plain, job_intent
from api.job import Job
from install.manifests import CONFIG_FOLDER, load
from kube.client.resources import DEPLOYMENTS


def documents() -> dict[str, dict[str, Any]]:
    text = (CONFIG_FOLDER / "uninstall" / "uninstall.yaml").read_text()
    return {body["kind"]: body for body in yaml.safe_load_all(text)}


def test_its_namespace_is_another_than_the_one_that_goes() -> None:
    found = documents()
    namespace = found["Namespace"]["metadata"]["name"]
    assert namespace != SYSTEM_NAMESPACE
    assert found["Job"]["metadata"]["namespace"] == found["ServiceAccount"]["metadata"]["namespace"] == namespace
    (subject,) = found["ClusterRoleBinding"]["subjects"]
    assert (subject["name"], subject["namespace"]) == (found["ServiceAccount"]["metadata"]["name"], namespace)


def test_nothing_of_it_is_among_what_it_removes() -> None:
    removed = {(each.resource.kind, each.name) for each in load("default")}
    assert not removed & {(kind, body["metadata"]["name"]) for kind, body in documents().items()}


def test_it_runs_the_command_of_the_same_image_and_is_no_gang() -> None:
    job = documents()["Job"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert tutti.parser().parse_args(container["args"]).command is tutti._uninstall
    deployed = [each.body["spec"]["template"]["spec"] for each in load("manager") if each.resource == DEPLOYMENTS]
    assert {container["image"]} == {each["containers"][0]["image"] for each in deployed}
    assert container["securityContext"] == deployed[0]["containers"][0]["securityContext"]
    assert job["spec"]["template"]["spec"]["securityContext"] == deployed[0]["securityContext"]
    assert isinstance(job_intent(convert(job, Job)), Plain)
