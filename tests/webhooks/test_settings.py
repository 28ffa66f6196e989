"""Settings of the admission server."""

from pathlib import Path

import pytest

from api.errors import ConfigurationError
from kube.process.settings import load_settings
from webhooks.settings import WebhooksSettings


def test_behind_the_service_the_certificate_is_for_the_service() -> None:
    settings = load_settings(WebhooksSettings, None, system_namespace="gangs")
    assert "tutti-webhooks.gangs.svc" in settings.hosts
    assert settings.folder is None


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://10.0.0.7:9443", "10.0.0.7"),
        ("https://gangs.example.com", "gangs.example.com"),
        ("https://[2001:DB8:0::1]:9443/", "2001:db8::1"),
    ],
)
def test_by_url_the_certificate_is_for_its_host(url: str, host: str) -> None:
    settings = load_settings(WebhooksSettings, None, url=url)
    assert settings.hosts == (host,)
    assert settings.folder is not None
    assert settings.shutdown_delay_seconds == 0


def test_a_folder_is_taken_as_given() -> None:
    assert load_settings(WebhooksSettings, None, certificates_folder="/certs").folder == Path("/certs")


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.7:9443",
        "10.0.0.7:9443",
        "https://",
        "https://u:p@h:1",
        "https://h:1/path",
        "https://h:1?x=y",
        "https://h:0",
        "https://h:99999",
    ],
)
def test_a_url_the_api_server_could_not_use_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="'url'"):
        load_settings(WebhooksSettings, None, url=url)
