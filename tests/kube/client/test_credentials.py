"""Where credentials come from, and that whatever is broken is said in one line."""

import base64
import os
import shlex
import ssl
import stat
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import kopf
import pytest
import yaml

from api.errors import ConfigurationError
from kube.client.credentials import Credentials, load_credentials
from kube.client.kubeconfig import namespace_of_context
from kube.client.tokens import FileToken, PluginAnswer, PluginToken
from tests.kube.certificates import Certificates, make_certificates

Json = dict[str, Any]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def kubeconfig(folder: Path, *, user: Json | None = None, cluster: Json | None = None, **more: Any) -> str:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "http://example.invalid:8001/"} | (cluster or {})}],
        "users": [{"name": "u", "user": user or {}}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document | more))
    return str(path)


def plugin(folder: Path, body: str) -> Json:
    """The `exec` section for a program that runs this Python code."""
    script = folder / "plugin"
    # Not Python's own path in the first line: that ends at a blank, and folders may have some.
    script.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(body)}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {"apiVersion": "client.authentication.k8s.io/v1", "command": str(script), "interactiveMode": "Never"}


ANSWER = """import json
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {status}}}))"""


async def test_a_token_of_the_kubeconfig_is_sent(tmp_path: Path) -> None:
    credentials = load_credentials(kubeconfig(tmp_path, user={"token": "secret"}))
    assert credentials.server == "http://example.invalid:8001"
    assert await credentials.headers() == {"Authorization": "Bearer secret"}


async def test_user_and_password_are_sent(tmp_path: Path) -> None:
    credentials = load_credentials(kubeconfig(tmp_path, user={"username": "me", "password": "pw"}))
    expected = base64.b64encode(b"me:pw").decode()
    assert await credentials.headers() == {"Authorization": f"Basic {expected}"}


async def test_a_kubeconfig_without_a_user_sends_nothing(tmp_path: Path) -> None:
    assert await load_credentials(kubeconfig(tmp_path)).headers() == {}


async def test_a_token_file_is_found_beside_the_kubeconfig_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("one\n")
    credentials = load_credentials(kubeconfig(tmp_path, user={"tokenFile": "token"}))
    assert await credentials.headers() == {"Authorization": "Bearer one"}
    (tmp_path / "token").write_text("two\n")
    assert await credentials.headers() == {"Authorization": "Bearer one"}
    assert await credentials.headers(refresh=True) == {"Authorization": "Bearer two"}


def test_a_token_file_is_read_again_after_a_while_and_survives_a_gap(tmp_path: Path) -> None:
    now = 0.0
    path = tmp_path / "token"
    path.write_text("one")
    source = FileToken(path, clock=lambda: now)
    assert source.authorization(refresh=False) == "Bearer one"
    path.write_text("two")
    now = 31.0
    assert not source.is_fresh()
    assert source.authorization(refresh=False) == "Bearer two"
    path.unlink()
    now = 62.0
    assert source.authorization(refresh=False) == "Bearer two"


def test_the_service_account_of_a_pod_comes_before_the_environment(tmp_path: Path, certificates: Certificates) -> None:
    (tmp_path / "token").write_text("of the pod")
    (tmp_path / "ca.crt").write_bytes(certificates.ca.read_bytes())
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443", "KUBECONFIG": "nowhere"}
    credentials = load_credentials(environ=environ, service_account=tmp_path)
    assert credentials.server == "https://[fd00::1]:443"
    assert credentials.connection_info()["token"] == "of the pod"
    assert isinstance(credentials.ssl, ssl.SSLContext)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder, env: (folder / "ca.crt").unlink(), "No such file"),
        (lambda folder, env: (folder / "ca.crt").write_text(""), "ca.crt is empty"),
        (lambda folder, env: (folder / "ca.crt").write_text("nonsense"), "certificates are unusable"),
        (lambda folder, env: (folder / "token").write_text(""), "token is empty"),
        (lambda folder, env: env.pop("KUBERNETES_SERVICE_PORT"), r"\$KUBERNETES_SERVICE_PORT is not set"),
    ],
)
def test_an_account_that_lacks_something_is_told_in_one_line(
    tmp_path: Path, certificates: Certificates, spoil: Callable[[Path, dict[str, str]], object], told: str
) -> None:
    (tmp_path / "token").write_text("of the pod")
    (tmp_path / "ca.crt").write_bytes(certificates.ca.read_bytes())
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    spoil(tmp_path, environ)
    with pytest.raises(ConfigurationError, match=told) as error:
        load_credentials(environ=environ, service_account=tmp_path)
    assert "\n" not in str(error.value)


