"""Tokens of service accounts: JSON web tokens signed with the server's own key."""

import base64
import binascii
import hashlib
from typing import NamedTuple

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

ISSUER = "https://kubernetes.default.svc"


class TokenRefused(Exception):
    """The token is none of ours."""


class Claims(NamedTuple):
    """What a token says. `expires_at` is in seconds since the epoch."""

    namespace: str
    name: str
    uid: str
    expires_at: float
    audiences: tuple[str, ...]
    token_id: str = ""


class Signer:
    """Signs and verifies with one RSA key."""

    def __init__(self, pem: bytes) -> None:
        key = serialization.load_pem_private_key(pem, password=None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise TypeError("the key of service accounts must be an RSA key")
        self._key = key
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self._key_id = _encode(hashlib.sha256(public).digest())

    def sign(self, claims: Claims, *, issued_at: float, token_id: str) -> str:
        """The token that says this."""
        header = {"alg": "RS256", "kid": self._key_id}
        body = {
            "aud": list(claims.audiences),
            "exp": int(claims.expires_at),
            "iat": int(issued_at),
            "iss": ISSUER,
            "jti": token_id,
            "kubernetes.io": {
                "namespace": claims.namespace,
                "serviceaccount": {"name": claims.name, "uid": claims.uid},
            },
            "nbf": int(issued_at),
            "sub": f"system:serviceaccount:{claims.namespace}:{claims.name}",
        }
        signed = f"{_encode(orjson.dumps(header))}.{_encode(orjson.dumps(body))}"
        return f"{signed}.{_encode(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"

    def verify(self, token: str) -> Claims:
        """What the token says.

        Raises:
            TokenRefused: it was not signed with this key, or is no token.
        """
        signed, _, signature = token.rpartition(".")
        try:
            self._key.public_key().verify(_decode(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
            body = orjson.loads(_decode(signed.partition(".")[2]))
            about = body["kubernetes.io"]
            account = about["serviceaccount"]
            audiences, token_id = tuple(body["aud"]), str(body.get("jti", ""))
            return Claims(about["namespace"], account["name"], account["uid"], float(body["exp"]), audiences, token_id)
        except (InvalidSignature, ValueError, KeyError, TypeError, binascii.Error) as error:
            raise TokenRefused from error


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
