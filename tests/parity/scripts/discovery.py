"""What clients ask before anything else."""

from tests.parity.steps import Script, Step, get, post

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
CORE = (
    "configmaps",
    "events",
    "namespaces",
    "namespaces/status",
    "nodes",
    "nodes/status",
    "pods",
    "pods/binding",
    "pods/eviction",
    "pods/log",
    "pods/status",
    "secrets",
    "serviceaccounts",
    "serviceaccounts/token",
    "services",
)
GROUPS = (
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "batch",
    "policy",
    "rbac.authorization.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "resource.k8s.io",
    "tutti.scheduler",
)
OWN_GROUPS = ("batch", "coordination.k8s.io", "events.k8s.io", "policy", "resource.k8s.io", "scheduling.k8s.io")

DISCOVERY = Script(
    "discovery",
    [
        get("versions of the core", "/api"),
        get("the core", "/api/v1", only=("resources", "name", CORE)),
        get("groups", "/apis", only=("groups", "name", GROUPS)),
        *(get(f"group {name}", f"/apis/{name}") for name in OWN_GROUPS),
        *(get(f"resources of {name}", f"/apis/{name}/v1") for name in OWN_GROUPS),
        get("resources of apps", "/apis/apps/v1"),
        get("our own group", "/apis/tutti.scheduler/v1beta1"),
        get(
            "the core, aggregated",
            "/api",
            accept=f"{AGGREGATED},application/json",
            only=("items.0.versions.0.resources", "resource", ("configmaps", "events", "secrets", "serviceaccounts")),
        ),
        get(
            "groups, aggregated",
            "/apis",
            accept=f"{AGGREGATED},application/json",
            only=("items", "metadata.name", OWN_GROUPS),
        ),
        get(
            "an older aggregated form",
            "/api",
            accept="application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        ),
        get("a form that nobody makes", "/apis", accept="text/html"),
        get("an unknown group", "/apis/nothing"),
        get("an unknown version", "/apis/batch/v9"),
        get("an unknown core", "/api/v2"),
        post("writing to it", "/apis/batch/v1", {}),
        post("writing to the version", "/version", {}),
        get("version", "/version"),
        get("health", "/healthz"),
        get("readiness", "/readyz"),
        get("liveness", "/livez"),
        get("a check", "/readyz/ping"),
        get("an unknown check", "/readyz/nothing"),
        get("an unknown document", "/openapi/v3/apis/nothing/v1"),
        Step("an old hash", "GET", "/openapi/v3/apis/batch/v1", query={"hash": "OLD"}),
    ],
)

SCRIPTS = [DISCOVERY]