async def test_kubeconfig_from_the_environment_and_from_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".kube").mkdir(parents=True)
    kubeconfig(home / ".kube", user={"token": "home"})
    assert await load_credentials(environ={"HOME": str(home)}).headers() == {"Authorization": "Bearer home"}
    path = kubeconfig(tmp_path, user={"token": "named"})
    environ = {"HOME": str(home), "KUBECONFIG": f"{tmp_path / 'absent'}{os.pathsep}{path}"}
    assert await load_credentials(environ=environ).headers() == {"Authorization": "Bearer named"}


async def test_another_context_of_the_file_can_be_named(tmp_path: Path) -> None:
    contexts = [
        {"name": "here", "context": {"cluster": "c", "user": "u"}},
        {"name": "there", "context": {"cluster": "c", "user": "other", "namespace": "team"}},
    ]
    users = [{"name": "u", "user": {"token": "mine"}}, {"name": "other", "user": {"token": "theirs"}}]
    path = kubeconfig(tmp_path, contexts=contexts, users=users)
    assert await load_credentials(path, context="there").headers() == {"Authorization": "Bearer theirs"}
    assert await load_credentials(path).headers() == {"Authorization": "Bearer mine"}
    assert (namespace_of_context(path, "there"), namespace_of_context(path)) == ("team", "default")
    for use in (load_credentials, namespace_of_context):
        with pytest.raises(ConfigurationError, match=f"kubeconfig {path} is unusable: .*nowhere"):
            use(path, context="nowhere")
    with pytest.raises(ConfigurationError, match="does not exist"):
        namespace_of_context(str(tmp_path / "none"))


def test_nothing_at_all_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="give --kubeconfig FILE"):
        load_credentials(environ={"HOME": str(tmp_path)})


def test_certificates_as_data_and_as_files(tmp_path: Path, certificates: Certificates) -> None:
    data = {
        "client-certificate-data": base64.b64encode(certificates.certificate.read_bytes()).decode(),
        "client-key-data": base64.b64encode(certificates.key.read_bytes()).decode(),
    }
    cluster = {"server": "https://example.invalid", "certificate-authority": str(certificates.ca)}
    for user in (data, {"client-certificate": str(certificates.certificate), "client-key": str(certificates.key)}):
        credentials = load_credentials(kubeconfig(tmp_path, user=user, cluster=cluster))
        info = credentials.connection_info()
        assert info["ca_path"] == str(certificates.ca)
        assert Path(info["certificate_path"]).read_bytes() == certificates.certificate.read_bytes()
        assert isinstance(kopf.ConnectionInfo(**info).as_ssl_context(), ssl.SSLContext)


def test_a_server_that_is_not_to_be_verified(tmp_path: Path) -> None:
    cluster = {"server": "https://example.invalid", "insecure-skip-tls-verify": True, "tls-server-name": "inside"}
    credentials = load_credentials(kubeconfig(tmp_path, cluster=cluster))
    assert isinstance(credentials.ssl, ssl.SSLContext)
    assert credentials.ssl.verify_mode is ssl.CERT_NONE
    assert credentials.connection_info() == {"server": "https://example.invalid", "insecure": True}
    assert credentials.server_name == "inside"


async def test_an_exec_plugin_gives_the_token(tmp_path: Path) -> None:
    settings = plugin(tmp_path, ANSWER.format(status='{"token": "from plugin"}'))
    credentials = load_credentials(kubeconfig(tmp_path, user={"exec": settings}))
    assert await credentials.headers() == {"Authorization": "Bearer from plugin"}
    assert credentials.connection_info()["token"] == "from plugin"


def test_an_exec_plugin_gives_a_client_certificate(tmp_path: Path, certificates: Certificates) -> None:
    status = (
        f'{{"clientCertificateData": open({str(certificates.certificate)!r}).read(),'
        f' "clientKeyData": open({str(certificates.key)!r}).read()}}'
    )
    cluster = {"server": "https://example.invalid", "certificate-authority": str(certificates.ca)}
    settings = plugin(tmp_path, ANSWER.format(status=status))
    info = load_credentials(kubeconfig(tmp_path, user={"exec": settings}, cluster=cluster)).connection_info()
    assert Path(info["certificate_path"]).read_bytes() == certificates.certificate.read_bytes()
    assert stat.S_IMODE(Path(info["private_key_path"]).stat().st_mode) == 0o600
    assert "token" not in info


