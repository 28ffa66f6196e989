"""Pointing admission webhook configurations at a running server. Pure.

The configurations in `config/webhook` name the Service and the path; who verifies the server's certificate, and where the server
is when it runs outside the cluster, is only known at run time and is filled in here. Nothing else of them is ever touched.
"""

import base64
import copy
from typing import Any
from urllib.parse import urlsplit


def point_at(configuration: dict[str, Any], *, base_url: str | None, ca_bundle: bytes) -> dict[str, Any]:
    """A copy of a Mutating- or ValidatingWebhookConfiguration whose calls go to the server in question.

    Args:
        configuration: as shipped, or as it was pointed somewhere before.
        base_url: `https://host:port` for calls by URL; None for calls to the Service that the configuration names, in which
            case an entry that goes to a URL is somebody else's business and is left alone.
        ca_bundle: PEM of the authorities that may have signed the server's certificate.
    """
    pointed = copy.deepcopy(configuration)
    encoded = base64.b64encode(ca_bundle).decode("ascii")
    for webhook in pointed.get("webhooks") or ():
        client = webhook.get("clientConfig") or {}
        if base_url is not None:
            webhook["clientConfig"] = {"url": base_url.rstrip("/") + path_of(client), "caBundle": encoded}
        elif "service" in client:
            client["caBundle"] = encoded
    return pointed


def path_of(client_config: dict[str, Any]) -> str:
    """The path a webhook is called at, by Service or by URL; "" when it has none."""
    service = client_config.get("service")
    if service is not None:
        return str(service.get("path") or "")
    return urlsplit(str(client_config.get("url") or "")).path
