"""The alerts of `config/components/prometheus`, as tests look at them."""

from typing import Any

import yaml

from install.manifests import CONFIG_FOLDER

FILE = CONFIG_FOLDER / "components" / "prometheus" / "rules.yaml"


def spec() -> dict[str, Any]:
    """What Prometheus reads."""
    body: dict[str, Any] = yaml.safe_load(FILE.read_text())["spec"]
    return body


def alerts() -> list[dict[str, Any]]:
    return [rule for group in spec()["groups"] for rule in group["rules"]]