def test_a_plugins_token_is_asked_for_again_before_it_expires() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    moment = start
    answers = iter([PluginAnswer(token="2", expires=start + timedelta(hours=2)), PluginAnswer(token="3")])
    seconds = 0.0
    source = PluginToken(
        lambda: next(answers),
        PluginAnswer(token="1", expires=start + timedelta(hours=1)),
        wall_clock=lambda: moment,
        clock=lambda: seconds,
    )
    assert source.authorization(refresh=False) == "Bearer 1"
    moment = start + timedelta(minutes=59, seconds=30)
    assert source.authorization(refresh=False) == "Bearer 2"
    assert source.authorization(refresh=False) == "Bearer 2"
    assert source.authorization(refresh=True) == "Bearer 2"  # many requests meet the same 401 at once
    seconds = 6.0
    assert source.authorization(refresh=True) == "Bearer 3"


BROKEN_PLUGINS = {
    "fails": "import sys; print('who\\nare you', file=sys.stderr); sys.exit(3)",
    "talks nonsense": "print('hello')",
    "gives nothing": ANSWER.format(status="{}"),
    "has another version": ANSWER.format(status='{"token": "x"}').replace("io/v1", "io/v7"),
}


@pytest.mark.parametrize("case", BROKEN_PLUGINS)
def test_a_broken_plugin_is_one_line(tmp_path: Path, case: str, caplog: pytest.LogCaptureFixture) -> None:
    settings = plugin(tmp_path, BROKEN_PLUGINS[case])
    with pytest.raises(ConfigurationError, match=r"the credential plugin .* failed: ") as caught:
        load_credentials(kubeconfig(tmp_path, user={"exec": settings}))
    assert "\n" not in str(caught.value)
    assert not caplog.records


def test_a_missing_plugin_is_named(tmp_path: Path) -> None:
    settings = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin"}
    with pytest.raises(ConfigurationError, match="no-such-plugin"):
        load_credentials(kubeconfig(tmp_path, user={"exec": settings}))


BROKEN_FILES: dict[str, Json | str] = {
    "unknown context": {"current-context": "elsewhere"},
    "no context chosen": {"current-context": None},
    "unknown cluster": {"contexts": [{"name": "here", "context": {"cluster": "x", "user": "u"}}]},
    "no server": {"clusters": [{"name": "c", "cluster": {"server": None}}]},
    "no server at all": {"clusters": [{"name": "c", "cluster": {}}]},
    "clusters is a word": {"clusters": "x"},
    "users is a word": {"users": "x"},
    "a user is a word": {"users": [{"name": "u", "user": "x"}]},
    "contexts is missing": {"contexts": None},
    "the CA is missing": {
        "clusters": [{"name": "c", "cluster": {"server": "https://h", "certificate-authority": "no-such-ca"}}]
    },
    "the CA is no base64": {
        "clusters": [{"name": "c", "cluster": {"server": "https://h", "certificate-authority-data": "%%%"}}]
    },
    "the CA is no certificate": {
        "clusters": [{"name": "c", "cluster": {"server": "https://h", "certificate-authority-data": "aGVsbG8="}}]
    },
    "the token file is missing": {"users": [{"name": "u", "user": {"tokenFile": "no-such-token"}}]},
    "the client certificate is missing": {
        "clusters": [{"name": "c", "cluster": {"server": "https://h"}}],
        "users": [{"name": "u", "user": {"client-certificate": "no-such-file", "client-key": "no-such-file"}}],
    },
    "broken YAML": "a: [1,\n b: {",
    "empty": "",
    "a list": "- a\n- b\n",
    "a word": "hello",
    "binary": "\x00\x01\x02",
}


@pytest.mark.parametrize("case", BROKEN_FILES)
def test_a_broken_kubeconfig_is_one_line_that_names_the_file(tmp_path: Path, case: str) -> None:
    content = BROKEN_FILES[case]
    path = kubeconfig(tmp_path, **content) if isinstance(content, dict) else str(tmp_path / "config")
    if isinstance(content, str):
        Path(path).write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        load_credentials(path)
    assert "\n" not in str(caught.value)
    assert path in str(caught.value)


def test_a_missing_kubeconfig_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere does not exist"):
        load_credentials(str(tmp_path / "nowhere"))


def test_plain_credentials_need_only_a_server() -> None:
    assert Credentials(server="http://h").connection_info() == {"server": "http://h"}
