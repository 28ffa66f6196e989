"""The files of a server: certificates, keys, users, kubeconfigs. What is there already is kept."""

import csv
import ipaddress
import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

ADMIN = "admin"
_LIFETIME = timedelta(days=365)
_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_KEYS = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """Where everything is."""

    ca: Path
    certificate: Path
    key: Path
    tokens: Path
    service_account_key: Path


def prepare(folder: Path) -> ServerFiles:
    """Make the files that are missing in a folder, which only its owner may read."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    files = ServerFiles(
        ca=folder / "ca.crt",
        certificate=folder / "apiserver.crt",
        key=folder / "apiserver.key",
        tokens=folder / "tokens.csv",
        service_account_key=folder / "service-accounts.key",
    )
    if not (files.ca.exists() and files.certificate.exists() and files.key.exists()):
        _write_certificates(files)
    if not files.tokens.exists():
        write_private(files.tokens, f'{secrets.token_urlsafe(32)},{ADMIN},{ADMIN},"system:masters"\n'.encode())
    if not files.service_account_key.exists():
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        write_private(files.service_account_key, key.private_bytes(serialization.Encoding.PEM, *_KEYS))
    return files


def write_private(path: Path, content: bytes) -> None:
    """Put the content in place at once, readable by its owner only."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    new.replace(path)


def admin_token(tokens: Path) -> str:
    """The first token of the file whose user is a master."""
    with tokens.open(newline="") as lines:
        for line in csv.reader(lines):
            if len(line) > 3 and "system:masters" in line[3].split(","):
                return line[0]
    raise ValueError(f"{tokens}: nobody in it is in system:masters")


def write_kubeconfig(path: Path, *, server: str, ca: Path, token: str, user: str = ADMIN) -> None:
    """A kubeconfig for a user with a token; a stock kubectl can read it from any folder."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "tutti",
        "contexts": [{"name": "tutti", "context": {"cluster": "tutti", "user": user}}],
        "clusters": [{"name": "tutti", "cluster": {"server": server, "certificate-authority": str(ca.absolute())}}],
        "users": [{"name": user, "user": {"token": token}}],
    }
    write_private(path, json.dumps(config, indent=1).encode())


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate for this machine, its key and the authority that signed it, all PEM."""

    ca: bytes
    certificate: bytes
    key: bytes


def issue(*, authority: str, subject: str) -> Issued:
    """A new authority, and a certificate signed by it for servers on 127.0.0.1."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = _named(authority)
    ca = _certificate(issuer, issuer, ca_key, ca_key, _usage(is_ca=True))
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in _NAMES]
    names.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    extensions = [*_usage(is_ca=False), (x509.SubjectAlternativeName(names), False)]
    leaf = _certificate(_named(subject), issuer, key, ca_key, extensions)
    pem = serialization.Encoding.PEM
    return Issued(ca.public_bytes(pem), leaf.public_bytes(pem), key.private_bytes(pem, *_KEYS))


def _write_certificates(files: ServerFiles) -> None:
    issued = issue(authority="tutti-cluster-ca", subject="kube-apiserver")
    write_private(files.ca, issued.ca)
    write_private(files.key, issued.key)
    write_private(files.certificate, issued.certificate)


Extensions = list[tuple[x509.ExtensionType, bool]]


def _usage(*, is_ca: bool) -> Extensions:
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    return [(x509.BasicConstraints(ca=is_ca, path_length=None), True), (usage, True)]


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    extensions: Iterable[tuple[x509.ExtensionType, bool]],
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(signer, hashes.SHA256())
