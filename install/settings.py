"""What a person may set for `tutti run`."""

from typing import Any, Literal

from pydantic import Field

from kube.process.settings import StrictSettings


class RunSettings(StrictSettings):
    """Settings of `tutti run`; those of its three processes are in sections of their own and are checked by them."""

    kubeconfig: str | None = None
    """Kubeconfig file of a user who may install Tutti."""

    group_api: Literal["auto", "built-in", "own"] = "auto"
    """Which group API to use; `auto` follows the record in the cluster, else prefers the built-in one."""

    listen: str | None = None
    """HOST:PORT of the admission server; None: a free port of the address by which this machine reaches the API server."""

    webhook_url: str | None = None
    """https://HOST:PORT under which the API server reaches the admission server; None: the address it listens on."""

    log_format: Literal["text", "json"] = "text"
    """Shape of what this process and the three others say."""

    scheduler: dict[str, Any] = Field(default_factory=dict)
    """Settings of the scheduler."""

    controllers: dict[str, Any] = Field(default_factory=dict)
    """Settings of the controllers."""

    webhooks: dict[str, Any] = Field(default_factory=dict)
    """Settings of the webhooks."""
