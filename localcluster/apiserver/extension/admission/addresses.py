"""Where a webhook is reached, as its configuration may say it, in the words of the real server. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from localcluster.apiserver import fielderrors
from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.names import subdomain_problems

Object = Mapping[str, Any]

_ONE_WAY: Final = "exactly one of url or service is required"
_FORM: Final = "desired format: https://host[/path]"
_HIGHEST_PORT: Final = 65535
_NO_PORT: Final = f"port is not valid: must be between 1 and {_HIGHEST_PORT}, inclusive"


def address_errors(client: Object, at: str) -> Iterator[FieldError]:
    """What is wrong with a `clientConfig`."""
    if bool(client.get("url")) == bool(client.get("service")):
        yield fielderrors.required(at, _ONE_WAY)
    elif client.get("url"):
        yield from _url(client["url"], f"{at}.url")
    else:
        yield from _service(client["service"], f"{at}.service")


def _url(url: str, at: str) -> Iterator[FieldError]:
    parts = urlsplit(url)
    if parts.scheme != "https":
        told = f"'https' is the only allowed URL scheme; {_FORM}"
        yield fielderrors.invalid_value(at, parts.scheme, told)
    if not parts.hostname:
        yield fielderrors.invalid_value(at, parts.netloc, f"host must be specified; {_FORM}")
    user, sign, _ = parts.netloc.rpartition("@")
    if sign:
        yield fielderrors.invalid_value(at, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield fielderrors.invalid_value(at, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield fielderrors.invalid_value(at, parts.query, "query parameters are not permitted in the URL")


def _service(service: Object, at: str) -> Iterator[FieldError]:
    # A real server takes the one for the other here, and says so.
    if not service.get("namespace"):
        yield fielderrors.required(f"{at}.name")
    if not service.get("name"):
        yield fielderrors.required(f"{at}.namespace")
    port = service.get("port")
    if port is not None and not 1 <= port <= _HIGHEST_PORT:
        yield fielderrors.invalid_value(f"{at}.port", port, _NO_PORT)
    yield from _path(service.get("path"), f"{at}.path")


def _path(path: str | None, at: str) -> Iterator[FieldError]:
    if path is None or path == "/":
        return
    if not path.startswith("/"):
        yield fielderrors.invalid_value(at, path, "must start with a '/'")
        return
    *steps, last = path[1:].split("/")
    for number, step in enumerate([*steps, last] if last else steps):
        if not step:
            yield fielderrors.invalid_value(at, path, f"segment[{number}] may not be empty")
        for problem in subdomain_problems(step) if step else ():
            yield fielderrors.invalid_value(at, path, f"segment[{number}]: {problem}")
