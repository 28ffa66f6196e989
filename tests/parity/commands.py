"""The kubectl commands that a person uses, run against both servers: exit code, output and complaints are compared.

They run in order, in one namespace, against servers on which nothing else is going on.
"""

from dataclasses import dataclass
from typing import Any

from tests.parity.scripts.apps import stateful_set
from tests.parity.scripts.coordination import lease
from tests.parity.scripts.objects import config_map, group, job, node, of, pod
from tests.parity.scripts.storage import claim, volume

NAMESPACE = "parity-kubectl"
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}
TWICE = job("twice", spec={"parallelism": 2, "completions": 2, "completionMode": "Indexed", "suspend": True})
WIDER = job("twice", spec={"parallelism": 3, "completions": 3, "completionMode": "Indexed", "suspend": True})
ABOUT = {"apiVersion": "v1", "kind": "Pod", "name": "one", "namespace": NAMESPACE}
OLD_EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "old"},
    "involvedObject": ABOUT,
    "reason": "Started",
    "message": "Started it.",
    "type": "Normal",
    "source": {"component": "kubelet", "host": "n1"},
    "firstTimestamp": "2026-01-15T08:00:00Z",
    "lastTimestamp": "2026-01-15T08:05:00Z",
    "count": 3,
}
NEW_EVENT = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "new"},
    "regarding": ABOUT,
    "reason": "Waiting",
    "note": "No room.",
    "type": "Warning",
    "action": "Scheduling",
    "reportingController": "tutti.scheduler/scheduler",
    "reportingInstance": "s-1",
    "eventTime": "2026-01-15T08:00:00.123456Z",
}
STORAGE_CLASS = of("storage.k8s.io/v1", "StorageClass", "parity-kubectl", provisioner="parity.example.org")
CONTROLLER = of(
    "v1",
    "ReplicationController",
    "old",
    spec={"replicas": 1, "template": DEPLOYMENT["spec"]["template"]},  # type: ignore[index]
)
UNKNOWN_FIELD = job("odd", spec={"parallelizm": 2})


@dataclass(frozen=True, slots=True)
class Command:
    """One command; `code_only` where the words are each server's own."""

    line: str
    manifest: dict[str, Any] | None = None
    code_only: bool = False

    @property
    def name(self) -> str:
        """The command and what it was given."""
        return self.line + (f" < {self.manifest['kind']} {self.manifest['metadata']['name']}" if self.manifest else "")


