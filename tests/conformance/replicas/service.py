"""The Service in front of the webhooks, with the test in the part of the kubelet: who is ready is offered to the API server."""

import socket

import pytest

from verify.clusters.client import Api
from verify.clusters.tutti_process import SYSTEM_NAMESPACE

NAME = "tutti-webhooks"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{SYSTEM_NAMESPACE}/endpointslices"
OUTSIDE = "192.0.2.1"
"""An address of nobody (RFC 5737); packets are not sent there, only the way to it is asked for."""


def own_address() -> str:
    """An address of this machine that an endpoint may have; loopback ones may not."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect((OUTSIDE, 9))
        except OSError:
            pytest.skip("this machine has no address but loopback, which no endpoint may have")
        return str(asked.getsockname()[0])


class Service:
    """Which addresses stand behind the Service."""

    def __init__(self, api: Api) -> None:
        self._api = api
        if api.find("services", NAME, SYSTEM_NAMESPACE) is None:
            port = {"name": "webhook", "port": 443}
            api.create("services", {"metadata": {"name": NAME}, "spec": {"ports": [port]}}, SYSTEM_NAMESPACE)

    def offer(self, host: str, port: int) -> None:
        """The API server may send requests there from now on."""
        labels = {"kubernetes.io/service-name": NAME}
        self._api.request(
            "POST",
            SLICES,
            {
                "metadata": {"name": f"{NAME}-{port}", "labels": labels},
                "addressType": "IPv4",
                "ports": [{"name": "webhook", "port": port, "protocol": "TCP"}],
                "endpoints": [{"addresses": [host], "conditions": {"ready": True}}],
            },
        )

    def withdraw_all(self) -> None:
        """Nobody stands behind the Service."""
        for each in self._api.request("GET", SLICES)["items"]:
            self._api.request("DELETE", f"{SLICES}/{each['metadata']['name']}")
