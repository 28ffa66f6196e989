"""The namespace that is meant when nobody names one: that of the kubeconfig's context, as kubectl does it."""

import os
from collections.abc import Mapping
from pathlib import Path


def default_kubeconfig(environ: Mapping[str, str]) -> Path:
    """The file that is meant when nothing names one."""
    return Path(environ.get("HOME") or str(Path.home())) / ".kube" / "config"


def kubeconfig_paths(kubeconfig: str | None, environ: Mapping[str, str] | None = None) -> str:
    """The kubeconfig in use: the named one, else $KUBECONFIG, else ~/.kube/config; empty when there is none."""
    env = os.environ if environ is None else environ
    paths = kubeconfig or env.get("KUBECONFIG") or ""
    if not paths and default_kubeconfig(env).is_file():
        paths = str(default_kubeconfig(env))
    return paths


def namespace_in_use(
    kubeconfig: str | None, context: str | None = None, environ: Mapping[str, str] | None = None
) -> str:
    """The namespace of a context, `default` when it names none or there is no kubeconfig.

    Raises:
        ConfigurationError: the kubeconfig is unusable, or has no such context.
    """
    paths = kubeconfig_paths(kubeconfig, environ)
    if not paths:
        return "default"
    from kube.client.kubeconfig import namespace_of_context  # noqa: PLC0415 (its libraries take a fifth of a second)

    return namespace_of_context(paths, context)
