"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes where `status.declaredFeatures` has it."""

from typing import Any

from tests.placement.case import HOSTNAME, Case, Machine, Running, Spec, apart, selector, term

RESTART_ALL = "RestartAllContainersOnContainerExits"
BIND_OPTIONS = "VolumeBindMountOptions"
USERS_ON_HOST = "UserNamespacesHostNetworkSupport"
LACKING = "node(s) didn't match Pod's required features"
IMAGE = "registry.example/none:1"

BARE = Machine()
RESTARTS, MOUNTS, USERS = (Machine(features=(name,)) for name in (RESTART_ALL, BIND_OPTIONS, USERS_ON_HOST))
OTHERS = Machine(features=("InPlacePodVerticalScalingInitContainers", "NobodyKnows"))


def _rules(*actions: str) -> dict[str, Any]:
    codes = {"operator": "In", "values": [42]}
    return {"restartPolicy": "Never", "restartPolicyRules": [{"action": each, "exitCodes": codes} for each in actions]}


def _mount(*options: str) -> dict[str, Any]:
    return {"volumeMounts": [{"name": "scratch", "mountPath": "/scratch", "bindMountOptions": list(options)}]}


def _container(name: str = "main", **more: Any) -> dict[str, Any]:
    return {"name": name, "image": IMAGE, **more}


def _scratch(**more: Any) -> Spec:
    return {"volumes": [{"name": "scratch", "emptyDir": {}}], **more}


RESTARTING: Spec = {"restartPolicy": "Never", "containers": [_container(**_rules("RestartAllContainers"))]}
OWN_USERS: Spec = {"hostNetwork": True, "hostUsers": False}

FEATURES = (
    Case("by a rule that restarts all", (BARE, RESTARTS), (), {}, RESTARTING, 1),
    Case("no node has it", (BARE, OTHERS), (), {}, RESTARTING, None, f"2 {LACKING}"),
    Case("nodes with another feature", (MOUNTS, USERS), (), {}, RESTARTING, None, f"2 {LACKING}"),
    Case(
        "the second of two rules, of the second container",
        (BARE, RESTARTS),
        (),
        {},
        {
            "restartPolicy": "Never",
            "containers": [_container(), _container("second", **_rules("Restart", "RestartAllContainers"))],
        },
        1,
    ),
    Case(
        "the rule of an init container",
        (BARE, RESTARTS),
        (),
        {},
        {
            "restartPolicy": "Never",
            "containers": [_container()],
            "initContainers": [_container("init", **_rules("RestartAllContainers"))],
        },
        1,
    ),
    Case(
        "a rule that restarts one container",
        (BARE,),
        (),
        {},
        {"restartPolicy": "Never", "containers": [_container(**_rules("Restart"))]},
        0,
    ),
    Case(
        "by options of a mount",
        (BARE, MOUNTS),
        (),
        {},
        _scratch(containers=[_container(**_mount("noexec", "nodev"))]),
        1,
    ),
    Case(
        "a mount of an init container",
        (BARE, MOUNTS),
        (),
        {},
        _scratch(containers=[_container()], initContainers=[_container("init", **_mount("nosuid"))]),
        1,
    ),
    Case("a mount without options", (BARE,), (), {}, _scratch(containers=[_container(**_mount())]), 0),
    Case("by users of its own on the host's network", (BARE, USERS), (), {}, OWN_USERS, 1),
    Case("the host's users on its network", (BARE,), (), {}, {"hostNetwork": True, "hostUsers": True}, 0),
    Case("users of its own on a network of its own", (BARE,), (), {}, {"hostUsers": False}, 0),
    Case(
        "two features on one node",
        (RESTARTS, USERS, Machine(features=(RESTART_ALL, USERS_ON_HOST))),
        (),
        {},
        {**RESTARTING, **OWN_USERS},
        2,
    ),
    Case(
        "full where it must be",
        (BARE, RESTARTS),
        (Running(1, cpu=8),),
        {},
        RESTARTING,
        None,
        f"1 Insufficient cpu, 1 {LACKING}",
        cpu=1,
    ),
    Case(
        "told after a taint",
        (Machine(is_cordoned=True), BARE),
        (),
        {},
        RESTARTING,
        None,
        f"1 {LACKING}, 1 node(s) were unschedulable",
    ),
    Case(
        "told after room", (Machine(cpu=1), BARE), (), {}, RESTARTING, None, f"1 Insufficient cpu, 1 {LACKING}", cpu=2
    ),
    Case(
        "told after a port",
        (BARE, BARE),
        (Running(0, spec={"containers": [_container(ports=[{"containerPort": 80, "hostPort": 80}])]}),),
        {},
        {"containers": [_container(ports=[{"containerPort": 80, "hostPort": 80}], **_rules("RestartAllContainers"))]},
        None,
        f"1 node(s) didn't have free ports for the requested pod ports, 1 {LACKING}",
    ),
    Case(
        "told after others",
        (BARE, BARE),
        (Running(0, {"app": "b"}),),
        {},
        {**RESTARTING, **apart(term(selector(app="b"), HOSTNAME))},
        None,
        f"1 {LACKING}, 1 node(s) didn't match pod anti-affinity rules",
    ),
)
