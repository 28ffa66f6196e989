"""What `fit`, `why` and `kubectl gang tree` say of whole JobSets, whole LeaderWorkerSets and trees is what becomes of them."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from verify.clusters.client import Object
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane, Ran
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.jobsets import JobSets, job_set, part
from verify.clusters.lws import Sets, leader_worker_set
from verify.clusters.tutti_process import COMMAND, environment, run_tutti

pytestmark = pytest.mark.one_api
SCOPE = "tutti.scheduler/scope"
SETTLE_SECONDS = 90
OWN = "tutti.scheduler/v1beta1"
REF = {"workloadName": "tree", "templateName": "t"}
PLURALS = {
    "JobSet": "jobsets",
    "LeaderWorkerSet": "leaderworkersets",
    "CompositePodGroup": "compositepodgroups",
    "PodGroup": "podgroups",
    "Job": "jobs",
}


def whole_job_set(name: str) -> list[Object]:
    """Three pods of one cpu each, in two Jobs."""
    return [job_set(name, part("driver", pods=1), part("worker", pods=2), scope="set")]


def whole_set(name: str) -> list[Object]:
    """Four pods of one cpu each, in two replicas."""
    return [leader_worker_set(name, replicas=2, size=2, annotations={SCOPE: "set"})]


def tree(name: str) -> list[Object]:
    """Three pods of one cpu each, in two Jobs whose groups make sense only together."""
    policy = {"gang": {"minGroupCount": 2}}
    root = {"workloadRef": REF, "schedulingPolicy": policy}
    made: list[Object] = [_object("CompositePodGroup", name, root)]
    for child, pods in ((f"{name}-driver", 1), (f"{name}-worker", 2)):
        spec = {"workloadRef": REF, "schedulingPolicy": {"gang": {"minCount": pods}}}
        made.append(_object("PodGroup", child, {**spec, "parentCompositePodGroupName": name}))
        job = indexed_job(child, pods)
        job["spec"]["template"]["metadata"]["annotations"]["tutti.scheduler/pod-group"] = child
        job["spec"]["template"]["spec"]["schedulerName"] = "tutti"
        made.append(job)
    return made


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": OWN, "kind": kind, "metadata": {"name": name}, "spec": spec}


@dataclass(frozen=True)
class Shape:
    """Something that starts whole: its manifests, how it is asked about and shown, its pods, and words of its tree."""

    made: Callable[[str], list[Object]]
    kind: str
    pods: int
    levels: tuple[str, ...]


SHAPES = {
    "job-set": Shape(whole_job_set, "jobset", 3, ("jobset/", "podgroup/")),
    "set": Shape(whole_set, "lws", 4, ("lws/", "compositepodgroup/", "podgroup/")),
    "tree": Shape(tree, "compositepodgroup", 3, ("compositepodgroup/", "podgroup/")),
}


class Asked:
    """One shape on a cluster: what is said of it, and what becomes of it."""

    def __init__(self, control_plane: ControlPlane, jobs: Jobs, shape: Shape) -> None:
        self._control_plane, self._api, self._namespace, self._shape = control_plane, jobs.api, jobs.namespace, shape
        self._kubeconfig = f"--kubeconfig={control_plane.kubeconfig_of(ADMIN)}"

    def fit(self, name: str) -> tuple[int, list[Object]]:
        """The exit code of `tutti fit`, and its items."""
        file = self._control_plane.folder / f"{self._namespace}-{name}.yaml"
        file.write_text("\n---\n".join(map(json.dumps, self._shape.made(name))))
        ran = self._tutti("fit", "-f", str(file), "-o", "json")
        assert ran.code in {0, 3, 4}, ran
        return ran.code, json.loads(ran.out)["items"]

    def why(self, name: str) -> Object:
        """The one answer of `tutti why`."""
        ran = self._tutti("why", f"{self._shape.kind}/{name}", "-o", "json")
        assert ran.code in {0, 3, 4}, ran
        (answer,) = json.loads(ran.out)
        return dict(answer)

    def tree(self, name: str) -> list[str]:
        """The lines of `kubectl gang tree`."""
        command = [
            str(Path(COMMAND).with_name("kubectl-gang")),
            "tree",
            f"{self._shape.kind}/{name}",
            "-n",
            self._namespace,
        ]
        done = subprocess.run(
            [*command, self._kubeconfig],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env=environment(self._control_plane.folder) | {"PATH": os.environ["PATH"]},
        )
        return str(done.stdout).splitlines()

    def submit(self, name: str) -> None:
        for made in self._shape.made(name):
            create = partial(self._api.create, PLURALS[made["kind"]], made, self._namespace)
            eventually(create, within_seconds=SETTLE_SECONDS)

    def places(self, name: str) -> Counter[str]:
        """Pods by node, of those that have one."""
        pods = self._api.list("pods", self._namespace)
        return Counter(
            pod["spec"]["nodeName"]
            for pod in pods
            if pod["metadata"]["name"].startswith(f"{name}-") and pod["spec"].get("nodeName")
        )

    def remove(self, *names: str) -> None:
        """Nothing of these is left; their pods go last, for whoever owns them makes them anew."""
        for made in (one for name in names for one in reversed(self._shape.made(name))):
            self._api.delete(PLURALS[made["kind"]], made["metadata"]["name"], self._namespace)
        for pod in self._api.list("pods", self._namespace):
            self._api.delete("pods", pod["metadata"]["name"], self._namespace)
        eventually(lambda: not self._api.list("pods", self._namespace), within_seconds=SETTLE_SECONDS)

    def _tutti(self, *words: str) -> Ran:
        return run_tutti(
            *words,
            "-n",
            self._namespace,
            self._kubeconfig,
            folder=self._control_plane.folder,
            within_seconds=SETTLE_SECONDS,
        )


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_said_of_something_that_starts_whole_is_what_becomes_of_it(
    name: str, control_plane: ControlPlane, jobs: Jobs, nodes: HollowNodes, sets: Sets, jobsets: JobSets
) -> None:
    shape = SHAPES[name]
    asked = Asked(control_plane, jobs, shape)
    nodes.add(cpu=str(shape.pods - 1))
    code, (item,) = asked.fit("first")
    assert (code, item["fits"]) == (4, False)
    asked.submit("first")

    def waits() -> bool:
        answer = asked.why("first")
        return (answer["verdict"], answer["members"]["pending"]) == ("never", shape.pods)

    eventually(waits, within_seconds=SETTLE_SECONDS, poll_seconds=1)
    if "compositepodgroup/" in shape.levels:
        assert Counter(one["state"] for one in asked.why("first")["groups"]) == {"fits": 1, "waits": 1}
    eventually(
        lambda: _levels(asked.tree("first"), "waiting") == shape.levels, within_seconds=SETTLE_SECONDS, poll_seconds=1
    )
    assert not asked.places("first")
    nodes.add(cpu="1")
    eventually(lambda: asked.places("first").total() == shape.pods, within_seconds=SETTLE_SECONDS)
    eventually(
        lambda: _levels(asked.tree("first"), "running") == shape.levels, within_seconds=SETTLE_SECONDS, poll_seconds=1
    )
    assert asked.why("first")["verdict"] == "started"

    nodes.add(cpu=str(shape.pods))
    code, (item,) = asked.fit("second")
    assert (code, item["fits"]) == (0, True)
    asked.submit("second")
    eventually(lambda: asked.places("second").total() == shape.pods, within_seconds=SETTLE_SECONDS)
    assert asked.places("second") == {share["node"]: share["pods"] for share in item["nodes"]}
    asked.remove("first", "second")


def _levels(lines: list[str], state: str) -> tuple[str, ...]:
    """Kinds from the top down; the groups among them only where all of them are in this state."""
    kinds: dict[str, bool] = {}
    for line in lines:
        kind = f"{line.lstrip('│├└─ ').partition('/')[0]}/"
        if kind.endswith("podgroup/"):
            kinds[kind] = kinds.get(kind, True) and f"  {state}" in line
        elif kind not in {"pod/", "workload/"}:
            kinds[kind] = True
    return tuple(kind for kind, is_good in kinds.items() if is_good)
