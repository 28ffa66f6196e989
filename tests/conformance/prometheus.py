"""A real Prometheus that reads the metrics of running processes, with our alerts made impatient."""

import json
import re
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.monitoring.rules import spec
from tests.programs import tool
from verify.clusters.eventually import eventually
from verify.clusters.ports import free_ports
from verify.clusters.server import Server

READY_SECONDS = 60
MINUTES = re.compile(r"\[\d+m\]")
SILENCE = re.compile(r"(tutti_watch_silence_seconds > )(\d+)")
PATIENCE = "2s"
"""How long a condition must hold, instead of the minutes that people are given."""
WINDOW = "[15s]"
"""What counts as lately, instead of minutes."""


class Prometheus:
    """Which processes it reads may change while it runs."""

    def __init__(self, folder: Path, port: int) -> None:
        self._targets = folder / "targets.json"
        self._url = f"http://127.0.0.1:{port}"

    def read(self, targets: Mapping[str, int]) -> None:
        """Read these processes from now on: their ports on this machine, by name."""
        groups = [
            {"targets": [f"127.0.0.1:{port}"], "labels": {"container": name, "pod": name}}
            for name, port in targets.items()
        ]
        written = self._targets.with_suffix(".new")
        written.write_text(json.dumps(groups))
        written.replace(self._targets)

    def firing(self) -> set[str]:
        """The names of the alerts that fire at this moment."""
        return {alert["labels"]["alertname"] for alert in self._asked("alerts")["alerts"] if alert["state"] == "firing"}

    def up(self) -> set[str]:
        """The processes of which it has metrics."""
        return {
            target["labels"]["pod"] for target in self._asked("targets")["activeTargets"] if target["health"] == "up"
        }

    def broken_rules(self) -> set[str]:
        """Rules that could not be evaluated."""
        groups = self._asked("rules")["groups"]
        return {rule["name"] for group in groups for rule in group["rules"] if rule["health"] == "err"}

    def is_ready(self) -> bool:
        try:
            self._asked("targets")
        except OSError:
            return False
        return True

    def _asked(self, what: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._url}/api/v1/{what}", timeout=10) as answer:
            found: dict[str, Any] = json.loads(answer.read())["data"]
        return found


@contextmanager
def prometheus(folder: Path, *, silence_divisor: float = 1) -> Iterator[Prometheus]:
    """One that runs as long as the block. What counts as silence of a watch is divided, for processes that are as impatient."""
    (port,) = free_ports(1)
    rules = spec()
    for rule in rules["groups"][0]["rules"]:
        rule["for"] = PATIENCE
        rule["expr"] = MINUTES.sub(WINDOW, rule["expr"])
        rule["expr"] = SILENCE.sub(lambda found: f"{found[1]}{float(found[2]) / silence_divisor:g}", rule["expr"])
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules))
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [{"job_name": "tutti", "file_sd_configs": [{"files": ["targets.json"]}]}],
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    running = Prometheus(folder, port)
    running.read({})
    flags = {
        "config.file": folder / "prometheus.yaml",
        "storage.tsdb.path": folder / "data",
        "web.listen-address": f"127.0.0.1:{port}",
        "log.level": "warn",
    }
    program = str(tool("promtool", "prometheus"))
    command = [program, *(f"--{name}={value}" for name, value in flags.items())]
    server = Server("prometheus", command, log=folder / "prometheus.log")
    server.start()
    try:
        eventually(running.is_ready, within_seconds=READY_SECONDS)
        yield running
    finally:
        server.kill()
