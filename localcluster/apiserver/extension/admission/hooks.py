"""Webhook configurations as values: every webhook of all configurations, in the order in which they are asked."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Object = dict[str, Any]

LONGEST_SECONDS: Final = 30
DEFAULT_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook.

    Attributes:
        identity: the same for the same webhook of the same configuration.
        url: where it is, without the time-out; for a Service the name that it would have in the cluster.
        service: namespace and name of the Service it is reached by.
    """

    identity: tuple[str, str]
    name: str
    url: str
    service: tuple[str, str] | None
    ca_bundle: bytes
    rules: tuple[Object, ...]
    namespace_selector: Object
    object_selector: Object
    conditions: tuple[Object, ...]
    ignores_failure: bool
    timeout_seconds: int
    reinvoked: bool
    has_side_effects: bool


def hooks_of(configurations: Iterable[Mapping[str, Any]]) -> tuple[Hook, ...]:
    """All webhooks, by the names of their configurations."""
    ordered = sorted(configurations, key=lambda each: str(each["metadata"]["name"]))
    return tuple(_hook(each["metadata"]["name"], hook) for each in ordered for hook in each.get("webhooks") or ())


def _hook(configuration: str, hook: Mapping[str, Any]) -> Hook:
    target = hook.get("clientConfig") or {}
    service = target.get("service")
    return Hook(
        identity=(configuration, hook["name"]),
        name=hook["name"],
        url=_service_url(service) if service else str(target.get("url", "")),
        service=(service["namespace"], service["name"]) if service else None,
        ca_bundle=_bundle(target.get("caBundle")),
        rules=tuple(hook.get("rules") or ()),
        namespace_selector=hook.get("namespaceSelector") or {},
        object_selector=hook.get("objectSelector") or {},
        conditions=tuple(hook.get("matchConditions") or ()),
        ignores_failure=hook.get("failurePolicy") == "Ignore",
        timeout_seconds=min(int(hook.get("timeoutSeconds") or DEFAULT_SECONDS), LONGEST_SECONDS),
        reinvoked=hook.get("reinvocationPolicy") == "IfNeeded",
        has_side_effects=hook.get("sideEffects") not in {"None", "NoneOnDryRun"},
    )


def _service_url(service: Mapping[str, Any]) -> str:
    path = str(service.get("path") or "").lstrip("/")
    return f"https://{service['name']}.{service['namespace']}.svc:{service.get('port') or 443}/{path}"


def _bundle(text: str | None) -> bytes:
    try:
        return base64.b64decode(text or "")
    except (ValueError, binascii.Error):
        return b""
