"""Selectors, pages and watches, which are the same for all kinds."""

from tests.parity.scripts.objects import config_map
from tests.parity.steps import TABLE, Script, delete, get, patch, post, quiet, table, watch

MAPS = "/api/v1/namespaces/{ns}/configmaps"
ONE = f"{MAPS}/one"

SELECTORS = Script(
    "selectors",
    [
        *(
            quiet(post(f"create {name}", MAPS, config_map(name, labels=labels)))
            for name, labels in (("a", {"x": "1"}), ("b", {"x": "2", "y": "1"}), ("c", {"y": "2"}), ("d", {}))
        ),
        *(
            table(f"labels {selector}", MAPS, query={"labelSelector": selector, "includeObject": "None"})
            for selector in (
                "x=1",
                "x==1",
                "x!=1",
                "x in (1,2)",
                "x notin (1)",
                "x",
                "!x",
                "x,y=1",
                "x>1",
                "x in ()",
                "x=",
                "x y",
                "=",
                "x in (1",
                "a b=c",
                "x=" + "v" * 64,
            )
        ),
        *(
            table(f"fields {selector}", MAPS, query={"fieldSelector": selector, "includeObject": "None"})
            for selector in (
                "metadata.name=a",
                "metadata.name!=a,metadata.name!=b",
                "metadata.namespace=other",
                "data.x=1",
                "metadata.name",
                "metadata.name in (a)",
            )
        ),
        get(
            "pods by an unsupported field", "/api/v1/namespaces/{ns}/pods", query={"fieldSelector": "spec.containers=1"}
        ),
        get("jobs by success", "/apis/batch/v1/namespaces/{ns}/jobs", query={"fieldSelector": "status.successful=1"}),
        delete("delete by label", MAPS, query={"labelSelector": "y"}),
        table("what is left", MAPS, query={"includeObject": "None", "labelSelector": "x"}),
    ],
)

PAGES = Script(
    "pages",
    [
        *(
            quiet(
                post(
                    f"create {number}", MAPS, config_map(f"m{number}"), keep={f"v{number}": "metadata.resourceVersion"}
                )
            )
            for number in range(5)
        ),
        get(
            "first page",
            MAPS,
            query={"limit": "2", "fieldSelector": "metadata.name!=kube-root-ca.crt"},
            keep={"next": "metadata.continue"},
        ),
        get(
            "second page",
            MAPS,
            query={"limit": "2", "continue": "${next}", "fieldSelector": "metadata.name!=kube-root-ca.crt"},
        ),
        table("a page as a table", MAPS, query={"limit": "1"}),
        get("any version", MAPS, query={"resourceVersion": "0"}),
        get("not older than", MAPS, query={"resourceVersion": "${v1}", "resourceVersionMatch": "NotOlderThan"}),
        get("a version from the future", MAPS, query={"resourceVersion": "99999999"}),
        get("one object from the future", f"{MAPS}/m0", query={"resourceVersion": "99999999"}),
        get("a version that is none", MAPS, query={"resourceVersion": "x"}),
        get("a bad match", MAPS, query={"resourceVersionMatch": "Perhaps"}),
        get("a bad token", MAPS, query={"continue": "nonsense"}),
        get("a bad limit", MAPS, query={"limit": "many"}),
        get("a negative limit", MAPS, query={"limit": "-1"}),
        get(
            "metadata only",
            f"{MAPS}/m0",
            accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        ),
        get(
            "metadata of a list",
            MAPS,
            query={"limit": "1"},
            accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        ),
        get("something that nobody makes", MAPS, accept="text/html"),
        get("a table or nothing", MAPS, query={"limit": "1"}, accept="application/json;as=Table;v=v1;g=meta.k8s.io"),
    ],
)

WATCHES = Script(
    "watches",
    [
        quiet(post("create one", MAPS, config_map("one"), keep={"first": "metadata.resourceVersion"})),
        quiet(patch("change one", ONE, {"metadata": {"labels": {"in": "yes"}}})),
        quiet(
            post(
                "create two", MAPS, config_map("two", labels={"in": "yes"}), keep={"second": "metadata.resourceVersion"}
            )
        ),
        quiet(patch("change one again", ONE, {"metadata": {"labels": {"in": None}}})),
        quiet(delete("delete two", f"{MAPS}/two")),
        watch("from a version", MAPS, query={"resourceVersion": "${first}"}),
        watch("from a later version", MAPS, query={"resourceVersion": "${second}"}),
        watch("by label", MAPS, query={"resourceVersion": "${first}", "labelSelector": "in=yes"}),
        watch("by name", MAPS, query={"resourceVersion": "${first}", "fieldSelector": "metadata.name=two"}),
        watch("one object", f"{MAPS}/one", query={"resourceVersion": "${first}"}),
        watch("as tables", MAPS, query={"resourceVersion": "${first}"}, accept=TABLE),
        watch(
            "metadata only",
            MAPS,
            query={"resourceVersion": "${second}"},
            accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        ),
        watch("what is there", MAPS, query={"fieldSelector": "metadata.name=one"}),
        watch("with bookmarks", MAPS, query={"resourceVersion": "${second}", "allowWatchBookmarks": "true"}),
        watch("in the older spelling", MAPS, query={"watch": "1", "resourceVersion": "${second}"}),
        get("from the future", MAPS, query={"watch": "true", "resourceVersion": "99999999", "timeoutSeconds": "1"}),
        get("from what is no version", MAPS, query={"watch": "true", "resourceVersion": "x", "timeoutSeconds": "1"}),
        get("what does not exist", "/api/v1/namespaces/{ns}/nothings", query={"watch": "true", "timeoutSeconds": "1"}),
    ],
)

SCRIPTS = [SELECTORS, PAGES, WATCHES]
