"""Who may see the page: a browser of this machine that was given the token, from the page's own origin. Pure.

Listening on loopback keeps other machines away, and no more. A web page somewhere else can make the user's browser ask us, so
the browser's own words about where a request comes from are checked (`Origin`, `Sec-Fetch-Site`); a name of somebody else's that
leads to 127.0.0.1 (DNS rebinding) is not ours (`Host`); and another user of this machine has no token.
"""

import hmac
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN_PARAMETER: Final = "token"  # noqa: S105 (the name of it)
COOKIE: Final = "tutti-page"

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""On every answer: nothing is loaded from elsewhere, nothing is kept, nobody may frame or read it."""


def refusal(method: str, headers: Mapping[str, str], *, cookie: str, given: str, token: str) -> tuple[int, str] | None:
    """Why a request is not answered: the HTTP status and a line for people; None when it is.

    Args:
        method: of the request.
        headers: of the request.
        cookie: the token as the browser has kept it, empty for none.
        given: the token in the address, empty for none.
        token: what it must be.
    """
    if method != "GET":
        return 405, "this page can only be read"
    host = headers.get("Host", "")
    if urlsplit(f"//{host}").hostname not in LOOPBACK:
        return 421, "this page is served to 127.0.0.1 and localhost only"
    origin = headers.get("Origin")
    if origin is not None and origin != f"http://{host}":
        return 403, "this page is not for other origins"
    if headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}:
        return 403, "this page is not for other sites"
    if not (_is_equal(cookie, token) or _is_equal(given, token)):
        return 401, "open the address that `tutti page` has printed, with its token"
    return None


def _is_equal(one: str, other: str) -> bool:
    return bool(one) and hmac.compare_digest(one.encode(), other.encode())