COMMANDS = [
    Command("api-resources --api-group=batch --no-headers"),
    Command("api-resources --api-group=tutti.scheduler --no-headers"),
    Command("create -f -", job("plain", spec={"suspend": True})),
    Command("create -f -", job("plain")),
    Command("create -f -", UNKNOWN_FIELD),
    Command("create -f - --validate=warn --dry-run=server", UNKNOWN_FIELD),
    Command("create -f - --validate=false --dry-run=server", UNKNOWN_FIELD),
    Command("apply -f -", TWICE),
    Command("apply -f -", TWICE),
    Command("diff -f -", WIDER, code_only=True),
    Command("apply -f - --dry-run=server", WIDER),
    Command("apply -f -", WIDER),
    Command("apply -f -", job("twice", spec={"completionMode": "NonIndexed", "suspend": True})),
    Command("apply -f -", DEPLOYMENT),
    Command("apply -f -", {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 3}}),  # type: ignore[dict-item]
    Command("apply -f -", group("gang")),
    Command("apply -f -", group("gang", schedulingPolicy={"gang": {"minCount": 3}})),
    Command("apply -f -", group("none", schedulingPolicy={})),
    Command("create -f -", pod("one", labels={"app": "a"})),
    Command("create -f -", OLD_EVENT),
    Command("create -f -", NEW_EVENT),
    Command("create -f -", node("parity-kubectl")),
    Command("create configmap made --from-literal=a=b"),
    Command("create job quick --image=i -- true"),
    Command("create job tried --image=i --dry-run=server -o name"),
    Command("create deployment made --image=i"),
    Command("create secret generic made --from-literal=a=b"),
    Command("create serviceaccount robot"),
    Command("create namespace parity-kubectl-made"),
    Command("create priorityclass parity-kubectl --value=5"),
    Command('run shell --image=i --restart=Never --overrides={"spec":{"schedulerName":"nobody"}}'),
    Command("replace -f -", config_map("made", data={"c": "d"})),
    Command("replace -f -", config_map("nothing")),
    Command("get pods"),
    Command("get pods -o wide"),
    Command("get po,job -l app=a"),
    Command("get pod one -o yaml"),
    Command("get pod one -o jsonpath={.spec.schedulerName}"),
    Command("get pods -o name --sort-by=.metadata.name"),
    Command("get pods --field-selector=metadata.name=one --show-labels"),
    Command("get pods --chunk-size=1"),
    Command("get jobs -o wide"),
    Command("get job twice -o json"),
    Command("get gang"),
    Command("get podgroups -o wide"),
    Command("get tutti"),
    Command("get all"),
    Command("get nodes parity-kubectl -o wide"),
    Command("get deploy,sa,secret,cm/made"),
    Command("get nothings"),
    Command("get pod nothing"),
    Command("get pods --raw-output"),
    Command("get pods --watch --request-timeout=1s", code_only=True),
    Command("get --raw /api/v1/namespaces/parity-kubectl/pods/nothing"),
    Command("describe pod one"),
    Command("describe job twice"),
    Command("describe node parity-kubectl"),
    Command("describe podgroup gang"),
    Command("describe deployment web"),
    Command("describe pod nothing"),
    Command("explain pod.spec.containers", code_only=True),
    Command("explain job.spec.completionMode", code_only=True),
    Command("explain node", code_only=True),
    Command("explain podgroup.spec.schedulingPolicy.gang.minCount"),
    Command("explain pod.spec.nothing", code_only=True),
    Command("explain job --recursive", code_only=True),
    Command('patch job twice -p {"spec":{"parallelism":2}}'),
    Command('patch job twice --type=merge -p {"metadata":{"annotations":{"a":"b"}}}'),
    Command('patch job twice --type=json -p [{"op":"remove","path":"/metadata/annotations/a"}]'),
    Command('patch job twice --type=json -p [{"op":"remove","path":"/metadata/annotations/nothing"}]'),
    Command('patch job twice --type=merge -p {"spec":{"completionMode":"NonIndexed"}}'),
    Command('patch podgroup gang --type=merge -p {"spec":{"schedulingPolicy":{"gang":{"minCount":4}}}}'),
    Command('patch podgroup gang -p {"spec":{}}'),
    Command("label pod one x=y"),
    Command("label pod one x=z"),
    Command("label pod one x=z --overwrite"),
    Command("label pod one x-"),
    Command("annotate job twice a=b"),
    Command("set image deployment/web c=j"),
    Command("scale job twice --replicas=2"),
    Command("scale deployment web --replicas=2"),
    Command("scale deployment web --replicas=3 --current-replicas=9"),
    Command("cordon parity-kubectl"),
    Command("cordon parity-kubectl"),
    Command("uncordon parity-kubectl"),
    Command("taint node parity-kubectl a=b:NoSchedule"),
    Command("drain parity-kubectl --ignore-daemonsets"),
    Command("wait job/twice --for=condition=complete --timeout=1s"),
    Command("wait job/twice --for=jsonpath={.spec.suspend}=true --timeout=5s"),
    Command("wait pod/nothing --for=delete --timeout=1s"),
    Command("wait pod/nothing --for=condition=Ready --timeout=1s"),
    Command("logs one"),
    Command("logs nothing"),
    Command("events"),
    Command("events --for pod/one"),
    Command("get events -o wide"),
    Command("get events.v1.events.k8s.io old -o yaml"),
    Command("get events"),
    Command("auth can-i create pods"),
    Command("auth can-i create pods --as=nobody"),
    Command("auth can-i --list --as=nobody", code_only=True),
    Command("auth whoami"),
    Command("top pod one"),
    Command("apply --server-side -f -", config_map("server-side"), code_only=True),
    Command("delete job plain"),
    Command("delete job plain"),
    Command("delete job plain --ignore-not-found"),
    Command("delete pod one --grace-period=0 --force"),
    Command("delete pod shell --now"),
    Command("delete podgroup gang --dry-run=server"),
    Command("delete podgroup gang"),
    Command("delete -f -", DEPLOYMENT),
    Command("delete configmap --all", code_only=True),
    Command("delete job -l nothing=here"),
    Command("delete job --all"),
    Command("delete node parity-kubectl"),
    Command("delete priorityclass parity-kubectl"),
    Command("create -f -", claim("data")),
    Command("create -f -", volume("parity-kubectl")),
    Command("create -f -", {**STORAGE_CLASS}),
    Command("get pvc"),
    Command("get pv parity-kubectl"),
    Command("get sc parity-kubectl"),
    Command("get pvc data -o wide"),
    Command("describe pvc data", code_only=True),
    Command("describe pv parity-kubectl", code_only=True),
    Command("describe storageclass parity-kubectl"),
    Command('patch pvc data -p {"spec":{"storageClassName":"other"}}', code_only=True),
    Command("annotate pvc data volume.kubernetes.io/selected-node=n1"),
    Command("get csinodes"),
    Command("get csidrivers"),
    Command("get volumeattachments"),
    Command("get csistoragecapacities"),
    Command("create poddisruptionbudget guard --selector=app=a --min-available=1"),
    Command("get pdb"),
    Command("describe pdb guard"),
    Command("create -f -", lease("election", metadata={"namespace": NAMESPACE})),
    Command("get leases"),
    Command("create role reader --verb=get,list --resource=pods"),
    Command("create rolebinding reader --role=reader --serviceaccount=parity-kubectl:robot"),
    Command("get role,rolebinding reader"),
    Command("describe role reader"),
    Command("describe rolebinding reader"),
    Command("auth can-i get pods --as=system:serviceaccount:parity-kubectl:robot"),
    Command("auth can-i delete pods --as=system:serviceaccount:parity-kubectl:robot"),
    Command("create token robot"),
    Command("create token nobody"),
    Command("create token robot --duration=5s"),
    Command("create -f -", CONTROLLER),
    Command("get rc -o wide"),
    Command("scale rc old --replicas=2"),
    Command("create -f -", stateful_set("set")),
    Command("get sts -o wide"),
    Command("scale sts set --replicas=0"),
    Command("rollout status sts set --timeout=1s", code_only=True),
    Command("get controllerrevisions"),
    Command("get mutatingwebhookconfigurations,validatingwebhookconfigurations"),
    Command("get crd podgroups.tutti.scheduler -o jsonpath={.spec.names.shortNames}"),
    Command("delete rc old"),
    Command("delete sts set"),
    Command("delete pvc data --wait=false"),
    Command("delete pv parity-kubectl --wait=false"),
    Command("delete sc parity-kubectl"),
    Command("delete pdb,lease,role,rolebinding --all"),
]
