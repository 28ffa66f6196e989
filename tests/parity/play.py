"""Sends the steps of a script to a server and notes its answers."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml

from tests.parity.normal import normal
from tests.parity.steps import Script, Step

Answer = dict[str, Any]

REPOSITORY = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 20.0
SETTLE_SECONDS = 15.0
PAUSE_SECONDS = 0.1
_KEPT = re.compile(r"\$\{(\w+)\}")


class Server:
    """One API server to ask."""

    def __init__(self, url: str, ca: Path, tokens: dict[str, str], kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self._url = url
        self._tokens = tokens
        self._pool = urllib3.PoolManager(ca_certs=str(ca), retries=False, maxsize=4)

    def close(self) -> None:
        """Closes the kept connections."""
        self._pool.clear()

    def ask(self, step: Step) -> tuple[int, urllib3.HTTPHeaderDict, bytes]:
        """Code, headers and body of the answer to a step whose placeholders are filled."""
        body = step.body if step.body is None or isinstance(step.body, bytes) else json.dumps(step.body).encode()
        headers = {"Accept": step.accept, "User-Agent": "parity"}
        if body is not None:
            headers["Content-Type"] = step.content_type
        if step.user:
            headers["Authorization"] = f"Bearer {self._tokens.get(step.user, step.user)}"
        query = "?" + urlencode(step.query) if step.query else ""
        url = self._url + step.path + query
        answer = self._pool.request(
            step.method, url, body=body, headers=headers, timeout=TIMEOUT_SECONDS, redirect=False
        )
        return answer.status, answer.headers, answer.data

    def play(self, script: Script) -> dict[str, Answer]:
        """The normalised answers to a script's steps, by name."""
        self._prepare(script)
        kept: dict[str, str] = {}
        answers: dict[str, Answer] = {}
        for step in script.steps:
            filled = _filled(step, script.namespace, kept)
            code, headers, body = self._settled(filled)
            value = _decoded(body, step)
            kept |= {name: str(at(value, path)) for name, path in step.keep.items()}
            if step.compare:
                answers[step.name] = _answer(code, headers, _picked(value, step))
            else:
                assert code < 300, f"{script.name}/{step.name}: {code} {body[:500]!r}"
        return answers

    def _prepare(self, script: Script) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": script.namespace}}
        for name, path, body in [("namespace", "/api/v1/namespaces", namespace), *_manifests(script)]:
            code, _, answer = self.ask(Step(name, "POST", path, body))
            assert code in {201, 409}, f"{script.name}: {name}: {code} {answer[:500]!r}"
        for name, path, _body in _manifests(script):
            if path.endswith("/customresourcedefinitions"):
                self._settled(Step(name, "GET", f"{path}/{name}", until=("status.conditions.1.status", "True")))

    def _settled(self, step: Step) -> tuple[int, urllib3.HTTPHeaderDict, bytes]:
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            code, headers, body = self.ask(step)
            if step.until is None:
                return code, headers, body
            path, wanted = step.until
            found = code if path == "code" else at(_decoded(body, step), path)
            if found == wanted:
                return code, headers, body
            assert time.monotonic() < deadline, f"{step.name}: {path} is {found!r} and not {wanted!r}: {body[:500]!r}"
            time.sleep(PAUSE_SECONDS)


def _manifests(script: Script) -> Iterator[tuple[str, str, Any]]:
    for file in script.config:
        for each in yaml.safe_load_all((REPOSITORY / "config" / file).read_text()):
            plural = each["kind"].lower().removesuffix("y") + ("ies" if each["kind"].endswith("y") else "s")
            yield each["metadata"]["name"], f"/apis/{each['apiVersion']}/{plural}", each


def at(value: Any, path: str) -> Any:
    """What lies at a path such as `items.0.metadata.uid`; None when nothing does."""
    for key in path.split("."):
        if isinstance(value, list):
            value = value[int(key)] if key.isdigit() and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def _filled(step: Step, namespace: str, kept: dict[str, str]) -> Step:
    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return _KEPT.sub(lambda match: kept[match[1]], value.replace("{ns}", namespace))
        if isinstance(value, dict):
            return {key: fill(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [fill(inner) for inner in value]
        return value

    fields = {name: getattr(step, name) for name in Step.__slots__}
    return Step(**{**fields, "path": fill(step.path), "query": fill(dict(step.query)), "body": fill(step.body)})


def _decoded(body: bytes, step: Step) -> Any:
    if step.watch:
        events = [json.loads(line) for line in body.splitlines() if line.strip()]
        return [each for each in events if each.get("type") != "BOOKMARK"]
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")


def _picked(value: Any, step: Step) -> Any:
    """The value with only those entries of a list that the step compares."""
    if step.only is None:
        return value
    path, key, names = step.only
    entries = at(value, path)
    entries[:] = [each for each in entries if at(each, key) in names]
    return value


def _answer(code: int, headers: urllib3.HTTPHeaderDict, value: Any) -> Answer:
    answer: Answer = {"code": code, "type": headers.get("Content-Type", ""), "body": normal(value)}
    if warnings := headers.getlist("Warning"):
        answer["warnings"] = list(warnings)
    return answer
