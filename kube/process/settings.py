"""Settings that every process has, and how they are read: defaults, then a YAML file, then the command line.

A setting nobody knows is a typing error that would otherwise pass for a choice, so unknown keys are refused with their
path. All troubles end in a `ConfigurationError` of one line.
"""

import os
import socket
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.constants import SYSTEM_NAMESPACE
from api.errors import ConfigurationError
from kube.client.errors import one_line


class StrictSettings(BaseModel):
    """Base of all settings, nested ones too: immutable, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def default_identity() -> str:
    """Host name (in a cluster: the pod's name) and a random part, so that no two processes ever share one."""
    return f"{socket.gethostname()}_{os.getpid()}_{os.urandom(4).hex()}"


class ProcessSettings(StrictSettings):
    """What controllers, webhooks and scheduler have in common."""

    system_namespace: str = Field(SYSTEM_NAMESPACE, min_length=1, max_length=63)
    """Namespace of our Leases, Secrets and the record of the group API."""

    group_api: Literal["auto", "built-in", "own"] = "auto"
    """Which group API to use; `auto` follows the record in the cluster, else prefers the built-in one."""

    kubeconfig: str | None = None
    """Kubeconfig file; None means the pod's service account, then $KUBECONFIG, then ~/.kube/config."""

    metrics_address: str = ":8080"
    """HOST:PORT of /livez, /readyz and /metrics; "" or "0" for none."""

    metrics_authentication: bool = False
    """Whether /metrics asks for a token of somebody who may `get` that path; health is open to all."""

    log_format: Literal["text", "json"] = "text"
    """Shape of log records."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least important records to keep."""

    log_levels_file: Path | None = None
    """YAML file with levels of single loggers (`scheduler.preemption: debug`), followed while the process runs."""

    identity: str = Field(default_factory=default_identity, min_length=1, max_length=256)
    """Who this process is in Leases and events. Two processes must never share one."""


S = TypeVar("S", bound=BaseModel)


def load_settings(cls: type[S], file: str | None, **overrides: Any) -> S:
    """Settings of that class from a YAML file (None: no file) and overrides (None: not given).

    Raises:
        ConfigurationError: the file is missing or broken, a key is unknown, or a value is unusable.
    """
    values = _read(file) if file is not None else {}
    values.update((key, value) for key, value in overrides.items() if value is not None)
    try:
        return cls.model_validate(values)
    except ValidationError as error:
        where = f"{file}: " if file is not None else ""
        raise ConfigurationError(where + "; ".join(_complaint(detail) for detail in error.errors())) from error


def _read(file: str) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 (not needed where there is no file, and takes as long to load as all of this module)

    try:
        document = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"cannot read the settings file {file}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the settings file {file} is no YAML: {one_line(str(error))}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigurationError(f"the settings file {file} must be a mapping of settings")
    return {str(key): value for key, value in document.items()}


def _complaint(detail: Any) -> str:
    path = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        return f"unknown setting {path!r}"
    return f"setting {path!r}: {one_line(detail['msg'])}"
