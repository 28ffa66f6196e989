"""Events in both forms."""

from tests.parity.scripts.objects import of
from tests.parity.steps import Script, delete, get, patch, post, put, table

CORE = "/api/v1/namespaces/{ns}"
OF_POD = "involvedObject.name=p,involvedObject.namespace={ns},involvedObject.kind=Pod,involvedObject.uid=u1"
EVENTS = f"{CORE}/events"
NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/{ns}/events"
ABOUT = {"kind": "Pod", "namespace": "{ns}", "name": "p", "uid": "u1", "apiVersion": "v1"}
OLD_EVENT = {
    **of("v1", "Event", "old"),
    "involvedObject": {**ABOUT, "fieldPath": "spec.containers{a}"},
    "reason": "Started",
    "message": "Hello.",
    "type": "Normal",
    "source": {"component": "kubelet", "host": "n1"},
    "firstTimestamp": "2026-01-15T08:00:00Z",
    "lastTimestamp": "2026-01-15T08:05:00Z",
    "count": 3,
}
NEW_EVENT = {
    **of("events.k8s.io/v1", "Event", "new"),
    "regarding": ABOUT,
    "related": {"kind": "Node", "name": "n1"},
    "reason": "Scheduled",
    "note": "To n1.",
    "type": "Normal",
    "action": "Binding",
    "reportingController": "tutti.scheduler/scheduler",
    "reportingInstance": "s-1",
    "eventTime": "2026-01-15T08:00:00.123456Z",
}
SERIES = {"series": {"count": 2, "lastObservedTime": "2026-01-15T08:01:00.123456Z"}}
EVENTS_SCRIPT = Script(
    "events",
    [
        post("write the old form", EVENTS, OLD_EVENT),
        post("write the new form", NEW_EVENTS, NEW_EVENT),
        get("read the old one as new", f"{NEW_EVENTS}/old"),
        get("read the new one as old", f"{EVENTS}/new"),
        get("list in the old form", EVENTS),
        get("list in the new form", NEW_EVENTS),
        table("the old form as a table", EVENTS),
        table("the new form as a table", NEW_EVENTS),
        get(
            "what describe asks for",
            EVENTS,
            query={
                "fieldSelector": OF_POD,
                "limit": "500",
            },
        ),
        get("the same of the new form", NEW_EVENTS, query={"fieldSelector": "regarding.name=p,reason=Scheduled"}),
        get("a field of the other form", NEW_EVENTS, query={"fieldSelector": "involvedObject.name=p"}),
        patch("count on, old", f"{EVENTS}/old", {"count": 4, "lastTimestamp": "2026-01-15T08:06:00Z"}, "strategic"),
        patch("count on, new", f"{NEW_EVENTS}/new", SERIES),
        patch("change the new one", f"{NEW_EVENTS}/new", {"note": "Other."}),
        post("an event about nothing", EVENTS, of("v1", "Event", "bad", involvedObject={})),
        post(
            "an event about another namespace", EVENTS, of("v1", "Event", "bad", involvedObject={"namespace": "other"})
        ),
        post(
            "an event about a node",
            "/api/v1/namespaces/default/events",
            of("v1", "Event", "parity-node", involvedObject={"kind": "Node", "name": "n", "apiVersion": "v1"}),
        ),
        post(
            "a new event of nothing",
            NEW_EVENTS,
            of("events.k8s.io/v1", "Event", "bad", regarding={"namespace": "{ns}"}),
        ),
        post(
            "a new event with old fields", NEW_EVENTS, {**NEW_EVENT, "metadata": {"name": "bad"}, "deprecatedCount": 3}
        ),
        post(
            "a time of seconds",
            NEW_EVENTS,
            {**NEW_EVENT, "metadata": {"name": "bad"}, "eventTime": "2026-01-15T08:00:00Z"},
        ),
        post("a bad controller", NEW_EVENTS, {**NEW_EVENT, "metadata": {"name": "bad"}, "reportingController": "a b"}),
        delete("delete the old one as new", f"{NEW_EVENTS}/old"),
        get("it is gone", f"{EVENTS}/old"),
        put("replace the new one as old", f"{EVENTS}/new", {**OLD_EVENT, "metadata": {"name": "new"}}),
    ],
)

SCRIPTS = [EVENTS_SCRIPT]
