"""The files a control plane needs before it starts: certificates, service account keys, tokens, audit policy, kubeconfigs.

Each kind of actor has its own user name, so that the audit log tells who wrote what.
"""

import datetime
import ipaddress
import json
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from verify.auditor.audit_policy import AUDIT_POLICY
from verify.auditor.identities import INSTALLER, UNINSTALLER

ADMIN = "admin"
CONTROLLER_MANAGER = "system:kube-controller-manager"
KUBELET = "hollow-kubelet"
NOBODY = "nobody"
STOCK_SCHEDULER = "system:kube-scheduler"

ALMIGHTY = (ADMIN, CONTROLLER_MANAGER, INSTALLER, KUBELET, STOCK_SCHEDULER, UNINSTALLER)


def token_of(user: str) -> str:
    """The bearer token of one of the users above."""
    return "token-of-" + user.replace(":", "-")


def write_tokens(path: Path) -> Path:
    """The API server's token file: everybody but NOBODY is in system:masters."""
    lines = [f'{token_of(user)},{user},{user},"system:masters"' for user in ALMIGHTY]
    path.write_text("\n".join([*lines, f"{token_of(NOBODY)},{NOBODY},{NOBODY}"]) + "\n")
    return path


def write_audit_policy(path: Path) -> Path:
    """The audit policy; whole bodies for the kinds that the auditor replays, metadata for other writes."""
    path.write_text(json.dumps(AUDIT_POLICY))
    return path


def write_service_account_key(path: Path) -> Path:
    """The private key that signs service account tokens."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path.write_bytes(_private_pem(key))
    return path


def write_certificates(folder: Path) -> tuple[Path, Path, Path]:
    """A CA and a serving certificate for the loopback address: paths of CA, certificate and key."""
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "conformance-ca")])
    ca = _certificate(ca_name, ca_name, ca_key, ca_key, is_ca=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    leaf = _certificate(name, ca_name, key, ca_key, is_ca=False)
    paths = folder / "ca.crt", folder / "apiserver.crt", folder / "apiserver.key"
    paths[0].write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    paths[2].write_bytes(_private_pem(key))
    return paths


def write_client_certificate(folder: Path, name: str) -> tuple[Path, Path, Path]:
    """A CA of clients and a certificate of this common name: paths of CA, certificate and key."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "clients-ca")])
    ca = _certificate(ca_name, ca_name, ca_key, ca_key, is_ca=True)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    leaf = _certificate(subject, ca_name, key, ca_key, is_ca=False)
    paths = folder / "clients-ca.crt", folder / f"{name}.client.crt", folder / f"{name}.client.key"
    paths[0].write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    paths[2].write_bytes(_private_pem(key))
    return paths


def write_admission_configuration(folder: Path, certificate: Path, key: Path) -> Path:
    """The API server's admission configuration by which it shows this certificate to every webhook."""
    user = {"name": "*", "user": {"client-certificate": str(certificate), "client-key": str(key)}}
    kubeconfig = folder / "webhook-clients.kubeconfig"
    kubeconfig.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "users": [user]}))
    told = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": str(kubeconfig),
    }
    plugins = [
        {"name": name, "configuration": told} for name in ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
    ]
    path = folder / "admission.json"
    path.write_text(
        json.dumps({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins})
    )
    return path


def write_kubeconfig(path: Path, *, server: str, ca: Path, user: str, token: str = "") -> Path:
    """A kubeconfig for one user, by the user's own token unless another one is given."""
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "conformance",
                "contexts": [{"name": "conformance", "context": {"cluster": "conformance", "user": user}}],
                "clusters": [{"name": "conformance", "cluster": {"server": server, "certificate-authority": str(ca)}}],
                "users": [{"name": user, "user": {"token": token or token_of(user)}}],
            },
            indent=1,
        )
    )
    return path


def _private_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_ca: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
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
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )
