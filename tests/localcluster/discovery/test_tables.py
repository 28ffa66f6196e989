"""Tables of the built-in kinds, and what is around the rows."""

from typing import Any

import pytest

from localcluster.apiserver.discovery.tables.render import Tables
from localcluster.apiserver.status import StatusError
from tests.localcluster.discovery.kinds import JOB, NOW, POD, Object, definition, kind, metadata, row, table

TEMPLATE: Object = {"spec": {"containers": [{"name": "a", "image": "b"}, {"name": "c", "image": "d"}]}}


def test_a_table_of_a_list_has_the_lists_metadata() -> None:
    listed = {"resourceVersion": "9", "continue": "more", "remainingItemCount": 3}
    made = Tables(lambda: NOW).render(POD, [], list_metadata=listed)
    assert (made["kind"], made["apiVersion"], made["metadata"], made["rows"]) == ("Table", "meta.k8s.io/v1", listed, [])


def test_a_table_of_one_object_has_its_version() -> None:
    assert table(POD, {"metadata": metadata(), "spec": {}})["metadata"] == {"resourceVersion": "7"}


@pytest.mark.parametrize("included", ["None", "Metadata", "Object"])
def test_rows_carry_as_much_of_the_object_as_asked(included: str) -> None:
    pod = {"metadata": metadata(), "spec": {}}
    shown = table(POD, pod, include_object=included)["rows"][0]["object"]
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": pod["metadata"]}
    assert shown == {"None": None, "Metadata": partial, "Object": pod}[included]


def test_asking_for_something_else_is_refused() -> None:
    with pytest.raises(StatusError, match="must be 'Metadata', 'Object', 'None', or empty") as refused:
        table(POD, include_object="Everything")
    assert refused.value.code == 400


def test_later_events_of_a_watch_repeat_no_columns() -> None:
    assert table(POD, {"metadata": metadata(), "spec": {}}, with_columns=False)["columnDefinitions"] is None


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({"completions": 3, "parallelism": 3}, {"succeeded": 1}, ("Running", "1/3", "")),
        ({"parallelism": 2}, {}, ("Running", "0/1 of 2", "")),
        ({"parallelism": 1}, {"succeeded": 1}, ("Running", "1/1", "")),
        ({"completions": 1}, {"startTime": "2027-01-15T07:59:50Z"}, ("Running", "0/1", "10s")),
        (
            {"completions": 1},
            {"startTime": "2027-01-15T07:58:50Z", "completionTime": "2027-01-15T07:58:55Z", "conditions": ["Complete"]},
            ("Complete", "0/1", "5s"),
        ),
        ({"completions": 1}, {"conditions": ["Failed", "FailureTarget"]}, ("Failed", "0/1", "")),
        ({"completions": 1}, {"conditions": ["Suspended"]}, ("Suspended", "0/1", "")),
        ({"completions": 1}, {"conditions": ["FailureTarget"]}, ("FailureTarget", "0/1", "")),
    ],
)
def test_a_job_says_how_far_it_is(spec: Object, status: Object, expected: tuple[str, str, str]) -> None:
    conditions = [{"type": name, "status": "True"} for name in status.get("conditions", [])]
    job = {
        "metadata": metadata(),
        "spec": {"template": TEMPLATE, **spec},
        "status": {**status, "conditions": conditions},
    }
    cells = row(JOB, job)
    assert (cells["Status"], cells["Completions"], cells["Duration"]) == expected
    assert (cells["Containers"], cells["Images"], cells["Selector"]) == ("a,c", "b,d", "<none>")


def test_a_deleted_job_terminates() -> None:
    job = {"metadata": metadata(deletionTimestamp="2027-01-15T07:59:00Z"), "spec": {}, "status": {}}
    assert row(JOB, job)["Status"] == "Terminating"


