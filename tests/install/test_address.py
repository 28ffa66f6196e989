"""Where the admission server listens when it runs outside the cluster."""

import socket

import pytest

from api.errors import ConfigurationError
from install.address import choose_address, free_ports, is_loopback
from install.settings import RunSettings

LOCAL = "https://127.0.0.1:6443"


def test_beside_a_local_server_it_listens_on_the_loopback_address() -> None:
    address = choose_address(RunSettings(), LOCAL)
    assert address.listen.startswith("127.0.0.1:")
    assert address.url == f"https://{address.listen}"


def test_for_another_machine_it_listens_on_the_address_that_faces_it() -> None:
    address = choose_address(RunSettings(), "https://127.9.9.9:6443")
    assert is_loopback(address.url)


def test_what_is_asked_for_is_done() -> None:
    settings = RunSettings(listen="127.0.0.1:9443", webhook_url="https://host.docker.internal:9443")
    address = choose_address(settings, LOCAL)
    assert (address.listen, address.url) == ("127.0.0.1:9443", "https://host.docker.internal:9443")


def test_a_url_alone_means_its_port_on_all_addresses() -> None:
    address = choose_address(RunSettings(webhook_url="https://gateway:8443"), LOCAL)
    assert (address.listen, address.url) == ("0.0.0.0:8443", "https://gateway:8443")


def test_a_port_on_all_addresses_is_registered_with_the_address_that_faces_the_server() -> None:
    address = choose_address(RunSettings(listen=":9443"), LOCAL)
    assert (address.listen, address.url) == ("0.0.0.0:9443", "https://127.0.0.1:9443")


def test_ipv6_addresses_keep_their_brackets() -> None:
    address = choose_address(RunSettings(listen="[::1]:9443"), LOCAL)
    assert (address.listen, address.url) == ("[::1]:9443", "https://[::1]:9443")


def test_nonsense_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'nine' is no HOST:PORT address"):
        choose_address(RunSettings(listen="nine"), LOCAL)


def test_free_ports_are_different() -> None:
    assert len(set(free_ports(20))) == 20


def test_free_ports_are_none_that_a_connection_could_be_given_meanwhile() -> None:
    assert all(20_000 <= port < 32_768 for port in free_ports(20))


def test_a_port_on_which_somebody_listens_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        taken = listener.getsockname()[1]
        monkeypatch.setattr("install.address.random.sample", lambda _ports, _count: [taken])
        (port,) = free_ports(1)
    assert port != taken


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://localhost:1", True),
        ("https://127.1.2.3", True),
        ("https://[::1]:6443", True),
        ("https://10.0.0.1", False),
        ("https://k8s.example.com", False),
    ],
)
def test_loopback_servers_are_told_from_others(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
