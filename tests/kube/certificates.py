"""A certificate authority, and a certificate for localhost that serves both sides of a TLS connection."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificates:
    """Files in PEM."""

    ca: Path
    certificate: Path
    key: Path


def make_certificates(
    folder: Path, *, lifetime: timedelta = timedelta(days=1), authority: str = "test CA"
) -> Certificates:
    ca_key = ec.generate_private_key(ec.SECP256R1())
    key = ec.generate_private_key(ec.SECP256R1())
    ca = _builder(authority, authority, ca_key.public_key()).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))])
    leaf = _builder("localhost", authority, key.public_key(), lifetime).add_extension(names, critical=False)
    files = Certificates(folder / "ca.pem", folder / "certificate.pem", folder / "key.pem")
    pem = serialization.Encoding.PEM
    files.ca.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(pem))
    files.certificate.write_bytes(leaf.sign(ca_key, hashes.SHA256()).public_bytes(pem))
    files.key.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return files


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePublicKey, lifetime: timedelta = timedelta(days=1)
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + lifetime)
    )