ROWS: list[tuple[tuple[str, str, str, str], Object, dict[str, Any]]] = [
    (
        ("", "v1", "Node", "nodes"),
        {
            "metadata": metadata(labels={"node-role.kubernetes.io/gpu": "", "kubernetes.io/role": "a"}),
            "spec": {"unschedulable": True},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "nodeInfo": {"kubeletVersion": "v1", "osImage": "os"},
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            },
        },
        {
            "Status": "Ready,SchedulingDisabled",
            "Roles": "a,gpu",
            "Version": "v1",
            "Internal-IP": "10.0.0.1",
            "External-IP": "<none>",
            "OS-Image": "os",
            "Kernel-Version": "<unknown>",
        },
    ),
    (("", "v1", "Node", "nodes"), {"metadata": metadata(), "spec": {}}, {"Status": "Unknown", "Roles": "<none>"}),
    (
        ("batch", "v1", "CronJob", "cronjobs"),
        {
            "metadata": metadata(),
            "spec": {"schedule": "* * * * *", "suspend": False, "jobTemplate": {"spec": {"template": TEMPLATE}}},
        },
        {
            "Schedule": "* * * * *",
            "Timezone": "<none>",
            "Suspend": "False",
            "Active": 0,
            "Last Schedule": "<none>",
            "Images": "b,d",
        },
    ),
    (
        ("", "v1", "Service", "services"),
        {
            "metadata": metadata(),
            "spec": {
                "clusterIPs": ["10.1.1.1"],
                "ports": [{"port": 80, "nodePort": 30000}, {"port": 53, "protocol": "UDP"}],
                "selector": {"b": "2", "a": "1"},
            },
        },
        {
            "Type": "ClusterIP",
            "Cluster-IP": "10.1.1.1",
            "External-IP": "<none>",
            "Port(s)": "80:30000/TCP,53/UDP",
            "Selector": "a=1,b=2",
        },
    ),
    (
        ("", "v1", "Service", "services"),
        {"metadata": metadata(), "spec": {"type": "LoadBalancer"}},
        {"External-IP": "<pending>", "Port(s)": "<none>"},
    ),
    (
        ("apps", "v1", "Deployment", "deployments"),
        {
            "metadata": metadata(),
            "spec": {
                "replicas": 3,
                "selector": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["b", "a"]}]},
            },
            "status": {"readyReplicas": 1},
        },
        {"Ready": "1/3", "Up-to-date": 0, "Available": 0, "Selector": "k in (a,b)"},
    ),
    (
        ("apps", "v1", "StatefulSet", "statefulsets"),
        {"metadata": metadata(), "spec": {"replicas": 2}},
        {"Ready": "0/2"},
    ),
    (
        ("apps", "v1", "ReplicaSet", "replicasets"),
        {"metadata": metadata(), "spec": {"replicas": 2}, "status": {"replicas": 1}},
        {"Desired": 2, "Current": 1, "Ready": 0},
    ),
    (
        ("apps", "v1", "DaemonSet", "daemonsets"),
        {"metadata": metadata(), "spec": {}, "status": {"desiredNumberScheduled": 4}},
        {"Desired": 4, "Node Selector": "<none>"},
    ),
    (
        ("", "v1", "Namespace", "namespaces"),
        {"metadata": metadata(), "status": {"phase": "Active"}},
        {"Status": "Active", "Age": "100s"},
    ),
    (
        ("", "v1", "Secret", "secrets"),
        {"metadata": metadata(), "type": "Opaque", "data": {"a": "", "b": ""}},
        {"Type": "Opaque", "Data": 2},
    ),
    (
        ("", "v1", "ConfigMap", "configmaps"),
        {"metadata": metadata(), "data": {"a": ""}, "binaryData": {"b": ""}},
        {"Data": 2},
    ),
    (
        ("", "v1", "ResourceQuota", "resourcequotas"),
        {
            "metadata": metadata(),
            "spec": {"hard": {"pods": "2", "limits.cpu": "3", "cpu": "1"}},
            "status": {"used": {"pods": "1"}},
        },
        {"Request": "cpu: 0/1, pods: 1/2", "Limit": "limits.cpu: 0/3"},
    ),
    (
        ("coordination.k8s.io", "v1", "Lease", "leases"),
        {"metadata": metadata(), "spec": {"holderIdentity": "me"}},
        {"Holder": "me"},
    ),
    (
        ("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses"),
        {"metadata": metadata(), "value": 5, "preemptionPolicy": "Never"},
        {"Value": 5, "Global-Default": False, "PreemptionPolicy": "Never"},
    ),
    (
        ("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
        {"metadata": metadata(), "spec": {"minAvailable": "50%"}},
        {"Min Available": "50%", "Max Unavailable": "N/A", "Allowed Disruptions": 0},
    ),
    (
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"),
        definition(),
        {
            "Scope": "Namespaced",
            "Versions": "v1(storage)",
            "Group": "example.org",
            "Kind": "Toy",
            "ShortNames": "ty",
            "Established": True,
        },
    ),
    (
        ("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        {"metadata": metadata(), "webhooks": [{}, {}]},
        {"Webhooks": 2},
    ),
    (
        ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        {"metadata": metadata(), "spec": {"validations": [{}]}},
        {"Validations": 1, "ParamKind": "<unset>"},
    ),
    (
        ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
        {"metadata": metadata(), "spec": {"policyName": "p", "paramRef": {"name": "x", "namespace": "n"}}},
        {"PolicyName": "p", "ParamRef": "n/x"},
    ),
    (
        ("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"),
        {
            "metadata": metadata(),
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [
                {"kind": "User", "name": "u"},
                {"kind": "User", "name": "v"},
                {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
            ],
        },
        {"Role": "Role/r", "Users": "u, v", "Groups": "", "ServiceAccounts": "n/s"},
    ),
    (
        ("rbac.authorization.k8s.io", "v1", "Role", "roles"),
        {"metadata": metadata()},
        {"Created At": "2027-01-15T07:58:20Z"},
    ),
    (("", "v1", "ServiceAccount", "serviceaccounts"), {"metadata": metadata()}, {"Name": "it", "Age": "100s"}),
]


@pytest.mark.parametrize(
    ("names", "obj", "expected"), ROWS, ids=[f"{each[0][2]}-{number}" for number, each in enumerate(ROWS)]
)
def test_a_row_tells_what_the_object_is(
    names: tuple[str, str, str, str], obj: Object, expected: dict[str, Any]
) -> None:
    cells = row(kind(*names), obj)
    assert {name: cells[name] for name in expected} == expected


def test_every_kind_has_a_name_column_for_kubectl() -> None:
    for names, obj, _ in ROWS:
        named = [column for column in table(kind(*names), obj)["columnDefinitions"] if column["format"] == "name"]
        assert len(named) == 1, names
